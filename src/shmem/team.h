/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - teams of PEs, and the active sets of older programs, which are teams too. */
#ifndef CCO_TEAM_H
#define CCO_TEAM_H

#include <crestacoll_shmem.h>

#include "shmem/small.h"

struct cresta_team {
    MPI_Comm comm; /* of its PEs */
    int rank, size;
    int *pes;                 /* their numbers among all PEs */
    cco_small small;          /* for its small broadcasts */
    int start, stride;        /* of an active set; stride 0: no active set */
    struct cresta_team *next; /* all teams */
};

/* The team of all PEs, on a communicator of its own; collective over `comm`.  `shared`: they are on
 * one node.  NULL on all ranks if there is none. */
struct cresta_team *cco_team_open(MPI_Comm comm, bool shared);

/* Ends all teams. */
void cco_teams_close(void);

/* What a handle means; NULL for SHMEM_TEAM_INVALID, and before the first team. */
struct cresta_team *cco_team_of(shmem_team_t handle);

#endif
