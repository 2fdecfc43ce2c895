/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c - see comm.h. */
#include "comm/comm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "call/raise.h"
#include "call/reentry.h"
#include "mpi/mpi_check.h"
#include "base/own_lines.h"
#include "mpi/service.h"

/* The key is made once, by whoever comes first: its attribute ends a state with its communicator.
 * A state is found in the table, without the MPI: asked about a handle that is wrong, that would
 * call an error handler, in the name of another function than the program's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
enum { BUCKETS = 1024 };

typedef struct place {
    MPI_Comm comm;
    cco_comm *state;
    struct place *next;
} place;

/* Whoever looks a state up takes no lock: a place may be used again but is never freed, and
 * `changes` is odd while the table changes, which takes the lock. */
static struct {
    place *first[BUCKETS], *unused;
    unsigned changes;
} table;

/* Communicators that this thread frees, the last one first: a delete function may free another. */
enum { FREED = 8 };
static _Thread_local struct {
    MPI_Comm comms[FREED];
    int count;
} freed;

_Thread_local cco_comm_last cco_comm_looked_up;
unsigned cco_comms_ended;
bool cco_comm_threads;

/* Handles are addresses or small numbers. */
static place **comm_bucket_of(MPI_Comm comm)
{
    const uint64_t handle = (uint64_t)(uintptr_t)comm;
    return &table.first[handle * 0x9e3779b97f4a7c15u >> 54];
}

static void comm_table_changes(bool begins)
{
    if (begins)
        pthread_mutex_lock(&lock);
    else
        __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&table.changes, table.changes + 1, __ATOMIC_RELAXED);
    if (begins)
        __atomic_thread_fence(__ATOMIC_RELEASE);
    else
        pthread_mutex_unlock(&lock);
}

/* What is found counts if `changes` has stayed as it was. */
static cco_comm *comm_table_find(MPI_Comm comm, unsigned changes)
{
    const place *p = __atomic_load_n(comm_bucket_of(comm), __ATOMIC_ACQUIRE);
    while (p != NULL && __atomic_load_n(&p->comm, __ATOMIC_RELAXED) != comm &&
           __atomic_load_n(&table.changes, __ATOMIC_RELAXED) == changes)
        p = __atomic_load_n(&p->next, __ATOMIC_ACQUIRE);
    return p != NULL ? __atomic_load_n(&p->state, __ATOMIC_RELAXED) : NULL;
}

/* What is in the table then: the state of another thread that was faster, or NULL if memory runs
 * out. */
static cco_comm *link_state(cco_comm *state)
{
    place **first = comm_bucket_of(state->comm);
    comm_table_changes(true);
    cco_comm *known = comm_table_find(state->comm, table.changes);
    place *p = table.unused != NULL ? table.unused : calloc(1, sizeof *p);
    if (p != NULL && known == NULL) {
        known = state;
        table.unused = p->next;
        __atomic_store_n(&p->comm, state->comm, __ATOMIC_RELAXED);
        __atomic_store_n(&p->state, state, __ATOMIC_RELAXED);
        __atomic_store_n(&p->next, *first, __ATOMIC_RELAXED);
        __atomic_store_n(first, p, __ATOMIC_RELEASE);
    }
    comm_table_changes(false);
    return known;
}

static void unlink_state(const cco_comm *state)
{
    place **at = comm_bucket_of(state->comm);
    comm_table_changes(true);
    while (*at != NULL && (*at)->state != state)
        at = &(*at)->next;
    place *p = *at;
    if (p != NULL) {
        __atomic_store_n(at, p->next, __ATOMIC_RELAXED);
        __atomic_store_n(&p->next, table.unused, __ATOMIC_RELAXED);
        table.unused = p;
    }
    comm_table_changes(false);
}

void cco_comm_drop_choices(cco_comm *state)
{
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        cco_choices *choices = &state->chosen.of[coll];
        for (int i = 0; i < choices->count; i++)
            cco_profile_keep(state, (cco_coll)coll, &choices->list[i]);
        free(choices->list);
        *choices = (cco_choices){0};
        if (state->records.native != NULL)
            cco_profile_keep(state, (cco_coll)coll, &state->records.native[coll]);
    }
}

/* Something is done at each call, whatever it is. */
static bool comm_all_watched(const cco_comm *state)
{
    return state->begins.wanted || state->watched & ~(unsigned)CCO_WATCHED_RESULTS;
}

bool cco_comm_looks_at(const cco_comm *state, cco_coll coll)
{
    return state->ready &&
           (comm_all_watched(state) || cco_profiled || !(state->chosen.plain >> coll & 1));
}

