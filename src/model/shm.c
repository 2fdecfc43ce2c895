/* SPDX-License-Identifier: BSD-3-Clause */
/* model "shm": data on slot rings that the ranks of a node share. */
#include <stdlib.h>

#include "comm/failure.h"
#include "base/log.h"
#include "base/own_lines.h"
#include "call/raise.h"
#include "call/unlike.h"
#include "model/below.h"
#include "plan/bound.h"
#include "plan/call_cache.h"
#include "model/registry.h"
#include "mpi/quirks.h"
#include "plan/arguments.h"
#include "plan/scheduled.h"
#include "model/shm_many.h"
#include "model/shm_copy.h"
#include "model/shm_memory.h"
#include "model/shm_named.h"
#include "model/shm_rings.h"
#include "model/shm_single.h"
#include "plan/packed.h"
#include "transport/shm/flat_plan.h"
#include "transport/shm/pool.h"
#include "transport/shm/turns.h"

enum { COPY }; /* options */
enum { SLOTS, SINGLE, AUTO };

/* What repeated calls came to. */
typedef struct kept {
    cco_cached_call cached;
    cco_flat plan;
    bool crowded; /* as it was planned for */
} kept;

typedef struct own {
    cco_comm *state;
    cco_shm_rings slots;
    cco_workspace workspace;
    kept *kept[CCO_CACHED_CALLS]; /* each made when needed: there may be thousands of these, */
    cco_shm_named *named;         /* and so are these two */
    cco_shm_single single;
    cco_direct_access reach; /* of a call */
    cco_shm_many *many;
    bool behind; /* this rank has not begun a call which the others may have: its slot rings count
                    other calls than theirs */
} own;

static const char own_key; /* its address is the key */

static void free_kept(kept *k)
{
    if (k != NULL)
        cco_cached_call_free(&k->cached);
    free(k);
}

static void shm_release(void *data)
{
    own *o = data;
    cco_shm_rings_let_go(&o->slots);
    for (int i = 0; i < CCO_CACHED_CALLS; i++)
        free_kept(o->kept[i]);
    cco_workspace_free(&o->workspace);
    if (o->named != NULL)
        cco_shm_named_free(o->named);
    free(o->named);
    cco_shm_single_free(&o->single);
    if (o->many != NULL)
        cco_shm_many_free(o->many);
    free(o->many);
    free(o);
}

/* A process has failed: a call that is under way ends in memory of its own. */
static void shm_leave(void *data, int error)
{
    own *o = data;
    cco_shm_rings_leave(&o->slots, error);
    if (o->many != NULL)
        cco_shm_many_leave(o->many, error);
    if (o->named != NULL)
        cco_shm_named_leave(o->named, error);
}

/* A wait found it out; seats are ranks here. */
static void shm_fail(void *data, int error, int lost)
{
    own *o = data;
    cco_comm_fail(o->state, error, lost);
}

/* Whether no rank ends this call before `rank` has come to it. */
static bool all_wait_for(const cco_call *call, int rank)
{
    const cco_coll_info *info = &cco_coll_infos[call->coll];
    if (info->properties & CCO_COUNTS || call->coll == CCO_SCAN || call->coll == CCO_EXSCAN)
        return false;
    return !(info->properties & CCO_ROOTED) || (rank == call->root && !(info->out & CCO_AT_ROOT));
}

/* Whether a rank has gone to the MPI with this call, and all others have failed here or will: this
 * one because it waited for that rank (`seen`), or for one that has failed.  In place there may be
 * results already in what the MPI would take for operands. */
