/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_merge.h - the profiles of all ranks become one. */
#ifndef CCO_PROFILE_MERGE_H
#define CCO_PROFILE_MERGE_H

#include <stdio.h>

#include "profile/profile.h"
#include "profile/timeline_merge.h"
#include "mpi/service.h"

/* Collective over `world`, once: every rank's rows become one set on rank 0, so do the members of
 * communicators, and its timeline one of all (others get none).  `wall_s`: the time that was
 * recorded; `more`: what comes to rank 0 as well. */
cco_rows cco_profile_merge(MPI_Comm world, double wall_s, cco_timelines *timelines,
                           cco_member_sets *members, const cco_merger *more);

/* The first part of it, for a copy of rows: sorts and merges them over `comm`. */
void cco_rows_merge(MPI_Comm comm, cco_rows *rows);

/* Collective: a communicator like `world` for messages of the profile; MPI_COMM_NULL, on all ranks,
 * if there are none left. */
MPI_Comm cco_profile_comm(MPI_Comm world);

/* A part of the profile that another library of the process adds: one that is preloaded beside this
 * one defines it as `cresta_profile_part`.  Nothing here knows what it counts. */
typedef struct cresta_profile_part_table {
    const char *member; /* its name in the JSON file */
    /* In MPI_Init: the node of each rank of MPI_COMM_WORLD, as a number. */
    void (*begin)(const uint64_t *nodes, int ranks);
    /* In MPI_Finalize, when all ranks have come there.  Then the data of ranks become one on the
     * way to rank 0, as in cco_merger (mpi/service.h). */
    void (*end)(void);
    const void *(*give)(void *unused, size_t *bytes);
    bool (*take)(void *unused, void *theirs, size_t bytes);
    /* On rank 0: writes the value of the member. */
    void (*put)(FILE *file, void (*put_string)(FILE *file, const char *text));
} cresta_profile_part_table;

/* In MPI_Init with a profile, collective over MPI_COMM_WORLD. */
void cco_profile_part_begin(void);

/* The member, after others; nothing where there is no part, or it has not been merged. */
void cco_profile_part_put(FILE *file);

#endif
