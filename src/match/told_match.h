/* SPDX-License-Identifier: BSD-3-Clause */
/* told_match.h - what CRESTA_DEBUG=match says. */
#ifndef CCO_TOLD_MATCH_H
#define CCO_TOLD_MATCH_H

#include "match/comparison.h"

/* End the job, on rank 0 of the communicator: everybody's call is known, and they differ; */
void cco_match_tell_all(const cco_match *m);

/* or one rank made another call than this one, its `number`th from 0 on. */
void cco_match_tell_begun(const cco_match *m, int rank, uint64_t number, const cco_signature *own,
                          const cco_signature *other);

/* This rank has waited for long before a call; at most some lines of a process. */
void cco_match_tell_late(const cco_match *m, const char *call);

#endif
