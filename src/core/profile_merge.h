/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_merge.h - the profiles of all ranks become one. */
#ifndef CCO_PROFILE_MERGE_H
#define CCO_PROFILE_MERGE_H

#include "core/profile.h"

/* Collective over `world`, once: every rank's rows become one set on rank 0 (others get none). */
cco_rows cco_profile_merge(MPI_Comm world);

#endif
