/* SPDX-License-Identifier: BSD-3-Clause */
/* scheduled.c - see scheduled.h. */
#include "plan/scheduled.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/pattern/node_counts.h"
#include "algo/registry.h"
#include "comm/failure.h"
#include "comm/fallback.h"
#include "base/log.h"
#include "plan/bound.h"
#include "plan/preset.h"
#include "sched/engine_run.h"
#include "sched/neighbor_counts.h"
#include "sched/neighbor_mates.h"

/* Some algorithms want a power of two of processes, or an even number.  Roots and operations are
 * not known yet. */
const char *cco_scheduled_refuses(const cco_way *way, cco_coll coll, int size)
{
    const cco_problem any = {.coll = coll, .size = size, .commutative = true, .unit = 1};
    if (cco_algo_of(coll, 0) == NULL)
        return "there is no algorithm for it";
    return way->algo != NULL ? cco_algo_refuses(way->algo, &any) : NULL;
}

static void use_presets(long params[CCO_PARAMS], const cco_algo *algo)
{
    memset(params, 0, CCO_PARAMS * sizeof *params);
    for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++)
        params[i] = algo->params[i].preset;
}

/* The algorithm that was asked for cannot do this problem: the same on all ranks. */
static int fall_back(const cco_comm *state, const cco_way *way, const char *why,
                     const cco_algo *instead, cco_coll coll)
{
    static uint32_t reported[CCO_COLLECTIVES]; /* bit per algorithm: another has another reason */
    char asked[64];
    snprintf(asked, sizeof asked, "%s:%s", way->model->name, way->algo->name);
    const cco_fallback fallback = {cco_coll_infos[coll].name, asked, why, instead->name,
                                   state->rank == 0,          false};
    int i = 0;
    while (cco_node_algo_of(coll, i) != way->algo)
        i++;
    return cco_fall_back(state, &fallback, &reported[coll], i);
}

/* The algorithm for a problem, which gets its parameters; `*why` if it is not the one asked for. */
static const cco_algo *algo_of(const cco_way *way, cco_problem *q, const char **why)
{
    *why = way->algo != NULL ? cco_algo_refuses(way->algo, q) : NULL;
    if (way->algo != NULL && *why == NULL) {
        memcpy(q->params, way->params, sizeof q->params);
        return way->algo;
    }
    const cco_algo *algo = cco_preset_algo(q, way->model->by_nodes);
    use_presets(q->params, algo);
    return algo;
}

int cco_scheduled_settle(const cco_comm *state, const cco_way *way, cco_problem *q,
                         const cco_algo **algo)
{
    const char *why;
    *algo = algo_of(way, q, &why);
    return why != NULL ? fall_back(state, way, why, *algo, q->coll) : MPI_SUCCESS;
}

bool cco_scheduled_bind(cco_scheduled *own, const cco_plan *plan, cco_binding *binding,
                        ptrdiff_t low)
{
    /* Data begin `low` bytes from the address that an operation gets, which has to be aligned; that
     * may be so far away that the address wraps around. */
    const size_t shift = (size_t)low % _Alignof(max_align_t);
    char *scratch = cco_workspace_room(&own->workspace, CCO_TMP, plan->scratch + shift);
    if (scratch != NULL)
        binding->base[CCO_TMP] = (char *)((uintptr_t)scratch + shift - (uintptr_t)low);
    return scratch != NULL;
}

int cco_scheduled_give_up(const cco_scheduled *own, int error)
{
    static bool reported;
    const cco_transport *transport = own->plans.transport;
    if (error == MPI_SUCCESS || error == MPI_ERR_UNSUPPORTED_OPERATION)
        return error;
    if (transport->give_up != NULL)
        transport->give_up(own->plans.shared);
    if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
        cco_log(CCO_LOG_WARN,
                "a call failed on this rank before its data moved%s: messages of"
                " other ranks for it are not received, and later calls on its communicator"
                " may fail",
                error == MPI_ERR_NO_MEM ? " (no memory)" : "");
    return error;
}

/* Sizes that come before are messages of the same call. */
static void count_sends(const cco_scheduled *own, const cco_plan *plan, bool sizes)
{
    if (own->between == NULL || !cco_profile_active)
        return;
    cco_internode_traffic_add(own->between, &plan->sends);
    own->between->calls -= sizes;
}

