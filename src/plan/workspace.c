/* SPDX-License-Identifier: BSD-3-Clause */
/* workspace.c - memory that lasts from call to call; see bound.h. */
#include <stdlib.h>

#include "core/own_lines.h"
#include "plan/workspace.h"

enum {
    LARGE = 4 << 20, /* bytes: more is not kept, there may be many communicators */
    ALIGNMENT = CCO_OWN_LINES,
};

char *cco_workspace_room(cco_workspace *workspace, cco_base base, size_t n)
{
    if (workspace->room[base] >= n && workspace->memory[base] != NULL)
        return workspace->memory[base];
    free(workspace->memory[base]);
    workspace->room[base] = (n / ALIGNMENT + 1) * ALIGNMENT;
    workspace->memory[base] = aligned_alloc(ALIGNMENT, workspace->room[base]);
    if (workspace->memory[base] == NULL)
        workspace->room[base] = 0;
    return workspace->memory[base];
}

size_t cco_workspace_bytes(const cco_workspace *workspace)
{
    size_t bytes = 0;
    for (int base = 0; base < CCO_BASES; base++)
        bytes += workspace->room[base];
    return bytes;
}

static void drop(cco_workspace *workspace, size_t beyond)
{
    for (int base = 0; base < CCO_BASES; base++)
        if (workspace->room[base] > beyond) {
            free(workspace->memory[base]);
            workspace->memory[base] = NULL;
            workspace->room[base] = 0;
        }
}

void cco_workspace_trim(cco_workspace *workspace)
{
    drop(workspace, LARGE);
}

void cco_workspace_free(cco_workspace *workspace)
{
    drop(workspace, 0);
    free(workspace->n);
    workspace->n = NULL;
    workspace->blocks = 0;
}