static bool is_awaited_in_mpi(const cco_comm *state, const cco_unlike *seen, const cco_call *call,
                              bool begun)
{
    const bool rooted = cco_coll_infos[call->coll].properties & CCO_ROOTED;
    if (state->failure.error != MPI_ERR_TRUNCATE || state->seats == NULL ||
        (seen->met && !seen->in_mpi) || (begun && call->sendbuf == MPI_IN_PLACE) ||
        (!rooted && cco_quirk_lengths_unchecked()))
        return false;
    for (int rank = 0; rank < state->size; rank++) {
        const cco_peer_state *seat = &state->seats[rank];
        const uint32_t calls = __atomic_load_n(&seat->mpi_calls, __ATOMIC_ACQUIRE);
        if ((int32_t)(calls - state->seats[state->rank].mpi_calls) > 0 &&
            __atomic_load_n(&seat->mpi_call, __ATOMIC_RELAXED) ==
                cco_stamp(call->coll, call->root, 0) &&
            ((seen->met && !begun) || all_wait_for(call, rank)))
            return true;
    }
    return false;
}

/* The end of a call that failed.  Where the rings of the ranks may no longer be in step, all later
 * calls on the communicator fail.  Under `auto`, unlike sizes may lead some ranks to the rings and
 * others to the MPI.  If the program goes on after errors, the ranks on the rings then make the
 * MPI's call too: the others wait for them.  `begun`: a rank may have ended the call. */
__attribute__((noinline, cold)) static int fail_call(own *o, cco_comm *state, const cco_call *call,
                                                     bool begun, int rc)
{
    cco_shm_many *many = o->many;
    cco_slot_family *families[] = {&o->slots.family,
                                   many != NULL ? &many->levels.near_family : NULL,
                                   many != NULL ? &many->levels.far_family : NULL};
    const bool follows = rc == MPI_ERR_TRUNCATE &&
                         is_awaited_in_mpi(state, &o->slots.family.unlike, call, begun) &&
                         !cco_raise_ends_job(state->comm);
    for (int i = 0; i < 3 && families[i] != NULL; i++) {
        if (!families[i]->unlike.met)
            continue;
        cco_unlike_tell(state->name, state->rank, state->size, &families[i]->unlike);
        families[i]->unlike.met = false;
        /* Calls of other sizes keep the rings in step, unless two ranks swap their slots, as two
         * leaders may.  Other calls do not. */
        if (state->size == 2 || i > 0 || rc != MPI_ERR_TRUNCATE)
            cco_comm_fail(state, rc, -1);
    }
    const int theirs = follows ? cco_run_mpi(state, call) : MPI_SUCCESS;
    return theirs != MPI_SUCCESS ? theirs : cco_comm_raise(state, call->coll, rc);
}

/* Before all ranks set something up together: they must be in the same call, as far as there are
 * slot rings to find it out. */
static int shm_meet(own *o, uint64_t stamp)
{
    for (int i = 0; i < CCO_SHM_RINGS; i++)
        if (o->slots.rings[i].memory != NULL)
            return cco_flat_meet(&o->slots.rings[i], stamp);
    return MPI_SUCCESS;
}

/* What makes calls alike before they are planned. */
static uint64_t stamp_of(const cco_problem *q)
{
    return cco_stamp(q->coll, q->root, q->bytes);
}

/* The ranks asked for unlike memory, because they make unlike calls. */
static int no_common_rings(own *o, cco_comm *state, uint64_t stamp)
{
    o->slots.family.unlike = (cco_unlike){.met = true, .rank = -1, .here = stamp};
    cco_comm_fail(state, MPI_ERR_TRUNCATE, -1);
    return MPI_ERR_TRUNCATE;
}

static cco_watch watch_of(own *o)
{
    return (cco_watch){&cco_watch_processes, o->state->comm, .fail = shm_fail, .owner = o};
}

/* Memory of a communicator that not all need; to go on without it on one rank would hang the
 * others. */
static void *shm_more(size_t size, const cco_comm *state)
{
    void *memory = cco_own_lines(size);
    if (memory == NULL)
        cco_fatal("no memory for communicator '%s'", state->name);
    return memory;
}

/* Whether there is memory for the slot rings of a call, the same on all ranks.  Collective when the
 * first ones of their part are asked for. */