/* Starts a plan and waits for its end. */
static int run_plan(cco_scheduled *own, const cco_plan *plan, cco_binding *binding, ptrdiff_t low)
{
    count_sends(own, plan, false);
    return cco_scheduled_bind(own, plan, binding, low) ? cco_engine_run(plan->engine, binding)
                                                       : cco_scheduled_give_up(own, MPI_ERR_NO_MEM);
}

/* Room for the counts of a call, also for none: a call that has room is not remembered, by which
 * it would leave out that ranks tell theirs. */
static bool scheduled_make_room(cco_scheduled *own, size_t counts)
{
    counts = counts > 0 ? counts : 1;
    if (own->counts_room >= counts)
        return true;
    free(own->counts);
    own->counts = malloc(counts * sizeof *own->counts);
    own->counts_room = own->counts != NULL ? counts : 0;
    return own->counts != NULL;
}

/* The root tells all ranks what it knows of each. */
static cco_problem sharing_of_root(cco_scheduled *own, const cco_problem *q)
{
    const bool gathers = cco_coll_infos[q->coll].properties & CCO_GATHERS;
    const cco_side *known = gathers ? &q->out : &q->in;
    const size_t n = (size_t)q->size * sizeof *own->counts;
    if (q->rank == q->root)
        memcpy(own->counts, known->n, n);
    return (cco_problem){.coll = CCO_BCAST,
                         .root = q->root,
                         .nodes = q->nodes,
                         .bytes = n,
                         .out = {.base = CCO_OUT, .blocks = 1, .layout = CCO_OUT, .each = n}};
}

/* Each rank tells the leader of its node what it gives and takes. */
static cco_problem sharing_of_nodes(cco_scheduled *own, const cco_problem *q)
{
    const size_t row = q->near != NULL ? cco_neighbor_row_length(q->near->mates)
                                       : 2 * (size_t)q->size;
    const size_t n = row * sizeof *own->counts;
    for (int i = 0; i < q->size && q->near == NULL; i++) {
        own->counts[i] = cco_block(q, &q->in, i).n;
        own->counts[q->size + i] = cco_block(q, &q->out, i).n;
    }
    if (q->near != NULL)
        cco_neighbor_row(q, own->counts);
    const int ranks = cco_node_ranks(q->nodes, q->nodes->node[q->rank]);
    const cco_side mine = {.base = CCO_OUT, .blocks = 1, .layout = CCO_OUT, .each = n};
    cco_side all = mine;
    all.blocks = ranks;
    all.pitch = (ptrdiff_t)n;
    return (cco_problem){.coll = CCO_GATHER, .nodes = q->nodes, .bytes = n, .in = mine, .out = all};
}