void cco_comm_update(cco_comm *state)
{
    const uint32_t every = (1u << CCO_COLLECTIVES) - 1;
    const bool all = comm_all_watched(state);
    const uint32_t checked = state->watched & CCO_WATCHED_RESULTS ? every : 0;
    state->slow = all ? every : state->chosen.to_report | state->chosen.classed | checked;
    state->ours = 0;
    for (int coll = 0; coll < CCO_COLLECTIVES && !cco_comm_threads; coll++)
        state->ours |= (uint32_t)cco_comm_looks_at(state, (cco_coll)coll) << coll;
    state->unrepeated = all ? every : state->chosen.to_report | checked;
    memset(state->repeats, 0, sizeof state->repeats);
}

static void free_leavers(cco_comm *state)
{
    while (state->failure.leavers != NULL) {
        cco_failure_handler *first = state->failure.leavers;
        state->failure.leavers = first->next;
        free(first);
    }
}

static int delete_state(MPI_Comm comm, int key, void *attribute, void *extra)
{
    cco_comm *state = attribute;
    (void)comm, (void)key, (void)extra;
    __atomic_fetch_add(&cco_comms_ended, 1, __ATOMIC_RELAXED);
    unlink_state(state);
    cco_comm_drop_choices(state);
    cco_arrivals_keep(state->records.arrivals);
    free(state->records.native);
    while (state->attached != NULL) {
        cco_attached *first = state->attached;
        state->attached = first->next;
        first->release(first->data);
        free(first);
    }
    free_leavers(state);
    cco_service_forget(comm);
    cco_channel_close(&state->channel);
    free(state->chosen.program_rules);
    free(state->records.members);
    cco_neighbors_drop(state->topology.near);
    free(state);
    return MPI_SUCCESS;
}

static int comm_make_key(void)
{
    int rc = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID) {
        int made = MPI_KEYVAL_INVALID;
        rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_state, &made, NULL);
        if (rc == MPI_SUCCESS)
            __atomic_store_n(&keyval, made, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

static MPI_Comm first_comm(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS && comm == MPI_COMM_NULL; i++)
        if (table.first[i] != NULL)
            comm = table.first[i]->comm;
    pthread_mutex_unlock(&lock);
    return comm;
}

cco_comm *cco_comm_look_up(MPI_Comm comm)
{
    const unsigned ended = __atomic_load_n(&cco_comms_ended, __ATOMIC_ACQUIRE);
    const unsigned changes = __atomic_load_n(&table.changes, __ATOMIC_ACQUIRE);
    cco_comm *state = comm_table_find(comm, changes);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (changes % 2 != 0 || __atomic_load_n(&table.changes, __ATOMIC_RELAXED) != changes) {
        pthread_mutex_lock(&lock);
        state = comm_table_find(comm, table.changes);
        pthread_mutex_unlock(&lock);
    }
    if (state != NULL)
        cco_comm_looked_up = (cco_comm_last){comm, state, ended};
    return state;
}

int cco_comm_free_begins(const MPI_Comm *comm)
{
    const int before = freed.count;
    if (comm != NULL && cco_is_intra(*comm))
        cco_service_end_name(*comm);
    if (__atomic_load_n(&keyval, __ATOMIC_ACQUIRE) == MPI_KEYVAL_INVALID || comm == NULL)
        return before;
    freed.comms[before % FREED] = *comm; /* it grows if error handlers do not come back */
    freed.count = before % FREED + 1;
    if (cco_comm_look_up(*comm) != NULL)
        PMPI_Comm_delete_attr(*comm, keyval);
    return before;
}

void cco_comm_free_ends(int before)
{
    freed.count = before;
}

static bool is_freed(MPI_Comm comm)
{
    for (int i = 0; i < freed.count; i++)
        if (freed.comms[i] == comm)
            return true;
    return false;
}

MPI_Comm cco_comm_any(void)
{
    const cco_comm_last *last = &cco_comm_looked_up;
    const unsigned ended = __atomic_load_n(&cco_comms_ended, __ATOMIC_RELAXED);
    return last->state != NULL && last->ended == ended ? last->comm : first_comm();
}

void cco_comm_end(void)
{
    for (MPI_Comm comm = first_comm(); comm != MPI_COMM_NULL; comm = first_comm())
        if (PMPI_Comm_delete_attr(comm, keyval) != MPI_SUCCESS)
            break;
    if (keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&keyval);
}

