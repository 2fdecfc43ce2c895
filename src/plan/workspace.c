/* SPDX-License-Identifier: BSD-3-Clause */
/* workspace.c - memory that lasts from call to call; see bound.h. */
#include <stdlib.h>

#include "base/own_lines.h"
#include "plan/workspace.h"

enum { ALIGNMENT = CCO_OWN_LINES };

char *cco_workspace_new_room(cco_workspace *workspace, cco_base base, size_t n)
{
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

void cco_workspace_drop(cco_workspace *workspace, size_t beyond)
{
    for (int base = 0; base < CCO_BASES; base++)
        if (workspace->room[base] > beyond) {
            free(workspace->memory[base]);
            workspace->memory[base] = NULL;
            workspace->room[base] = 0;
        }
}

void cco_workspace_free(cco_workspace *workspace)
{
    cco_workspace_drop(workspace, 0);
    free(workspace->n);
    workspace->n = NULL;
    workspace->blocks = 0;
}
