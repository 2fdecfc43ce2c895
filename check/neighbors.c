/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbors.c - neighbourhood collectives on grids and graphs at random, against what the standard
 * says of each edge (graphs.h).
 *
 * Int k of block t of rank s is value(s, t, k).  Ranks describe their blocks by types of their own,
 * which differ from edge to edge in neighbor_alltoallw. */
#include "report.h"
#include "topology.h"
#include "trial.h"

#include <stdio.h>
#include <string.h>

enum { GRAPHS = 8 }; /* for each number of ranks */

enum mix { ALL_INTS, TO_GAPS, BY_RANK, MIXES };
static const char *const mix_names[MIXES] = {"ints", "ints to gaps", "by rank"};

struct problem {
    const struct group *group;
    const struct graph *graph;
    MPI_Comm comm; /* with that topology */
    enum coll coll;
    enum mix mix;
    int n;
};

/* Ints of block `slot` of rank `s`; the same for all neighbours in an allgather. */
static int block(const struct problem *p, int s, int slot)
{
    const struct coll_shape *shape = &coll_shapes[p->coll];
    if (!shape->uneven)
        return p->n;
    return p->n * ((s + (shape->sends_all ? 2 * slot : 0) + 1) % 3);
}

static int value(const struct problem *p, int s, int slot, int k)
{
    if (!coll_shapes[p->coll].sends_all)
        slot = 0;
    return (int)((unsigned)(s + 1) * 1000003U + (unsigned)(slot + 1) * 7919U + (unsigned)k * 31U +
                 (unsigned)p->n);
}

static void put(const struct problem *p, const struct side *side, unsigned char *state, int b,
                int s, int slot)
{
    enum { MOST = 2 * 2000 };
    int values[MOST + 1];
    const int n = block(p, s, slot);
    for (int k = 0; k < n; k++)
        values[k] = value(p, s, slot, k);
    side_put(side, state, b, values);
}

static struct layout layout_of(const struct problem *p, int b, bool sending)
{
    const int rank = p->group->rank;
    if (p->mix == TO_GAPS)
        return layouts[sending ? INTS : GAPS];
    if (p->mix == BY_RANK)
        return layouts[(rank + sending + (p->coll == COLL_Neighbor_alltoallw ? b : 0)) % COLUMN];
    return layouts[INTS];
}

static enum placing placing(const struct problem *p)
{
    if (!coll_shapes[p->coll].uneven)
        return REGULAR;
    return p->coll == COLL_Neighbor_alltoallw ? BYTES : ELEMENTS;
}

static void widen(MPI_Aint *bytes, const struct side *side)
{
    for (int i = 0; i < side->blocks; i++)
        bytes[i] = side->displs[i];
}

/* A rank without neighbours has no blocks, and the count of one all the same. */
static void lay(const struct problem *p, struct side *side, int blocks, const int *ints,
                bool sending, bool one)
{
    for (int b = 0; b < blocks; b++)
        side->layout[b] = layout_of(p, b, sending);
    side_make(side, blocks, ints, one ? REGULAR : placing(p));
    if (blocks == 0) {
        side->counts[0] = p->n;
        side->types[0] = MPI_INT;
    }
}

static void make_send(const struct problem *p, struct side *side, struct call *call,
                      MPI_Aint *bytes)
{
    const int me = p->group->rank;
    const bool one = !coll_shapes[p->coll].sends_all;
    const int blocks = one ? 1 : p->graph->out[me].count;
    int ints[MAX_RANKS];
    for (int b = 0; b < blocks; b++)
        ints[b] = block(p, me, b);
    lay(p, side, blocks, ints, true, one);
    for (int b = 0; b < blocks; b++)
        put(p, side, side->buffer.before, b, me, b);
    memcpy(side->buffer.after, side->buffer.before, side->buffer.size);
    widen(bytes, side);
    call->sendbuf = side->buffer.start;
    call->sendcount = side->counts[0];
    call->sendtype = side->types[0];
    call->sendcounts = side->counts;
    call->senddispls = side->displs;
    call->sendbytes = bytes;
    call->sendtypes = side->types;
}

