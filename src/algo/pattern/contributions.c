/* SPDX-License-Identifier: BSD-3-Clause */
/* contributions.c - see contributions.h. */
#include "algo/pattern/contributions.h"

#include "algo/pattern/allgather.h"
#include "algo/pattern/groups.h"

bool cco_all_contribute(const cco_problem *q, size_t n)
{
    enum { FEW = 512, ALL = 16 << 10 }; /* bytes of a vector, of all vectors */
    return n <= FEW || n * (size_t)q->size <= ALL;
}

cco_span cco_contributions(cco_sched *s, const cco_problem *q, cco_span mine)
{
    const int p = q->size;
    const cco_span all = cco_scratch(s, (size_t)p * mine.n);
    cco_problem gather = {.coll = CCO_ALLGATHER,
                          .rank = q->rank,
                          .size = p,
                          .commutative = true,
                          .bytes = mine.n,
                          .unit = q->unit,
                          .in = cco_side_of(mine),
                          .out = cco_side_parts(s, all, p),
                          .layouts = q->layouts};
    cco_bruck_allgather(s, &gather, 2);
    cco_round(s);
    return all;
}

cco_span cco_share(cco_sched *s, const cco_problem *q, cco_span vector, int i)
{
    return cco_cut(s, q, vector, i, q->size);
}

cco_span cco_contributed_share(cco_sched *s, const cco_problem *q, cco_span mine)
{
    enum { WINDOW = 32 }; /* messages of a round each way */
    const int p = q->size, me = q->rank;
    const size_t n = cco_share(s, q, mine, me).n;
    const cco_span got = cco_scratch(s, (size_t)p * n);
    cco_copy(s, cco_share(s, q, mine, me), cco_part(s, got, (size_t)me * n, n));
    for (int k = 1; k < p; k++) {
        const int to = (me + k) % p, from = (me - k + p) % p;
        if (k % WINDOW == 0)
            cco_round(s);
        cco_recv(s, from, cco_part(s, got, (size_t)from * n, n));
        cco_send(s, to, cco_share(s, q, mine, to));
    }
    cco_round(s);
    return got;
}
