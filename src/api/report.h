/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - what runs and why, said once. */
#ifndef CCO_REPORT_H
#define CCO_REPORT_H

#include "comm/comm.h"
#include "progress/path.h"

/* Says before a call what CRESTA_LOG and CRESTA_FALLBACK want said about its choice, if anything.
 * False, on all ranks, if CRESTA_FALLBACK=error forbids to run it. */
bool cco_report_call(cco_comm *state, const cco_call *call);

/* Says once for each collective, on rank 0, `why` CRESTA_FALLBACK=error forbids a begin. */
void cco_report_forbidden_begin(const cco_comm *state, const cco_choice *choice, cco_coll coll,
                                const char *why);

/* With CRESTA_LOG=info, once for each collective: how its begins on a set-up communicator run. */
void cco_report_begin(cco_comm *state, const cco_choice *choice, const cco_begin_path *begin,
                      cco_coll coll);

/* With CRESTA_LOG=info, where ranks outnumber cores or are to behave as if, by one rank: how
 * blocking calls of the program wait. */
void cco_report_waits(void);

#endif
