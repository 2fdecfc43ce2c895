/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce "recursive_multiplying": exchange everything in groups of k ranks, in log_k p rounds.
 *
 *   messages (k-1) log_k p (+ k-1)   bytes sent per rank n(k-1) log_k p (+ n(k-1))
 *   scratch n(k-1)   operation: any
 *
 * With k = 2 it is recursive doubling; larger k have fewer rounds.  With p no power of k, ranks
 * stand in k^m runs, and the first of each works for the others.
 * M. Ruefenacht, M. Bull, S. Booth: Generalisation of recursive doubling for AllReduce: Now with
 * simulation, Parallel Comput. 69 (2017). */
#include "algo/algo.h"

/* The first rank of a run: runs are as even as can be, the first are longer. */
static int head_of(int place, int p, int places)
{
    const int more = p % places;
    return place * (p / places) + (place < more ? place : more);
}

static int allreduce_recursive_multiplying_place_of(int rank, int p, int places)
{
    const int each = p / places, longer = p % places * (each + 1);
    return rank < longer ? rank / (each + 1) : p % places + (rank - longer) / each;
}

/* Room for operand `i`; the `own`th needs none. */
static cco_span allreduce_recursive_multiplying_slot(cco_sched *s, cco_span tmp, size_t n, int i,
                                                     int own)
{
    return cco_part(s, tmp, (size_t)(i < own ? i : i - 1) * n, n);
}

/* mine = `count` operands combined in order: the `place`th is mine, the others are in `tmp`. */
static void allreduce_recursive_multiplying_fold(cco_sched *s, cco_span tmp, cco_span mine,
                                                 int count, int place)
{
    cco_span sum = mine;
    for (int i = count - 1; i >= 0; i--) { /* from the right: what comes is the left operand */
        const cco_span got = i == place
                                 ? mine
                                 : allreduce_recursive_multiplying_slot(s, tmp, mine.n, i, place);
        cco_round(s);
        if (i == count - 1)
            sum = got;
        else
            cco_reduce(s, got, sum);
    }
    cco_round(s);
    cco_copy(s, sum, mine);
}

static void allreduce_recursive_multiplying_build(cco_sched *s, const cco_problem *q)
{
    const int p = q->size, me = q->rank, k = q->params[0] < p ? (int)q->params[0] : p;
    int places = 1;
    while (k > 1 && places <= p / k)
        places *= k;
    const cco_span mine = cco_whole(&q->out);
    const cco_span tmp = cco_scratch(s, (size_t)(k - 1) * mine.n);
    const int place = allreduce_recursive_multiplying_place_of(me, p, places);
    const int head = head_of(place, p, places), others = head_of(place + 1, p, places) - head - 1;

    cco_copy(s, cco_whole(&q->in), mine);
    cco_round(s);
    if (me != head) {
        cco_send(s, head, mine);
        cco_round(s);
        cco_recv(s, head, mine);
        return;
    }
    for (int i = 1; i <= others; i++)
        cco_recv(s, me + i, allreduce_recursive_multiplying_slot(s, tmp, mine.n, i, 0));
    allreduce_recursive_multiplying_fold(s, tmp, mine, others + 1, 0);
    for (int far = 1; far < places; far *= k) {
        const int digit = place / far % k, first = place - digit * far;
        cco_round(s);
        for (int i = 1; i < k; i++) { /* the next one first: not all of a group to the same one */
            const int to = (digit + i) % k, from = (digit - i + k) % k;
            cco_send(s, head_of(first + to * far, p, places), mine);
            cco_recv(s, head_of(first + from * far, p, places),
                     allreduce_recursive_multiplying_slot(s, tmp, mine.n, from, digit));
        }
        allreduce_recursive_multiplying_fold(s, tmp, mine, k, digit);
    }
    cco_round(s);
    for (int i = 1; i <= others; i++)
        cco_send(s, me + i, mine);
}

const cco_algo cco_allreduce_recursive_multiplying = {
    .name = "recursive_multiplying",
    .doc = "exchange everything in groups of k ranks, in log_k p rounds",
    .build = allreduce_recursive_multiplying_build,
    .params = {{"k", 4, 2, 64, "radix"}},
};
