/* SPDX-License-Identifier: BSD-3-Clause */
/* operation_pool.c - see operation_pool.h.  One thread at a time takes operations; any returns
 * them. */
#include "progress/operation_pool.h"

#include <stdlib.h>
#include <string.h>

#include "comm/failure.h"
#include "base/log.h"
#include "base/own_lines.h"
#include "mpi/ulfm.h"
#include "plan/hooked.h"

struct cco_operation_pool {
    cco_channel channel; /* for messages: that of the communicator, which the pool has from now on
                            if the program frees the communicator first */
    unsigned number;     /* of begins over messages, equal on all ranks */
    cco_stream_sets *stream_sets[CCO_PATHS];
    bool asked[CCO_PATHS]; /* the path was asked for: it is there, or never will be */
    cco_operation *idle;   /* for begins */
    cco_operation *back;   /* returned by any thread: a stack */
    int in_flight;   /* operations whose messages are not over, and one for the communicator */
    int users;       /* operations that have not come back, and one for the communicator */
    int kept;        /* operations in both lists */
    int error;       /* a process has failed: what begins return */
    cco_watch watch; /* of the program's communicator, */
    char name[MPI_MAX_OBJECT_NAME]; /* and for what is said of it */
    int rank, size;
};

enum {
    KEPT = 32,         /* operations for the next begins: 10 KiB each, and their plans; */
    MEMORY = 4 << 20,  /* bytes of scratch and packed data that all of a process keep, */
    OF_ONE = 64 << 10, /* and what each may have in any case */
};

static const char pool_key; /* its address is the key */

static size_t kept_memory; /* scratch and packed data of the idle operations of this process */

static void free_list(cco_operation *o)
{
    while (o != NULL) {
        cco_operation *next = o->next;
        __atomic_sub_fetch(&kept_memory, o->kept, __ATOMIC_RELAXED);
        cco_scheduled_empty(&o->own);
        free(o);
        o = next;
    }
}

