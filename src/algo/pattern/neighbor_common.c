/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbor_common.c - see neighbor_common.h. */
#include "algo/pattern/neighbor_common.h"

static cco_span pattern_neighbor_common_block_of(const cco_problem *q, bool given, int block)
{
    return given ? cco_neighbor_given(q, block) : cco_block(q, &q->out, block);
}

/* The bytes of the message that edges have in common; 0 if each has its own. */
static size_t pattern_neighbor_common(const cco_problem *q, const cco_neighbor_edges *edges,
                                      bool given, size_t most)
{
    size_t n = 0;
    int full = 0;
    for (int i = 0; i < edges->count; i++) {
        const size_t block = pattern_neighbor_common_block_of(q, given, edges->blocks[i]).n;
        n += block;
        full += block > 0;
    }
    return full > 1 && n <= most ? n : 0;
}

/* All that common messages take one after the other. */
static size_t all_common(const cco_problem *q, const cco_neighbor_edges *edges, bool given,
                         size_t most)
{
    size_t n = 0;
    for (; edges->count > 0; edges++)
        n += pattern_neighbor_common(q, edges, given, most);
    return n;
}

cco_neighbor_common cco_neighbor_common_make(cco_sched *s, const cco_problem *q,
                                             const cco_neighbor_edges *in,
                                             const cco_neighbor_edges *out, size_t most)
{
    cco_neighbor_common c = {.in = in, .out = out, .most = most};
    c.given = cco_scratch(s, all_common(q, out, true, most));
    c.got = cco_scratch(s, all_common(q, in, false, most));
    return c;
}

size_t cco_neighbor_copy(cco_sched *s, const cco_problem *q, const cco_neighbor_edges *edges,
                         bool given, cco_span span, size_t at)
{
    for (int i = 0; i < edges->count; i++) {
        const cco_span block = pattern_neighbor_common_block_of(q, given, edges->blocks[i]);
        const cco_span there = cco_part(s, span, at, block.n);
        cco_copy(s, given ? block : there, given ? there : block);
        at += block.n;
    }
    return at;
}

static void copy_common(cco_sched *s, const cco_problem *q, const cco_neighbor_common *c,
                        bool given)
{
    size_t at = 0;
    for (const cco_neighbor_edges *e = given ? c->out : c->in; e->count > 0; e++)
        if (pattern_neighbor_common(q, e, given, c->most) > 0)
            at = cco_neighbor_copy(s, q, e, given, given ? c->given : c->got, at);
}

bool cco_neighbor_common_pack(cco_sched *s, const cco_problem *q, const cco_neighbor_common *c)
{
    copy_common(s, q, c, true);
    return c->given.n > 0;
}

void cco_neighbor_common_unpack(cco_sched *s, const cco_problem *q, const cco_neighbor_common *c)
{
    copy_common(s, q, c, false);
}

static void pattern_neighbor_common_pass(cco_sched *s, int peer, cco_span span, bool given)
{
    if (given)
        cco_send(s, peer, span);
    else
        cco_recv(s, peer, span);
}

static void pattern_neighbor_common_exchange(cco_sched *s, const cco_problem *q,
                                             const cco_neighbor_common *c, bool given)
{
    size_t at = 0;
    for (const cco_neighbor_edges *e = given ? c->out : c->in; e->count > 0; e++) {
        const size_t n = pattern_neighbor_common(q, e, given, c->most);
        if (n > 0)
            pattern_neighbor_common_pass(s, e->peer, cco_part(s, given ? c->given : c->got, at, n),
                                         given);
        for (int i = 0; n == 0 && i < e->count; i++)
            pattern_neighbor_common_pass(
                s, e->peer, pattern_neighbor_common_block_of(q, given, e->blocks[i]), given);
        at += n;
    }
}

void cco_neighbor_common_exchange(cco_sched *s, const cco_problem *q, const cco_neighbor_common *c)
{
    pattern_neighbor_common_exchange(s, q, c, false);
    pattern_neighbor_common_exchange(s, q, c, true);
}