static bool has_rings(own *o, cco_comm *state, cco_shm_part part)
{
    const bool far = part == CCO_SHM_FAR && !o->slots.asked[part];
    const size_t behind = part == CCO_SHM_FAR ? cco_shm_single_share() : 0;
    const cco_watch watch = watch_of(o);
    const bool there = cco_shm_rings_there(&o->slots, part, behind, state, &watch);
    if (far)
        o->single.at = o->slots.more;
    if (there && state->seats == NULL)
        state->seats = o->slots.segments[part].seats;
    return there;
}

static own *shm_own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    if (o != NULL)
        return o;
    o = cco_comm_attach(state, &own_key, sizeof *o, shm_release);
    o->state = state;
    cco_shm_rings_begin(&o->slots);
    cco_comm_on_failure(state, shm_leave, o);
    return o;
}

/* Under `auto` other calls are the MPI's: a small one shall end where the MPI's would, while other
 * ranks are in those. */
static void shm_set_up(cco_comm *state, const cco_way *way)
{
    if (way->automatic)
        has_rings(shm_own_of(state), state, CCO_SHM_NEAR);
}

static void use_pull(own *o)
{
    o->slots.rings[CCO_SHM_LARGE].pull = &o->single.pull;
    o->single.pull.ring = &o->slots.rings[CCO_SHM_LARGE];
}

/* copy=auto: whether the kernel copies in a call, by what all ranks know.  Where it may not, nobody
 * asked for it. */
static bool shm_pays(own *o, const cco_comm *state, const cco_shm_copy_call *call,
                     cco_shm_copy_verdict verdict)
{
    if (verdict == CCO_SHM_COPY_NO ||
        !cco_shm_single_open(&o->single, state, &o->slots.segments[CCO_SHM_FAR]))
        return false;
    use_pull(o);
    if (verdict == CCO_SHM_COPY_YES)
        return true;
    const cco_distance distance = cco_shm_single_distance(&o->single, state,
                                                          &o->slots.rings[CCO_SHM_LARGE]);
    return cco_shm_copy_pays(call, &distance);
}

/* Lets the kernel copy in a large call, if it pays by what all ranks know. */
static int judge_copy(own *o, const cco_comm *state, const cco_problem *q)
{
    const cco_shm_copy_call call = {q->coll, q->bytes, state->size, state->facts.crowded};
    const cco_shm_copy_verdict verdict = cco_shm_copy_judge(&call);
    const bool measures = verdict == CCO_SHM_COPY_MEASURE && !o->single.measured;
    if (verdict != CCO_SHM_COPY_NO && (measures || !o->single.asked)) {
        const int rc = shm_meet(o, stamp_of(q));
        if (rc != MPI_SUCCESS)
            return rc;
    }
    if (!shm_pays(o, state, &call, verdict))
        return MPI_SUCCESS;
    o->reach.pull = &o->single.pull;
    o->reach.least = cco_shm_copy_least(&call);
    return MPI_SUCCESS;
}

/* Whether the kernel copies in a large call.  Cached calls ask, too: they hold for every option,
 * and ranks remember different ones.  Collective, the first time. */
static int choose_copy(own *o, cco_comm *state, const cco_way *way, const cco_problem *q)
{
    int rc = MPI_SUCCESS;
    if (way->options[COPY] == AUTO)
        rc = judge_copy(o, state, q);
    if (way->options[COPY] != SINGLE)
        return rc;
    if (!o->single.asked)
        rc = shm_meet(o, stamp_of(q));
    if (rc != MPI_SUCCESS)
        return rc;
    if (!cco_shm_single_open(&o->single, state, &o->slots.segments[CCO_SHM_FAR]))
        return cco_shm_single_refused(state);
    use_pull(o);
    o->reach.pull = &o->single.pull;
    return MPI_SUCCESS;
}

/* Memory that need not be copied: small data are not worth looking for it. */
static int find_reach(own *o, cco_comm *state, const cco_way *way, const cco_flat *plan,
                      const cco_problem *q, const cco_direct_access **reach)
{
    *reach = NULL;
    if (!plan->stage[plan->stages - 1].direct)
        return MPI_SUCCESS;
    o->reach = (cco_direct_access){cco_shm_memory_of(state), NULL, 0};
    *reach = &o->reach;
    return choose_copy(o, state, way, q);
}