static void operation_pool_one_user_less(cco_operation_pool *pool)
{
    if (__atomic_sub_fetch(&pool->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    free_list(pool->idle);
    free_list(pool->back);
    for (int i = 0; i < CCO_PATHS; i++)
        cco_stream_sets_free(pool->stream_sets[i]);
    free(pool);
}

static void operation_pool_one_less_in_flight(cco_operation_pool *pool)
{
    if (__atomic_sub_fetch(&pool->in_flight, 1, __ATOMIC_ACQ_REL) == 0)
        cco_channel_close(&pool->channel);
}

/* The program frees its communicator: operations may still be under way. */
static void operation_pool_release(void *data)
{
    cco_operation_pool **kept = data, *pool = *kept;
    free(kept);
    if (pool == NULL)
        return;
    cco_watch_forget(&pool->watch);
    operation_pool_one_less_in_flight(pool);
    operation_pool_one_user_less(pool);
}

static void operation_pool_fail(void *owner, int error, int lost)
{
    cco_operation_pool *pool = owner;
    (void)lost;
    if (__atomic_exchange_n(&pool->error, error, __ATOMIC_ACQ_REL) != MPI_SUCCESS)
        return;
    for (int i = 0; i < CCO_PATHS; i++)
        if (pool->stream_sets[i] != NULL)
            cco_stream_sets_leave(pool->stream_sets[i], error);
}

/* The communicator has found it out. */
static void operation_pool_leave(void *what, int error)
{
    cco_operation_pool *pool = what;
    operation_pool_fail(pool, error, -1);
    cco_channel_fail(&pool->channel, error);
}

int cco_operation_pool_error(cco_operation_pool *pool)
{
    const int error = __atomic_load_n(&pool->error, __ATOMIC_ACQUIRE);
    if (error != MPI_SUCCESS || !cco_watch_due(&pool->watch))
        return error;
    return cco_watch_error(&pool->watch);
}

int cco_operation_pool_cause(cco_operation_pool *pool, cco_unlike *unlike, int error)
{
    if (unlike != NULL && (unlike->met || unlike->heard)) {
        if (unlike->met)
            cco_unlike_tell(pool->name, pool->rank, pool->size, unlike);
        *unlike = (cco_unlike){.met = false};
        operation_pool_fail(pool, error, -1);
    }
    int class = __atomic_load_n(&pool->error, __ATOMIC_ACQUIRE);
    if (class == MPI_SUCCESS && cco_ulfm_class(error) == MPI_SUCCESS)
        return error;
    pool->watch.next = 0;
    if (class == MPI_SUCCESS && cco_watch_error(&pool->watch) == cco_ulfm_revoked_class())
        class = cco_ulfm_revoked_class(); /* ours is revoked by ranks that know of a failure */
    operation_pool_leave(pool, class != MPI_SUCCESS ? class : cco_ulfm_failed_class());
    return __atomic_load_n(&pool->error, __ATOMIC_ACQUIRE);
}

/* The channel is the pool's to close, when the last operation over messages is done. */
static cco_operation_pool *operation_pool_make(cco_comm *state)
{
    cco_operation_pool *pool = cco_own_lines(sizeof *pool);
    if (pool == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for split-phase calls on communicator '%s'", state->name);
    pool->channel = (cco_channel){.comm = MPI_COMM_NULL, .begins = true};
    memcpy(pool->name, state->name, sizeof pool->name);
    pool->rank = state->rank;
    pool->size = state->size;
    pool->in_flight = pool->users = 1;
    pool->watch = (cco_watch){.kind = &cco_watch_processes, .comm = state->comm};
    cco_comm_on_failure(state, operation_pool_leave, pool);
    cco_operation_pool **kept = cco_comm_attach(state, &pool_key, sizeof(pool),
                                                operation_pool_release);
    *kept = pool;
    return pool;
}

static cco_operation_pool *pool_of(const cco_comm *state)
{
    cco_operation_pool **kept = cco_comm_attached(state, &pool_key);
    return kept != NULL ? *kept : NULL;
}

static void make_path(cco_operation_pool *pool, cco_comm *state, cco_path path)
{
    cco_stream_sets *segment = pool->stream_sets[CCO_PATH_SEGMENT];
    if (path == CCO_PATH_MESSAGES && !cco_channel_open(&pool->channel, state->comm))
        pool->channel.comm = MPI_COMM_NULL;
    if (cco_path_reads(path) && segment != NULL)
        cco_stream_sets_ask(segment, state);
    if (path > CCO_PATH_MESSAGES && !cco_path_reads(path))
        pool->stream_sets[path] = cco_stream_sets_make(state, path, CCO_STREAM_SETS, &pool->channel,
                                                       operation_pool_fail, pool);
}

void cco_operation_pool_make(cco_comm *state, cco_path path)
{
    cco_operation_pool *pool = pool_of(state);
    if (pool == NULL)
        pool = operation_pool_make(state);
    if (cco_path_reads(path))
        cco_operation_pool_make(state, CCO_PATH_SEGMENT);
    if (path == CCO_PATH_NODES)
        cco_operation_pool_make(state, CCO_PATH_MESSAGES);
    if (!pool->asked[path])
        make_path(pool, state, path);
    pool->asked[path] = true;
}

/* Begins of all paths through the segment take the same ones. */
static cco_stream_sets *stream_sets_of(const cco_operation_pool *pool, cco_path path)
{
    return pool->stream_sets[cco_path_reads(path) ? CCO_PATH_SEGMENT : path];
}

bool cco_operation_pool_has(const cco_comm *state, cco_path path)
{
    const cco_operation_pool *pool = pool_of(state);
    if (pool == NULL)
        return false;
    const cco_stream_sets *stream_sets = stream_sets_of(pool, path);
    if (path > CCO_PATH_MESSAGES)
        return stream_sets != NULL && (!cco_path_reads(path) || stream_sets->readable);
    return pool->channel.comm != MPI_COMM_NULL && pool->channel.pairs != 0;
}

/* A stream set is of one path, and so is the operation. */
static cco_operation *new_operation(cco_operation_pool *pool, cco_comm *state, cco_path path,
                                    cco_stream_set *stream_set)
{
    const cco_node_map *map = state->nodes.map;
    cco_operation *o = cco_own_lines(sizeof *o);
    if (o == NULL)
        return NULL;
    o->pool = pool;
    o->stream_set = stream_set;
    o->level = cco_path_is_memory(path) ? CCO_PROGRESS_MEMORY : CCO_PROGRESS_MPI;
    o->watch = (cco_watch){&cco_watch_processes, MPI_COMM_NULL, .fail = operation_pool_fail,
                           .owner = pool};
    cco_unlike *unlike = stream_set != NULL ? &stream_set->stream.unlike : &o->unlike;
    o->p2p = (cco_p2p){.channel = &pool->channel, .watch = &o->watch, .unlike = unlike};
    if (path == CCO_PATH_NODES) { /* also where a rank is alone on its node: others send as it */
        cco_stream *streams = stream_set != NULL ? &stream_set->stream : NULL;
        o->route = (cco_route){map, map->node[state->rank], streams, &o->p2p};
        cco_scheduled_over(&o->own, &cco_transport_route, &o->route, unlike, state);
    } else if (stream_set != NULL)
        cco_scheduled_over(&o->own, &cco_transport_stream, &stream_set->stream, unlike, state);
    else
        cco_scheduled_over(&o->own, &cco_transport_p2p, &o->p2p, unlike, state);
    o->own.hook.trace = NULL; /* it may outlive the state, */
    o->own.between = NULL;    /* and so does this: its begin counts */
    return o;
}

static void operation_pool_join(cco_operation **list, cco_operation *more)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = more;
}

static bool operation_pool_is_routed(const cco_operation *o)
{
    return o->own.plans.transport == &cco_transport_route;
}

/* An idle operation whose schedules are for this path and stream set.  NULL if there is none. */
static cco_operation *take_idle(cco_operation_pool *pool, cco_path path,
                                const cco_stream_set *stream_set)
{
    if (__atomic_load_n(&pool->back, __ATOMIC_RELAXED) != NULL)
        operation_pool_join(&pool->idle, __atomic_exchange_n(&pool->back, NULL, __ATOMIC_ACQUIRE));
    cco_operation **link = &pool->idle;
    while (*link != NULL && ((*link)->stream_set != stream_set ||
                             operation_pool_is_routed(*link) != (path == CCO_PATH_NODES)))
        link = &(*link)->next;
    cco_operation *o = *link;
    if (o == NULL)
        return NULL;
    *link = o->next;
    __atomic_fetch_sub(&pool->kept, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&kept_memory, o->kept, __ATOMIC_RELAXED);
    o->kept = 0;
    return o;
}

/* What the next begin on a path takes, counted on all ranks, also where it fails. */
typedef struct turn {
    cco_stream_set *stream_set; /* NULL: none */
    int tag;                    /* where messages pass; -1: there are none left */
} turn;

static turn next_turn(cco_operation_pool *pool, cco_path path)
{
    cco_stream_sets *stream_sets = stream_sets_of(pool, path);
    turn turn = {.stream_set = NULL};
    if (stream_sets != NULL)
        turn.stream_set = cco_stream_sets_next(stream_sets);
    if (!cco_path_is_memory(path))
        turn.tag = cco_channel_begin(&pool->channel, pool->number++);
    return turn;
}

/* The others may begin: what they send must not be taken for data of a later begin. */
static void operation_pool_give_up(cco_operation_pool *pool, cco_path path, const turn *turn)
{
    if (turn->stream_set != NULL)
        cco_transport_stream.give_up(&turn->stream_set->stream);
    if (!cco_path_is_memory(path))
        cco_transport_p2p.give_up(&(cco_p2p){.channel = &pool->channel});
}

void cco_operation_pool_skip(cco_comm *state, cco_path path)
{
    cco_operation_pool *pool = pool_of(state);
    const turn turn = next_turn(pool, path);
    operation_pool_give_up(pool, path, &turn);
}

int cco_operation_pool_take(cco_comm *state, cco_path path, cco_operation **taken)
{
    cco_operation_pool *pool = pool_of(state);
    const turn turn = next_turn(pool, path);
    if (pool->error != MPI_SUCCESS)
        return pool->error;
    if (turn.tag < 0)
        return MPI_ERR_OTHER;
    cco_operation *o = take_idle(pool, path, turn.stream_set);
    if (o == NULL)
        o = new_operation(pool, state, path, turn.stream_set);
    if (o == NULL) {
        operation_pool_give_up(pool, path, &turn);
        return MPI_ERR_NO_MEM;
    }
    *taken = o;
    o->p2p.tag = turn.tag;
    __atomic_fetch_add(&pool->users, 1, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&pool->in_flight, 1, __ATOMIC_ACQ_REL);
    return MPI_SUCCESS;
}

void cco_operation_transport_done(cco_operation *o)
{
    operation_pool_one_less_in_flight(o->pool);
}

static void operation_pool_push(cco_operation_pool *pool, cco_operation *o)
{
    o->next = __atomic_load_n(&pool->back, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&pool->back, &o->next, o, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

/* A few large calls under way at once, and then no more, must not keep their memory for ever. */
static void keep_memory(cco_operation *o)
{
    const size_t n = cco_workspace_bytes(&o->own.workspace);
    o->kept = n > OF_ONE ? n : 0;
    if (o->kept == 0 || __atomic_add_fetch(&kept_memory, n, __ATOMIC_RELAXED) <= MEMORY)
        return;
    cco_workspace_free(&o->own.workspace);
    __atomic_sub_fetch(&kept_memory, o->kept, __ATOMIC_RELAXED);
    o->kept = 0;
}

void cco_operation_pool_return(cco_operation *o)
{
    cco_operation_pool *pool = o->pool;
    o->next = NULL;
    cco_block_progress_free(o->landing);
    o->landing = NULL;
    keep_memory(o);
    if (__atomic_fetch_add(&pool->kept, 1, __ATOMIC_RELAXED) < KEPT) {
        operation_pool_push(pool, o);
    } else {
        __atomic_fetch_sub(&pool->kept, 1, __ATOMIC_RELAXED);
        free_list(o);
    }
    operation_pool_one_user_less(pool);
}

static void operation_pool_give_back(void *what)
{
    cco_operation *o = what;
    if (cco_coll_streams(o->call.coll))
        cco_partial_request_remove(&o->streamed);
    cco_operation_pool_return(o);
}

void cco_operation_request(cco_operation *o, MPI_Request *request)
{
    o->grequest = (cco_grequest){.rc = &o->rc, .ended = operation_pool_give_back, .what = o};
    cco_grequest_start(&o->grequest, request);
}