int cco_scheduled_share(cco_scheduled *own, const cco_problem *q, cco_binding *binding,
                        cco_plan **plan)
{
    const bool rooted = cco_coll_infos[q->coll].properties & CCO_ROOTED;
    *binding = (cco_binding){.operation.op = MPI_OP_NULL};
    for (int base = 0; base < CCO_BASES; base++)
        binding->layouts[base] = cco_layout_of_bytes;
    if (!scheduled_make_room(own, cco_count_of_counts(q)))
        return MPI_ERR_NO_MEM;
    cco_problem sharing = rooted ? sharing_of_root(own, q) : sharing_of_nodes(own, q);
    sharing.rank = q->rank;
    sharing.size = q->size;
    sharing.commutative = true;
    sharing.unit = 1;
    sharing.layouts = binding->layouts;
    binding->base[CCO_OUT] = (char *)own->counts;
    const int rc = cco_plan_find(&own->plans, rooted ? &cco_bcast_binomial : &cco_node_counts,
                                 &sharing, plan);
    if (rc != MPI_SUCCESS)
        return rc;
    return cco_scheduled_bind(own, *plan, binding, 0) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Runs that. */
static int scheduled_share_counts(cco_scheduled *own, const cco_problem *q)
{
    cco_binding binding;
    cco_plan *plan = NULL;
    const int rc = cco_scheduled_share(own, q, &binding, &plan);
    if (rc != MPI_SUCCESS)
        return rc;
    count_sends(own, plan, true);
    return cco_engine_run(plan->engine, &binding);
}

/* A root may have told of another block than this rank has.  If it is smaller, its part goes, since
 * others take part in the call, which ends with an error. */
static int fit_told(cco_scheduled *own, cco_problem *q)
{
    const bool gives = cco_coll_infos[q->coll].properties & CCO_GATHERS;
    cco_side *side = gives ? &q->in : &q->out;
    const size_t mine = cco_whole(side).n, told = own->counts[q->rank];
    if (q->rank == q->root || mine == told)
        return MPI_SUCCESS;
    cco_unlike_note(own->unlike, q->root, cco_stamp(q->coll, q->root, mine),
                    cco_stamp(q->coll, q->root, told));
    if (own->unlike != NULL)
        own->unlike->gives = gives;
    if (told > mine)
        return MPI_ERR_TRUNCATE;
    side->each = told;
    own->cut = true;
    return MPI_SUCCESS;
}

static bool told_by_root(const cco_problem *q)
{
    return q->counts != NULL && cco_coll_infos[q->coll].properties & CCO_ROOTED;
}

static int scheduled_settle(cco_comm *state, const cco_way *way, cco_problem *q,
                            const cco_algo **algo)
{
    const int rc = cco_scheduled_settle(state, way, q, algo);
    return rc == MPI_ERR_UNSUPPORTED_OPERATION ? cco_comm_refuse(state, rc) : rc;
}

/* The plan for a bound call, which is bound anew if its data have to be packed. */
static int find_plan(cco_scheduled *own, cco_comm *state, const cco_way *way, cco_bound *bound,
                     cco_plan **plan)
{
    const cco_algo *algo;
    int rc = scheduled_settle(state, way, &bound->problem, &algo);
    const bool shares = rc == MPI_SUCCESS && cco_algo_shares(algo, bound->problem.coll);
    if (shares)
        rc = scheduled_share_counts(own, &bound->problem);
    bound->problem.counts = shares ? own->counts : NULL;
    own->cut = false;
    if (rc == MPI_SUCCESS && told_by_root(&bound->problem))
        rc = fit_told(own, &bound->problem);
    if (rc == MPI_SUCCESS)
        rc = cco_plan_find(&own->plans, algo, &bound->problem, plan);
    if (rc != MPI_SUCCESS || (*plan)->engine != NULL)
        return rc;
    const cco_problem before = bound->problem;
    rc = cco_bound_make(bound, state, bound->call, true, &own->workspace);
    bound->problem.pieces = own->pieces;
    bound->problem.counts = before.counts;
    memcpy(bound->problem.params, before.params, sizeof before.params);
    if (own->cut)
        rc = rc == MPI_SUCCESS ? fit_told(own, &bound->problem) : rc;
    if (rc == MPI_SUCCESS)
        rc = cco_plan_find(&own->plans, algo, &bound->problem, plan);
    return rc == MPI_SUCCESS && (*plan)->engine == NULL ? MPI_ERR_INTERN : rc;
}

/* All that comes before the schedule: bound, plan, packed data.  What is wrong with the arguments
 * is taken to be wrong on all ranks; any other error may be this one's alone. */
static int scheduled_prepare(cco_scheduled *own, cco_comm *state, const cco_way *way,
                             const cco_call *call, cco_bound *bound, cco_plan **plan)
{
    int rc = cco_bound_make(bound, state, call, false, &own->workspace);
    bound->problem.pieces = own->pieces;
    if (rc != MPI_SUCCESS && rc != MPI_ERR_NO_MEM)
        return rc;
    if (rc == MPI_SUCCESS)
        rc = find_plan(own, state, way, bound, plan);
    if (rc == MPI_SUCCESS)
        rc = cco_bound_pack(bound);
    return cco_scheduled_give_up(own, rc);
}

static int scheduled_run_again(cco_scheduled *own, cco_cached_call *cached, const cco_call *call)
{
    cco_plan *plan = cached->plan;
    char **base = cached->binding.base;
    base[CCO_IN] = (char *)(uintptr_t)call->sendbuf;
    base[CCO_OUT] = call->recvbuf;
    base[CCO_TMP] = cco_workspace_room(&own->workspace, CCO_TMP, plan->scratch);
    plan->again = true;
    count_sends(own, plan, false);
    const int rc = base[CCO_TMP] != NULL ? cco_engine_run(plan->engine, &cached->binding)
                                         : cco_scheduled_give_up(own, MPI_ERR_NO_MEM);
    if (rc == MPI_SUCCESS)
        cco_workspace_trim(&own->workspace);
    return rc;
}

/* A call that is not remembered. */
static int scheduled_run_new(cco_scheduled *own, cco_cached_call *cached, cco_comm *state,
                             const cco_way *way, const cco_call *call)
{
    cco_bound bound;
    cco_plan *plan = NULL;
    int rc = scheduled_prepare(own, state, way, call, &bound, &plan);
    if (rc == MPI_SUCCESS)
        rc = run_plan(own, plan, &bound.binding, bound.low);
    if (rc == MPI_SUCCESS)
        rc = cco_bound_unpack(&bound);
    if (rc == MPI_SUCCESS && bound.problem.counts != NULL && own->cut)
        rc = MPI_ERR_TRUNCATE;
    if (rc == MPI_SUCCESS)
        cco_cached_call_write(cached, own->plans.drops, way, &bound, plan);
    if (rc == MPI_SUCCESS)
        cco_workspace_trim(&own->workspace);
    return rc;
}

/* The cached call is written anew. */
static int run_once_more(const cco_repeat *again, const void *sendbuf, void *recvbuf,
                         const cco_call *call)
{
    cco_comm *state = again->state;
    const cco_way way = again->cached->way;
    cco_call whole = call != NULL ? *call : again->cached->call;
    whole.comm = state->comm;
    whole.sendbuf = sendbuf;
    whole.recvbuf = recvbuf;
    const int rc = scheduled_run_new(again->own, again->cached, state, &way, &whole);
    return rc != MPI_SUCCESS ? cco_scheduled_raise(again->own, state, whole.coll, rc) : rc;
}

int cco_scheduled_fail(cco_scheduled *own, cco_comm *state, int error)
{
    cco_unlike *unlike = own->unlike;
    if (error == MPI_SUCCESS)
        return error;
    cco_workspace_leave(&own->workspace);
    own->counts = NULL;
    own->counts_room = 0;
    if (unlike == NULL || !(unlike->met || unlike->heard))
        return error;
    if (unlike->met)
        cco_unlike_tell(state->name, state->rank, state->size, unlike);
    *unlike = (cco_unlike){.met = false};
    cco_comm_fail(state, error, -1);
    return error;
}

int cco_scheduled_raise(cco_scheduled *own, cco_comm *state, cco_coll coll, int error)
{
    return cco_comm_raise(state, coll, cco_scheduled_fail(own, state, error));
}

static int scheduled_count_call(const cco_scheduled *own)
{
    const cco_transport *transport = own->plans.transport;
    return transport->call != NULL ? transport->call(own->plans.shared) : MPI_SUCCESS;
}

int cco_scheduled_repeat(const cco_repeat *again, const void *sendbuf, void *recvbuf,
                         const cco_call *call)
{
    cco_scheduled *own = again->own;
    const int rc = scheduled_count_call(own);
    if (rc != MPI_SUCCESS)
        return cco_comm_raise(again->state, again->cached->call.coll, rc);
    return cco_scheduled_holds(own, again->cached) ? cco_scheduled_rerun(again, sendbuf, recvbuf)
                                                   : run_once_more(again, sendbuf, recvbuf, call);
}

int cco_scheduled_run(cco_scheduled *own, cco_comm *state, const cco_way *way, const cco_call *call)
{
    cco_cached_call *cached = &own->cached[cco_cached_call_index(call)];
    const int rc = scheduled_count_call(own);
    if (rc != MPI_SUCCESS)
        return rc;
    if (!cco_cached_call_matches(cached, own->plans.drops, way, call))
        return scheduled_run_new(own, cached, state, way, call);
    if (own->repeat != NULL)
        cco_cached_call_repeat(cached, state, way, own, own->repeat);
    return scheduled_run_again(own, cached, call);
}

void cco_scheduled_empty(cco_scheduled *own)
{
    for (int i = 0; i < CCO_CACHED_CALLS; i++)
        cco_cached_call_free(&own->cached[i]);
    cco_plans_empty(&own->plans);
    cco_workspace_free(&own->workspace);
    free(own->counts);
    own->counts = NULL;
    own->counts_room = 0;
}