/* This rank does not begin a call which the others may have begun: from now on its slot rings count
 * other calls than theirs.  What would run in their place is a call behind, too. */
static int fall_behind(own *o, cco_comm *state, int error)
{
    o->behind = true;
    for (int i = 0; i < CCO_CACHED_CALLS; i++)
        if (o->kept[i] != NULL)
            cco_cached_call_free(&o->kept[i]->cached);
    cco_comm_update(state);
    cco_channel_lose(&state->channel);
    return error;
}

static int shm_run_bound(own *o, cco_comm *state, const cco_flat *plan, const cco_bound *bound,
                         const cco_direct_access *reach)
{
    int rc = cco_bound_pack(bound);
    if (rc != MPI_SUCCESS)
        return fall_behind(o, state, rc);
    rc = cco_flat_run(o->slots.rings, plan, &bound->problem, &bound->binding, reach);
    return rc == MPI_SUCCESS ? cco_bound_unpack(bound) : rc;
}

static int run_below(cco_comm *state, const cco_way *way, const cco_call *call)
{
    return cco_run_fallback(
        way, state, call, "the ranks share no memory (other nodes, other containers, or no room)");
}

/* Elements that fit in no slot. */
static int run_turns(own *o, cco_comm *state, const cco_bound *bound)
{
    int rc = cco_bound_pack(bound);
    if (rc != MPI_SUCCESS)
        return fall_behind(o, state, rc);
    rc = cco_turns_run(o->slots.rings, cco_shm_rooms, CCO_SHM_RINGS, state->facts.crowded,
                       &bound->problem, &bound->binding);
    if (rc == MPI_ERR_NO_MEM)
        fall_behind(o, state, rc);
    return rc == MPI_SUCCESS ? cco_bound_unpack(bound) : rc;
}

/* Elements that fit, or bytes. */
static int run_planned(own *o, kept *k, cco_comm *state, const cco_way *way, const cco_flat *plan,
                       const cco_bound *bound)
{
    const cco_direct_access *reach;
    int rc = find_reach(o, state, way, plan, &bound->problem, &reach);
    if (rc == MPI_SUCCESS)
        rc = shm_run_bound(o, state, plan, bound, reach);
    if (rc == MPI_SUCCESS && cco_cached_call_write(&k->cached, 0, way, bound, NULL)) {
        k->plan = *plan;
        k->crowded = state->facts.crowded;
    }
    return rc;
}

/* Slot rings bring all operands of an element to one place: "exact" needs nothing else.  It folds
 * them at once, and takes them in the order of ranks where there is no fold, as all flat calls do.
 */
static void choose_operation(cco_bound *bound, const cco_way *way)
{
    cco_reduce_op *operation = &bound->binding.operation;
    if (way->algo == NULL)
        operation->fold = NULL;
    else if (operation->fold != NULL)
        operation->kernel = NULL;
}

/* A call that is not remembered.  Ranks may describe the same elements by types with and without
 * gaps: how they go depends on their size alone. */
