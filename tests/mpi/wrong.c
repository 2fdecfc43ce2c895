/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong.c - algorithms that are wrong, instead of those of the library that have their names:
 * linked in front of it, they show that `crestacoll check` finds what it is there for.
 *
 *     alltoall[v|w]=p2p:pairwise   every rank keeps its own block only
 *     bcast=p2p:chain              never ends
 *     scan=p2p:linear              breaks off
 *     gather[v]=p2p:linear         returns an error */
#include <stdlib.h>

#include "algo/algo.h"

static void keep_own(cco_sched *s, const cco_problem *q)
{
    cco_copy(s, cco_block(q, &q->in, q->rank), cco_block(q, &q->out, q->rank));
}

/* Everybody receives, nobody sends. */
static void wait_for_ever(cco_sched *s, const cco_problem *q)
{
    if (q->size > 1)
        cco_recv(s, (q->rank + 1) % q->size, cco_scratch(s, 1));
}

static void break_off(cco_sched *s, const cco_problem *q)
{
    (void)s;
    if (q->size > 1 && q->rank == 1)
        abort();
}

/* No rank has this number: the builder refuses. */
static void send_to_nobody(cco_sched *s, const cco_problem *q)
{
    cco_send(s, q->size, cco_whole(&q->in));
}

const cco_algo cco_alltoall_pairwise = {.name = "pairwise", .doc = "wrong", .build = keep_own};
const cco_algo cco_bcast_chain = {.name = "chain", .doc = "hangs", .build = wait_for_ever};
const cco_algo cco_scan_linear = {.name = "linear", .doc = "breaks off", .build = break_off};
const cco_algo cco_gather_linear = {.name = "linear", .doc = "fails", .build = send_to_nobody};