cco_comm *cco_comm_create(MPI_Comm comm)
{
    int inter = 0;
    if (!cco_mpi_check_handle(comm) || is_freed(comm) || comm_make_key() != MPI_SUCCESS ||
        PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return NULL;
    cco_comm *state = cco_own_lines(sizeof *state);
    if (state == NULL)
        return NULL;
    state->comm = comm;
    state->inter = inter;
    state->channel.comm = MPI_COMM_NULL;
    PMPI_Comm_rank(comm, &state->rank);
    PMPI_Comm_size(comm, &state->size);
    cco_comm_read_name(state);
    if (cco_profiled && state->rank == 0 && state->size > 1 && !inter)
        state->records.members = cco_members_of(comm);
    cco_comm *known = link_state(state);
    if (known == state && PMPI_Comm_set_attr(comm, keyval, state) == MPI_SUCCESS)
        return state;
    if (known == state)
        unlink_state(state);
    free(state->records.members);
    free(state);
    return known != state ? known : NULL;
}

void cco_comm_expect_threads(bool many)
{
    comm_table_changes(true);
    cco_comm_threads = many;
    for (int i = 0; i < BUCKETS; i++)
        for (place *p = table.first[i]; p != NULL; p = p->next)
            cco_comm_update(p->state);
    comm_table_changes(false);
}

_Static_assert((int)CCO_COLLECTIVES <= (int)CCO_MARK_FREE, "room in a mark");

static int comm_mark_refused(const cco_comm_mark *mark, const cco_comm *state, cco_coll coll)
{
    const unsigned other = mark->before & CCO_MARK_FREE;
    const bool left = other == CCO_MARK_FREE; /* meanwhile */
    cco_say("two threads of rank %d are in %s%s and MPI_%s of communicator '%s' at once; the"
            " standard forbids it (MPI 4.1, sections 6.14 and 11.6.2)",
            state->rank, left ? "a collective" : "MPI_", left ? "" : cco_coll_infos[other].mpi_name,
            cco_coll_infos[coll].mpi_name, state->name);
    return cco_raise_said(state->comm, MPI_ERR_OTHER);
}

/* An operation of the program, or an error handler that the MPI calls, may be where this comes
 * from: then the thread is in a call, or has left one that never ended. */
static bool comm_mark_is_own(const cco_comm_mark *mark)
{
    return mark->before >> CCO_MARK_BITS == cco_mark_of_thread(0) >> CCO_MARK_BITS;
}

static bool comm_mark_is_free(const cco_comm_mark *mark)
{
    return mark->before == 0 || (mark->before & CCO_MARK_FREE) == CCO_MARK_FREE;
}

int cco_comm_enter(cco_comm_mark *mark, cco_comm *state, cco_coll coll)
{
    *mark = (cco_comm_mark){state != NULL ? &state->mark : NULL, cco_mark_held, 0};
    if (state == NULL) {
        cco_mark_held = NULL;
        return MPI_SUCCESS;
    }
    mark->before = __atomic_load_n(mark->word, __ATOMIC_RELAXED);
    while (comm_mark_is_free(mark))
        if (cco_comm_mark_take(mark, coll)) {
            if (mark->before != 0 && !comm_mark_is_own(mark))
                __atomic_fetch_add(&cco_comms_ended, 1, __ATOMIC_RELEASE);
            mark->before = cco_mark_of_thread(CCO_MARK_FREE);
            return MPI_SUCCESS;
        }
    return cco_comm_enter_again(mark, state, coll);
}

int cco_comm_enter_again(cco_comm_mark *mark, cco_comm *state, cco_coll coll)
{
    if (!comm_mark_is_own(mark))
        return comm_mark_refused(mark, state, coll);
    cco_mark_held = mark->word;
    return MPI_SUCCESS;
}

cco_channel *cco_comm_channel(cco_comm *state)
{
    cco_channel *channel = &state->channel;
    if (channel->comm != MPI_COMM_NULL)
        return channel;
    if (!cco_channel_open(channel, state->comm)) /* also where it is spent */
        return NULL;
    cco_service_pass(state->comm, channel->comm, cco_channel_service(channel));
    return channel;
}

int cco_comm_refuse(cco_comm *state, int error)
{
    static bool waited;
    enum { MOMENT_NS = 200 * 1000 * 1000 }; /* launchers drop what they have not forwarded yet */
    if (state->rank == 0 && !__atomic_exchange_n(&waited, true, __ATOMIC_RELAXED))
        nanosleep(&(struct timespec){.tv_nsec = MOMENT_NS}, NULL);
    cco_service_all(true, state->comm);
    return error;
}

uint64_t cco_comm_propose_number(const cco_comm *state)
{
    static uint64_t last;
    return state->rank == 0 ? __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) : 0;
}

void cco_comm_read_name(cco_comm *state)
{
    int length = 0;
    memset(state->name, 0, sizeof state->name);
    if (PMPI_Comm_get_name(state->comm, state->name, &length) != MPI_SUCCESS ||
        strncmp(state->name, "MPI COMMUNICATOR ", 17) == 0)
        memset(state->name, 0, sizeof state->name);
}

void *cco_comm_attach(cco_comm *state, const void *key, size_t size, void (*release)(void *))
{
    cco_attached *entry = malloc(sizeof *entry);
    void *data = cco_own_lines(size);
    if (entry == NULL || data == NULL)
        cco_fatal("no memory for %zu bytes of communicator '%s'", size, state->name);
    *entry = (cco_attached){key, data, release, state->attached};
    state->attached = entry;
    return data;
}

void cco_comm_for_each(void (*visit)(cco_comm *state))
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS; i++)
        for (const place *p = table.first[i]; p != NULL; p = p->next)
            visit(p->state);
    pthread_mutex_unlock(&lock);
}