static int shm_run_new(own *o, kept *k, cco_comm *state, const cco_way *way, const cco_call *call)
{
    cco_bound bound;
    cco_elements elements;
    cco_flat plan = {.stages = 0};
    if (way->automatic && cco_is_uneven(call))
        return cco_run_mpi(state, call);
    int rc = cco_bound_make(&bound, state, call, true, &o->workspace);
    choose_operation(&bound, way);
    const bool fits = cco_flat_fits(&bound.problem, cco_shm_rooms, CCO_SHM_RINGS);
    if (rc == MPI_SUCCESS && (!fits || cco_packed_wanted(&bound)))
        rc = cco_packed_make(&bound, &elements, &o->workspace);
    if (rc == MPI_ERR_NO_MEM)
        fall_behind(o, state, rc);
    if (rc == MPI_SUCCESS && fits)
        plan = cco_flat_plan(&bound.problem, cco_shm_rooms, CCO_SHM_RINGS, state->facts.crowded);
    const cco_shm_part part = cco_shm_part_of(&plan);
    if (rc == MPI_SUCCESS && !o->slots.asked[part])
        rc = shm_meet(o, stamp_of(&bound.problem));
    const bool begun = rc == MPI_SUCCESS;
    if (rc == MPI_SUCCESS && !has_rings(o, state, part)) {
        if (!o->slots.segments[part].unlike) {
            cco_workspace_trim(&o->workspace);
            return run_below(state, way, call);
        }
        rc = no_common_rings(o, state, stamp_of(&bound.problem));
    }
    if (rc == MPI_SUCCESS)
        rc = fits ? run_planned(o, k, state, way, &plan, &bound) : run_turns(o, state, &bound);
    cco_workspace_trim(&o->workspace);
    if (rc != MPI_SUCCESS)
        rc = fail_call(o, state, call, begun, rc);
    return rc;
}

/* A call that is remembered, with the arrays of this one, if it has any. */
__attribute__((noinline, cold)) static int fail_again(own *o, cco_comm *state, const kept *k,
                                                      const void *sendbuf, void *recvbuf,
                                                      const cco_call *call, int rc)
{
    cco_call whole = call != NULL ? *call : k->cached.call;
    whole.comm = state->comm;
    whole.sendbuf = sendbuf;
    whole.recvbuf = recvbuf;
    return fail_call(o, state, &whole, true, rc);
}

__attribute__((noinline)) static int shm_run_again(cco_comm *state, own *o, kept *k,
                                                   const cco_way *way, const void *sendbuf,
                                                   void *recvbuf, const cco_call *call)
{
    cco_cached_call *cached = &k->cached;
    const cco_direct_access *reach;
    cached->binding.base[CCO_IN] = (char *)(uintptr_t)sendbuf;
    cached->binding.base[CCO_OUT] = recvbuf;
    int rc = find_reach(o, state, way, &k->plan, &cached->problem, &reach);
    if (rc == MPI_SUCCESS)
        rc = cco_flat_run(o->slots.rings, &k->plan, &cached->problem, &cached->binding, reach);
    if (rc != MPI_SUCCESS)
        rc = fail_again(o, state, k, sendbuf, recvbuf, call, rc);
    return rc;
}

/* Runs a call that the communicator remembers, if its data are small: all that is left is to move
 * them. */
static int shm_repeat(const cco_repeat *again, const void *sendbuf, void *recvbuf,
                      const cco_call *call)
{
    own *o = again->own;
    cco_comm *state = again->state;
    cco_cached_call *cached = again->cached;
    kept *k = (kept *)cached; /* its first member */
    if (k->plan.stages > 1 || !k->plan.stage[0].small)
        return shm_run_again(state, o, k, &cached->way, sendbuf, recvbuf, call);
    cached->binding.base[CCO_IN] = (char *)(uintptr_t)sendbuf;
    cached->binding.base[CCO_OUT] = recvbuf;
    int rc = cco_flat_run_small(o->slots.rings, &k->plan.stage[0], &cached->problem,
                                &cached->binding);
    if (rc != MPI_SUCCESS)
        rc = fail_again(o, state, k, sendbuf, recvbuf, call, rc);
    return rc;
}

static int run_streams(own *o, cco_comm *state, const cco_way *way, const cco_call *call)
{
    const long copy = way->options[COPY];
    int rc = MPI_SUCCESS;
    cco_shown_rule shows = {0};
    if (o->named == NULL) {
        o->named = shm_more(sizeof *o->named, state);
        o->named->watch = watch_of(o);
    }
    if (!cco_shm_named_there(o->named, state))
        return run_below(state, way, call);
    if (copy != SLOTS && cco_shm_named_single(o->named, state))
        shows = copy == SINGLE ? CCO_SHOWN_ALL : cco_shown_pays(state->facts.crowded);
    else if (copy == SINGLE)
        rc = cco_shm_single_refused(state);
    if (rc == MPI_SUCCESS)
        rc = cco_shm_named_run(o->named, shows, state, way, call);
    if (rc != MPI_SUCCESS)
        rc = cco_comm_raise(state, call->coll, rc);
    return rc;
}

