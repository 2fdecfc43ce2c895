/* SPDX-License-Identifier: BSD-3-Clause */
/* node_rooted.c - see node_rooted.h. */
#include "algo/pattern/node_rooted.h"

#include "algo/pattern/blocks.h"

void cco_node_rooted_open(cco_sched *s, const cco_problem *q, cco_node_rooted *r)
{
    const bool root = q->rank == q->root;
    *r = (cco_node_rooted){.q = q,
                           .gathers = q->coll == CCO_GATHER || q->coll == CCO_GATHERV,
                           .here = {.q = q, .n = q->counts, .each = q->bytes, .own = !root}};
    r->leaders = cco_leader_group(q, q->root);
    /* Equal blocks of nodes that follow one another are in one piece already. */
    r->copies = root && !(q->nodes->contiguous && q->counts == NULL);
    if (!root)
        r->here.all = cco_scratch(
            s, r->leaders.place >= 0 ? cco_node_bytes(&r->here, q->nodes->node[q->rank]) : 0);
    else if (r->copies)
        r->here.all = cco_scratch(s, cco_all_bytes(&r->here));
    else
        r->here.all = cco_run(q, r->gathers ? &q->out : &q->in, 0, q->size);
}

static cco_problem pattern_node_rooted_part(const cco_node_rooted *r, const cco_group *group,
                                            int root, size_t bytes, cco_side own)
{
    cco_problem part = cco_group_problem(r->q, group, r->gathers ? CCO_GATHERV : CCO_SCATTERV,
                                         bytes);
    *(r->gathers ? &part.in : &part.out) = own;
    part.root = root;
    return part;
}

void cco_node_rooted_within(cco_sched *s, const cco_node_rooted *r, cco_side own)
{
    const cco_problem *q = r->q;
    const cco_group node = cco_node_group(q);
    cco_problem part = pattern_node_rooted_part(r, &node, cco_leader_place(q, &r->leaders),
                                                cco_node_bytes(&r->here, q->nodes->node[q->rank]),
                                                own);
    part.counts = cco_counts_of_node(s, &r->here);
    if (node.place == part.root)
        *(r->gathers ? &part.out : &part.in) = cco_side_of_node(s, &r->here);
    cco_group_run(s, &part, &node);
}

void cco_node_rooted_between(cco_sched *s, const cco_node_rooted *r)
{
    const cco_problem *q = r->q;
    const int mine = q->nodes->node[q->rank];
    cco_problem part = pattern_node_rooted_part(r, &r->leaders, q->nodes->node[q->root],
                                                cco_all_bytes(&r->here),
                                                cco_side_of(cco_of_node(s, &r->here, mine)));
    part.counts = cco_counts_of_nodes(s, &r->here);
    if (q->rank == q->root)
        *(r->gathers ? &part.out : &part.in) = cco_side_of_nodes(s, &r->here);
    cco_group_run(s, &part, &r->leaders);
}
