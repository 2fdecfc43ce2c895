/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - what crestacoll-check prints.  People read it, and so does
 * python/crestacoll_tools/bench/checkjob.py; crestacoll-check-fortran prints the same lines:
 *
 *     trying: alltoallv=p2p:pairwise                       with --progress
 *     fine: alltoallv=p2p:pairwise: 312 calls, 12 refused
 *     not here: alltoallv=p2p:pairwise: REASON (p2p runs instead)
 *     Error in CRESTA_Alltoallv: p2p:pairwise, rank 1, receive buffer, byte 16: expected 2a 00,
 *         found 2b 00 (blocking, alltoallv on world of 2, 10 ints)                  (one line)
 *     wrong: alltoallv=p2p:pairwise: 30 comparisons of 900
 *     left out: REASON                                     a known fault of the MPI
 *     end: 80 fine, 3 not here, 2 wrong
 */
#ifndef CHECK_TELL_H
#define CHECK_TELL_H

#include "cells.h"

/* What a cell came to on this rank: comparisons, and those that were wrong. */
struct found {
    long compared, wrong;
};

/* Each rank tells its errors, rank 0 all else.  A cell that takes longer than `timeout` seconds,
 * or breaks off by a signal, is reported and ends the process. */
void tell_begin(int rank, unsigned timeout, bool progress);
void tell_trying(const struct cell *cell);
struct found tell_found(void); /* since tell_trying */
void tell_fine(const struct cell *cell, long tried, long refused);
void tell_not_here(const struct cell *cell, const char *why, const char *instead);
void tell_wrong(const struct cell *cell, struct found sum);
void tell_end(void);

#endif