/* More ranks than should all read what every other shows. */
static int run_many(own *o, cco_comm *state, const cco_way *way, const cco_call *call)
{
    int rc;
    if (o->many == NULL) {
        o->many = shm_more(sizeof *o->many, state);
        o->many->watch = watch_of(o);
    }
    if (cco_is_uneven(call) || !cco_shm_many_run(o->many, state, way, call, &rc))
        return run_streams(o, state, way, call);
    if (o->many->behind)
        fall_behind(o, state, rc);
    if (rc != MPI_SUCCESS)
        rc = fail_call(o, state, call, true, rc);
    return rc;
}

/* Algorithms by name, but "exact"; and neighbors, of which slot rings know nothing. */
static bool takes_streams(const cco_comm *state, const cco_way *way, cco_coll coll)
{
    const bool flat = way->algo == NULL || (way->algo->folds && state->size <= CCO_FLAT_RANKS);
    return !flat || cco_is_neighbor(coll);
}

static int shm_run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    own *o = shm_own_of(state);
    kept **place = &o->kept[cco_cached_call_index(call)], *k = *place;
    if (k != NULL && cco_cached_call_matches(&k->cached, 0, way, call) &&
        k->crowded == state->facts.crowded) {
        cco_cached_call_repeat(&k->cached, state, way, o, shm_repeat);
        return shm_run_again(state, o, k, way, call->sendbuf, call->recvbuf, call);
    }
    if (!cco_arguments_valid(state, call))
        return cco_arguments_refuse(call);
    if (o->behind && !(way->automatic && cco_is_uneven(call)))
        return cco_comm_raise(state, call->coll, MPI_ERR_OTHER);
    if (takes_streams(state, way, call->coll))
        return run_streams(o, state, way, call);
    if (state->size > CCO_FLAT_RANKS)
        return run_many(o, state, way, call);
    if (k == NULL)
        k = *place = cco_own_lines(sizeof *k);
    if (k == NULL)
        return cco_comm_raise(state, call->coll, fall_behind(o, state, MPI_ERR_NO_MEM));
    return shm_run_new(o, k, state, way, call);
}

/* Flat calls need no algorithm; those of more ranks do, and begun ones. */
static const char *shm_refuses(const cco_way *way, cco_coll coll, int size)
{
    const bool needs_one = way->algo != NULL || size > CCO_FLAT_RANKS || cco_is_neighbor(coll);
    return needs_one ? cco_scheduled_refuses(way, coll, size) : NULL;
}

/* The slot rings are of one call at a time: begins go over streams, with the preset algorithm if
 * none is named. */
static cco_path shm_path(const cco_comm *state, const cco_way *way, const char **why)
{
    (void)state;
    *why = NULL;
    static const cco_path paths[] = {CCO_PATH_SEGMENT, CCO_PATH_SHM_COPY_ONCE, CCO_PATH_SHM_AUTO};
    return paths[way->options[COPY]];
}

static const cco_param options[CCO_OPTIONS + 1] = {
    {"copy", AUTO, 0, 2,
     "how large data move: through slots, by reads of another rank's memory by the kernel, or by "
     "what was faster so far apart",
     "slots|single|auto"},
};

const cco_model cco_model_shm = {
    .name = "shm",
    .doc = "shared memory of a node",
    .run = shm_run,
    .touches = true,
    .below = &cco_model_p2p,
    .algorithms = cco_algo_of,
    .options = options,
    .refuses = shm_refuses,
    .path = shm_path,
    .set_up = shm_set_up,
    .job_free = cco_pool_empty,
};
