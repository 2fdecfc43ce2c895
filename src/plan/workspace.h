/* SPDX-License-Identifier: BSD-3-Clause */
/* workspace.h - memory that lasts from call to call on a communicator: arrays of sizes, packed
 * data, scratch. */
#ifndef CCO_WORKSPACE_H
#define CCO_WORKSPACE_H

#include <string.h>

#include "mpi/mpi_compat.h"
#include "sched/engine.h"

/* A datatype in numbers. */
typedef struct cco_element {
    MPI_Datatype type;
    size_t size;
    MPI_Aint extent, low,
        reach; /* `reach` bytes from its first to its last, `low` from its start */
    bool dense;
} cco_element;

/* What lasts from call to call on a communicator.  Zero to begin with. */
typedef struct cco_workspace {
    size_t *n;               /* for arrays of block sizes and places, */
    int blocks;              /* 4 of so many */
    cco_element last;        /* the predefined type that was looked at last */
    char *memory[CCO_BASES]; /* packed ends, and scratch */
    size_t room[CCO_BASES];
} cco_workspace;

char *cco_workspace_new_room(cco_workspace *workspace, cco_base base, size_t n);

/* At least `n` bytes for a base, aligned for any element; NULL when memory runs out. */
static inline char *cco_workspace_room(cco_workspace *workspace, cco_base base, size_t n)
{
    char *memory = workspace->memory[base];
    return workspace->room[base] >= n && memory != NULL
               ? memory
               : cco_workspace_new_room(workspace, base, n);
}

/* What of that it has, bytes. */
size_t cco_workspace_bytes(const cco_workspace *workspace);

enum { CCO_WORKSPACE_LARGE = 4 << 20 }; /* bytes */

/* Gives memories of more bytes back: there may be many communicators. */
void cco_workspace_drop(cco_workspace *workspace, size_t beyond);

/* Likewise large ones. */
static inline void cco_workspace_trim(cco_workspace *workspace)
{
    _Static_assert(CCO_BASES == 3, "bases");
    const size_t *room = workspace->room;
    if ((room[0] | room[1] | room[2]) > CCO_WORKSPACE_LARGE)
        cco_workspace_drop(workspace, CCO_WORKSPACE_LARGE);
}

/* After an error, the MPI may still read and write them for messages that were given up: they are
 * not freed, and not used again. */
static inline void cco_workspace_leave(cco_workspace *workspace)
{
    memset(workspace->memory, 0, sizeof workspace->memory);
    memset(workspace->room, 0, sizeof workspace->room);
}

void cco_workspace_free(cco_workspace *workspace);

#endif