/* Blocks of MPI_PROC_NULL have a count, and stay as they are. */
static void make_recv(const struct problem *p, struct side *side, struct call *call,
                      MPI_Aint *bytes)
{
    const struct graph_ends *in = &p->graph->in[p->group->rank];
    int ints[MAX_RANKS];
    for (int b = 0; b < in->count; b++)
        ints[b] = in->peer[b] == GRAPH_NOBODY ? p->n : block(p, in->peer[b], in->slot[b]);
    lay(p, side, in->count, ints, false, false);
    for (int b = 0; b < in->count; b++)
        if (in->peer[b] != GRAPH_NOBODY)
            put(p, side, side->buffer.after, b, in->peer[b], in->slot[b]);
    widen(bytes, side);
    call->recvbuf = side->buffer.start;
    call->recvcount = side->counts[0];
    call->recvtype = side->types[0];
    call->recvcounts = side->counts;
    call->recvdispls = side->displs;
    call->recvbytes = bytes;
    call->recvtypes = side->types;
}

static void run(const struct problem *p, const struct plan *plan, int graph, long number)
{
    static const char *const kinds[GRAPH_KINDS] = {"a grid", "a graph", "a directed graph"};
    struct side send = {0}, recv = {0};
    MPI_Aint bytes[2][MAX_RANKS];
    struct trial t = {.call = {.coll = p->coll,
                               .comm = p->comm,
                               .graph = p->graph,
                               .rank = p->group->rank,
                               .op = MPI_OP_NULL},
                      .number = number};
    report_problem("%s on %s of %d, %s (%d), %d ints, %s", coll_names[p->coll], p->group->name,
                   p->group->size, kinds[p->graph->kind], graph, p->n, mix_names[p->mix]);
    make_send(p, &send, &t.call, bytes[0]);
    make_recv(p, &recv, &t.call, bytes[1]);
    t.send = &send.buffer;
    t.recv = &recv.buffer;
    trial_run(&t, plan);
    buffer_free(&send.buffer);
    buffer_free(&recv.buffer);
}

static void reduce(const struct group *group, const struct graph *g, MPI_Comm comm, enum coll coll,
                   int which, const struct plan *plan, int n, long number)
{
    char name[128];
    snprintf(name, sizeof name, "%s on %s of %d, graph %d", coll_names[coll], group->name,
             group->size, which);
    near_reduction_run(&(struct near_reduction){name, g, comm, group->rank, n, coll, number}, plan);
}

/* All are neighbours, in another order in than out: no edge occurs twice, so that no MPI is known
 * to be wrong there. */
static void graph_of_all(struct graph *g, int size)
{
    graph_begin(g, GRAPH_DIRECTED, size);
    for (int rank = 0; rank < size; rank++)
        for (int i = 0; i < size; i++) {
            graph_add(&g->out[rank], i);
            graph_add(&g->in[rank], size - 1 - i);
        }
    graph_match(g);
}

/* All problems on a graph that are due.  They are counted for each collective: the first is on the
 * first graph, and always due. */
static void run_graph(const struct group *group, const struct plan *plan, int which)
{
    static const struct {
        int n;
        enum mix mix;
    } ways[] = {{10, BY_RANK}, {0, ALL_INTS}, {2, ALL_INTS}, {10, TO_GAPS}, {2000, ALL_INTS}};
    enum { WAYS = sizeof ways / sizeof ways[0] };
    struct graph g;
    MPI_Comm comm = MPI_COMM_NULL;
    if (which == 0)
        graph_of_all(&g, group->size);
    else
        graph_by_chance(&g, group->size, (uint64_t)(GRAPHS * group->size + which), false);
    for (enum coll coll = 0; coll < COLLS; coll++)
        for (int i = 0; i < WAYS && coll_shapes[coll].near; i++) {
            const long number = (long)which * WAYS + i;
            const bool due = (plan->colls & 1U << coll) && trial_due(number, plan);
            if (due && comm == MPI_COMM_NULL) {
                comm = topology_make(group->comm, &g);
                MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
                plan->choose(plan->choice, comm);
            }
            if (due && coll_shapes[coll].ours)
                reduce(group, &g, comm, coll, which, plan, ways[i].n, number);
            else if (due)
                run(&(struct problem){group, &g, comm, coll, ways[i].mix, ways[i].n}, plan, which,
                    number);
        }
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    graph_free(&g);
}

void neighbors_run(const struct group *group, const struct plan *plan)
{
    for (int i = 0; i < GRAPHS; i++)
        run_graph(group, plan, i);
}
