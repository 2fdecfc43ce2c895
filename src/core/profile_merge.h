/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_merge.h - the profiles of all ranks become one. */
#ifndef CCO_PROFILE_MERGE_H
#define CCO_PROFILE_MERGE_H

#include "core/profile.h"
#include "core/timeline_merge.h"

/* Collective over `world`, once: every rank's rows become one set on rank 0, so do the members of
 * communicators, and its timeline one of all (others get none).  `wall_s`: the time that was
 * recorded. */
cco_rows cco_profile_merge(MPI_Comm world, double wall_s, cco_timelines *timelines,
                           cco_member_sets *members);

/* The first part of it, for a copy of rows: sorts and merges them over `comm`. */
void cco_rows_merge(MPI_Comm comm, cco_rows *rows);

/* Collective: a communicator like `world` for messages of the profile; MPI_COMM_NULL, on all ranks,
 * if there are none left. */
MPI_Comm cco_profile_comm(MPI_Comm world);

#endif
