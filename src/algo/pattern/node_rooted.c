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

static bool pattern_node_rooted_run(cco_sched *s, const cco_node_rooted *r, cco_problem *part,
                                    const cco_group *group, cco_side own, const cco_side *list)
{
    *(r->gathers ? &part->in : &part->out) = own;
    if (list != NULL)
        *(r->gathers ? &part->out : &part->in) = *list;
    if (part->counts != NULL)
        cco_group_run(s, part, group);
    return part->counts != NULL;
}

bool cco_node_rooted_within(cco_sched *s, const cco_node_rooted *r, cco_side own)
{
    const cco_problem *q = r->q;
    const cco_group node = cco_node_group(q);
    const int place = cco_leader_place(q, &r->leaders);
    const bool leads = node.place == place;
    cco_problem part = cco_group_problem(q, &node, r->gathers ? CCO_GATHERV : CCO_SCATTERV, place,
                                         cco_node_bytes(&r->here, q->nodes->node[q->rank]));
    cco_side list;
    part.counts = cco_counts_of_node(s, &r->here);
    if (leads && !cco_side_of_node(s, &r->here, &list))
        return false;
    return pattern_node_rooted_run(s, r, &part, &node, own, leads ? &list : NULL);
}

bool cco_node_rooted_between(cco_sched *s, const cco_node_rooted *r)
{
    const cco_problem *q = r->q;
    const bool root = q->rank == q->root;
    cco_problem part = cco_group_problem(q, &r->leaders, r->gathers ? CCO_GATHERV : CCO_SCATTERV,
                                         q->nodes->node[q->root], cco_all_bytes(&r->here));
    const cco_side own = cco_side_of(cco_of_node(s, &r->here, q->nodes->node[q->rank]));
    cco_side list;
    part.counts = cco_counts_of_nodes(s, &r->here);
    if (root && !cco_side_of_nodes(s, &r->here, &list))
        return false;
    return pattern_node_rooted_run(s, r, &part, &r->leaders, own, root ? &list : NULL);
}
