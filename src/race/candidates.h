/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates.h - communicators whose calls may show the steps of the program: those with all
 * processes of the job, for steps span communicators and must be the same for all ranks. */
#ifndef CCO_RACE_CANDIDATES_H
#define CCO_RACE_CANDIDATES_H

#include "comm/comm.h"
#include "race/sequence.h"

typedef struct cco_candidate cco_candidate;

/* A blocking call on any communicator, as a word.  The candidate that it is made on, NULL if on
 * none. */
cco_candidate *cco_candidates_add(cco_comm *state, uint64_t word);

/* The number of calls in a step if this candidate is the anchor from now on, otherwise 0: the one
 * with the longest steps, unless they are very long, of those that repeat, after `watch_s` seconds
 * at least.  Collective in some of the calls on a candidate, the same for all ranks. */
int cco_candidate_period(cco_candidate *candidate, double watch_s);

/* The calls of its last period, without what came between. */
void cco_candidate_pattern(const cco_candidate *candidate, uint64_t *pattern);

/* While there is an anchor: true if a communicator is a candidate; a call on one, true if it is
 * time for the ranks to ask each other whether the anchor is still there. */
bool cco_candidate_is(cco_comm *state);
bool cco_candidate_is_due(cco_comm *state);

/* The program calls from several threads: no rank sees a period any more. */
void cco_candidates_spoil(void);

/* Why none has shown a repeating step so far. */
const char *cco_candidates_why(void);

/* Some calls did repeat, at some time. */
bool cco_candidates_repeated(void);

/* From here on as if nothing had been called; in the same call of all ranks. */
void cco_candidates_restart(void);

/* No calls are added any more. */
void cco_candidates_forget(void);

#endif
