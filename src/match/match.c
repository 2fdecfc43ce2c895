/* SPDX-License-Identifier: BSD-3-Clause */
/* match.c - CRESTA_DEBUG=match: the ranks of a communicator compare each collective call before it
 * runs.  If they differ, a message names the ranks that do, where the program would hang.
 *
 * Each rank sends what the standard wants to be equal (match/signature.h) to rank 0 of the
 * communicator, by a message on a communicator of ours.  Before a blocking call, rank 0 waits for
 * those of all ranks and lets them go; so each call waits for the last rank, and costs rank 0 two
 * messages for each other.  A call that only starts waits for nobody: rank 0 compares it while it
 * waits in some call, before the next blocking one, or in MPI_Finalize.  When ranks differ, one
 * message says which, and the job ends with exit code 2.  A rank that does not come is named after
 * some seconds; then the others go on waiting. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/channel.h"
#include "base/clock.h"
#include "config/config.h"
#include "base/log.h"
#include "base/pause.h"
#include "mpi/ulfm.h"
#include "wait/wait.h"
#include "hang/whereabouts.h"
#include "match/comparison.h"
#include "match/told_match.h"
#include "observe/observe.h"
#include "plan/arguments.h"

enum { TAG_SIGNATURE = 1, TAG_VERDICT = 2, TAG_ROW = 3 };

enum { GO_ON, SEND_ROWS }; /* what rank 0 says */

static const char here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of `own` */
static cco_match *all;

/* What a state keeps: the other may outlive it.  NULL: its calls are not compared. */
typedef struct holder {
    cco_match *m;
} holder;

static void *match_memory(void *old, size_t bytes)
{
    void *made = realloc(old, bytes);
    if (made == NULL)
        cco_fatal("no memory for CRESTA_DEBUG=match");
    return made;
}

static void *match_zeros(int n, size_t bytes)
{
    return memset(match_memory(NULL, (size_t)n * bytes), 0, (size_t)n * bytes);
}

static void match_forget(cco_match *m, uint64_t before)
{
    if (before > m->first)
        memmove(m->own, m->own + (before - m->first), sizeof *m->own * (size_t)(m->count - before));
    m->first = before;
}

/* Sends what has begun.  True once our communicator is there, and has taken all. */
static bool send_on(cco_match *m)
{
    int over = 0;
    while (PMPI_Test(&m->request, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS && over) {
        m->there = true;
        if (m->rank == 0 || m->first == m->count)
            return true;
        m->sent = m->own[0];
        match_forget(m, m->first + 1);
        PMPI_Isend(&m->sent, (int)sizeof m->sent, MPI_BYTE, 0, TAG_SIGNATURE, m->comm, &m->request);
    }
    return false;
}

static cco_match *match_add(MPI_Comm comm)
{
    cco_match *m = match_memory(NULL, sizeof *m);
    *m = (cco_match){.comm = comm, .request = MPI_REQUEST_NULL, .twin = MPI_COMM_NULL};
    pthread_mutex_lock(&lock);
    m->next = all;
    all = m;
    pthread_mutex_unlock(&lock);
    return m;
}

/* The last one that is to be of `comm`, which MPI_Comm_idup makes. */
static cco_match *twin_of(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    cco_match *m = all;
    while (m != NULL && m->twin != comm)
        m = m->next;
    pthread_mutex_unlock(&lock);
    return m;
}

/* The state may get its name at any time before its set-up. */
static cco_match *with_name(cco_match *m)
{
    if (m->state != NULL && !m->state->ready)
        cco_comm_read_name(m->state);
    if (m->state != NULL)
        memcpy(m->name, m->state->name, sizeof m->name);
    return m;
}

static void match_push(cco_match *m, const cco_signature *signature)
{
    const size_t kept = (size_t)(m->count - m->first);
    if (kept == m->room) {
        m->room = m->room > 0 ? 2 * m->room : 16;
        m->own = match_memory(m->own, sizeof *m->own * m->room);
    }
    m->own[kept] = *signature;
    m->count++;
}

static const cco_signature no_more = {
    .coll = CCO_SIGNATURE_END, .begun = CCO_SIGNATURE_STARTS, .root = -1, .bytes = -1};

static void match_finish(cco_match *m)
{
    m->twin = MPI_COMM_NULL;
    if (!m->ended)
        match_push(with_name(m), &no_more);
    m->ended = true;
}

static void match_poll(void);

/* What the program has freed is still compared: rank 0 may not know yet what all others began. */
static void match_release(void *data)
{
    holder *h = data;
    pthread_mutex_lock(&lock);
    if (h->m != NULL) {
        match_finish(h->m);
        h->m->state = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(h);
    match_poll();
}

static void match_set_up(cco_comm *state)
{
    if (cco_comm_attached(state, &here) != NULL)
        return;
    cco_match *m = twin_of(state->comm);
    const MPI_Comm comm = m != NULL || cco_ulfm() ? MPI_COMM_NULL : cco_comm_copy(state->comm);
    holder *h = cco_comm_attach(state, &here, sizeof *h, match_release);
    if (m == NULL && comm == MPI_COMM_NULL) {
        if (state->rank == 0) /* its waits would take a failure for a mismatch */
            cco_log(CCO_LOG_WARN, "CRESTA_DEBUG=match does not look at communicator '%s': %s",
                    state->name,
                    cco_ulfm() ? CCO_ULFM_GOES_ON : "the MPI makes no more communicators");
        return;
    }
    if (m == NULL)
        m = match_add(comm);
    m->twin = MPI_COMM_NULL;
    m->rank = state->rank;
    m->size = state->size;
    m->made = match_zeros(m->size, sizeof *m->made);
    m->theirs = match_zeros(m->size, sizeof *m->theirs);
    m->state = state;
    h->m = m;
    state->watched |= CCO_WATCHED_MATCH;
}

static cco_match *of_state(const cco_comm *state)
{
    const holder *h = state != NULL ? cco_comm_attached(state, &here) : NULL;
    return h != NULL ? h->m : NULL;
}

static void match_duplicates(MPI_Comm comm, MPI_Comm made)
{
    cco_match *of = comm != MPI_COMM_NULL ? of_state(cco_comm_find(comm)) : NULL;
    if (of == NULL && comm != MPI_COMM_NULL)
        of = twin_of(comm);
    if (of == NULL)
        return;
    for (int tries = 0; !of->there; cco_pause_after_mpi(&tries)) { /* all ranks have begun it */
        pthread_mutex_lock(&lock);
        send_on(of);
        pthread_mutex_unlock(&lock);
    }
    cco_match *m = match_add(MPI_COMM_NULL);
    if (PMPI_Comm_idup(of->comm, &m->comm, &m->request) == MPI_SUCCESS)
        m->twin = made;
    else
        m->ended = true;
}

static void match_freed(MPI_Comm comm)
{
    cco_match *m = all != NULL && comm != MPI_COMM_NULL ? twin_of(comm) : NULL;
    if (m == NULL)
        return;
    pthread_mutex_lock(&lock);
    match_finish(m);
    pthread_mutex_unlock(&lock);
}

/* The state of `comm`, which gets one in its first call if MPI_Comm_idup has made it. */
static cco_comm *with_twin(MPI_Comm comm, cco_comm *state)
{
    if (all == NULL || of_state(state) != NULL || twin_of(comm) == NULL)
        return state;
    if (state == NULL)
        state = cco_comm_create(comm);
    if (state != NULL)
        match_set_up(state);
    return state;
}

/* --- rank 0 --- */

/* Calls that all ranks have made. */
static void drop_made(cco_match *m)
{
    uint64_t least = m->count;
    for (int r = 1; r < m->size; r++)
        least = m->made[r] < least ? m->made[r] : least;
    match_forget(m, least);
}

/* Takes what a rank has made of the calls that this one has made.  The last of these, if it blocks,
 * is compared when all have come. */
static void match_take_from(cco_match *m, int rank)
{
    while (m->made[rank] < m->count) {
        cco_signature *got = &m->theirs[rank];
        int there = 0;
        if (PMPI_Iprobe(rank, TAG_SIGNATURE, m->comm, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            !there)
            return;
        if (PMPI_Recv(got, (int)sizeof *got, MPI_BYTE, rank, TAG_SIGNATURE, m->comm,
                      MPI_STATUS_IGNORE) != MPI_SUCCESS)
            cco_fatal("CRESTA_DEBUG=match: the MPI's receive failed");
        const uint64_t number = m->made[rank]++;
        const cco_signature *own = &m->own[number - m->first];
        const bool waits = number + 1 == m->count && !own->begun;
        if (!waits && !cco_signature_same(own, got))
            cco_match_tell_begun(with_name(m), rank, number, own, got);
    }
}

static bool match_take_all(cco_match *m)
{
    bool complete = true;
    for (int r = 1; r < m->size; r++) {
        match_take_from(m, r);
        complete = complete && m->made[r] == m->count;
    }
    return complete;
}

/* Which two ranks do not agree on what passes between them. */
static void match_find_pair(cco_match *m, const cco_call *call)
{
    const int size = m->size;
    const size_t width = 2 * (size_t)size;
    int64_t *rows = match_memory(NULL, sizeof *rows * width * (size_t)size);
    cco_signature_row(m->state, call, rows);
    for (int r = 1; r < size; r++) {
        const int word = SEND_ROWS;
        PMPI_Send(&word, 1, MPI_INT, r, TAG_VERDICT, m->comm);
        PMPI_Recv(rows + (size_t)r * width, (int)width, MPI_INT64_T, r, TAG_ROW, m->comm,
                  MPI_STATUS_IGNORE);
    }
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++) {
            const int64_t given = rows[(size_t)from * width + (size_t)to];
            const int64_t taken = rows[(size_t)to * width + (size_t)size + (size_t)from];
            if (given != taken)
                cco_fatal("the ranks of communicator '%s' (%d ranks) do not agree in MPI_%s (call "
                          "%llu there): rank %d sends %lld bytes to rank %d, which expects %lld",
                          with_name(m)->name, size, cco_coll_infos[call->coll].mpi_name,
                          (unsigned long long)m->count, from, (long long)given, to,
                          (long long)taken);
        }
    cco_fatal("the ranks of communicator '%s' do not agree on the counts of MPI_%s",
              with_name(m)->name, cco_coll_infos[call->coll].mpi_name);
}

static void match_judge(cco_match *m, const cco_call *call)
{
    uint64_t pairs = 0;
    for (int r = 0; r < m->size; r++) {
        pairs += m->theirs[r].pairs;
        if (!cco_signature_same(&m->theirs[0], &m->theirs[r]))
            cco_match_tell_all(with_name(m));
    }
    if (pairs != 0)
        match_find_pair(m, call);
}

static bool match_is_late(double since, bool *told)
{
    const double now = 1e-9 * (double)cco_ns(CLOCK_MONOTONIC);
    if (*told || now - since < (double)cco_configured.debug.match)
        return false;
    return *told = true;
}

static void wait_as_first(cco_match *m, const char *name, const cco_call *call,
                          const cco_signature *mine)
{
    const double start = 1e-9 * (double)cco_ns(CLOCK_MONOTONIC);
    bool told = false;
    pthread_mutex_lock(&lock);
    match_push(m, mine);
    m->theirs[0] = *mine;
    pthread_mutex_unlock(&lock);
    for (int tries = 0; !match_take_all(m); cco_pause_after_mpi(&tries))
        if (match_is_late(start, &told))
            cco_match_tell_late(with_name(m), name);
    match_judge(m, call);
    for (int r = 1; r < m->size; r++) {
        const int word = GO_ON;
        PMPI_Send(&word, 1, MPI_INT, r, TAG_VERDICT, m->comm);
    }
}

/* --- the others --- */

static void send_row(const cco_match *m, const cco_call *call)
{
    const size_t width = 2 * (size_t)m->size;
    int64_t *row = match_memory(NULL, sizeof *row * width);
    cco_signature_row(m->state, call, row);
    PMPI_Send(row, (int)width, MPI_INT64_T, 0, TAG_ROW, m->comm);
    free(row);
}

static void wait_as_other(cco_match *m, const char *name, const cco_call *call,
                          const cco_signature *mine)
{
    const double start = 1e-9 * (double)cco_ns(CLOCK_MONOTONIC);
    bool told = false;
    int word = SEND_ROWS, over;
    MPI_Request send, verdict;
    PMPI_Isend(mine, (int)sizeof *mine, MPI_BYTE, 0, TAG_SIGNATURE, m->comm, &send);
    while (word == SEND_ROWS) {
        PMPI_Irecv(&word, 1, MPI_INT, 0, TAG_VERDICT, m->comm, &verdict);
        over = 0;
        for (int tries = 0; !over; cco_pause_after_mpi(&tries)) {
            if (PMPI_Test(&verdict, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS)
                cco_fatal("CRESTA_DEBUG=match: the MPI's receive failed");
            if (!over && match_is_late(start, &told))
                cco_match_tell_late(with_name(m), name);
        }
        if (word == SEND_ROWS)
            send_row(m, call);
    }
    cco_wait(&send);
}

static void match_compare(cco_match *m, const char *name, const cco_call *call,
                          const cco_signature *mine)
{
    for (int tries = 0; !m->busy; cco_pause_after_mpi(&tries)) {
        pthread_mutex_lock(&lock);
        m->busy = send_on(m);
        pthread_mutex_unlock(&lock);
    }
    if (m->rank == 0)
        wait_as_first(m, name, call, mine);
    else
        wait_as_other(m, name, call, mine);
    pthread_mutex_lock(&lock);
    if (m->rank == 0)
        drop_made(m);
    m->busy = false;
    pthread_mutex_unlock(&lock);
}

static void match_before(cco_comm *state, const cco_call *call)
{
    const bool valid = cco_arguments_valid(state, call);
    const cco_signature mine = cco_signature_of(state, call, valid, CCO_SIGNATURE_BLOCKS);
    cco_where_impl("CRESTA_DEBUG=match");
    match_compare(of_state(state), cco_coll_infos[call->coll].mpi_name, call, &mine);
}

/* The call itself is compared once more, when its arguments are known, and counts once. */
static void match_first(MPI_Comm comm, cco_coll coll)
{
    const cco_signature mine = {.coll = (int64_t)coll, .root = -1, .bytes = -1};
    cco_match *m = of_state(with_twin(comm, cco_comm_find(comm)));
    if (m == NULL)
        return;
    match_compare(m, cco_coll_infos[coll].mpi_name, NULL, &mine);
    for (int r = 1; m->rank == 0 && r < m->size; r++)
        m->made[r]--;
    m->first -= m->rank == 0;
    m->count -= m->rank == 0;
}

/* True once nothing is left to compare. */
static bool match_go_on(cco_match *m)
{
    if (m->busy || !send_on(m)) /* a thread in a call of ours there does so */
        return false;
    if (m->rank == 0) {
        match_take_all(m);
        drop_made(m);
    }
    return m->ended && m->count == m->first;
}

static void match_started(cco_comm *state, const cco_call *call, bool persistent)
{
    enum { MANY = 64 }; /* kept before they are compared, in programs that hardly wait */
    cco_match *m = state != NULL ? of_state(with_twin(call->comm, state)) : NULL;
    if (m == NULL)
        return;
    const cco_signature mine = cco_signature_of(state, call, cco_arguments_valid(state, call),
                                                persistent ? CCO_SIGNATURE_PERSISTS
                                                           : CCO_SIGNATURE_STARTS);
    pthread_mutex_lock(&lock);
    match_push(m, &mine);
    if (state->rank != 0 || m->count - m->first >= MANY)
        match_go_on(m);
    pthread_mutex_unlock(&lock);
}

static void match_drop(cco_match *m)
{
    holder *h = m->state != NULL ? cco_comm_attached(m->state, &here) : NULL;
    if (h != NULL) {
        h->m = NULL;
        m->state->watched &= ~(unsigned)CCO_WATCHED_MATCH;
    }
    if (m->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&m->comm);
    free(m->own);
    free(m->made);
    free(m->theirs);
    free(m);
}

/* What has come to rank 0 meanwhile is compared.
 * Open MPI must not lose a communicator of which it makes another one: those lie behind theirs. */
static void match_poll(void)
{
    bool there = true;
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    for (cco_match **at = &all; *at != NULL;) {
        cco_match *m = *at;
        const bool over = match_go_on(m) && there;
        there = there && m->there;
        if (!over) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        match_drop(m);
    }
    pthread_mutex_unlock(&lock);
}

/* One that is not `last`. */
static const cco_match *other_than(const cco_match *last)
{
    return all != last || last == NULL ? all : last->next;
}

/* MPI_COMM_WORLD is compared last: Open MPI's launcher may crash where a rank ends the job while
 * others are in the MPI's own end. */
static void match_end(void)
{
    const cco_comm *world = cco_comm_find(MPI_COMM_WORLD);
    cco_match *last = of_state(world);
    const double start = 1e-9 * (double)cco_ns(CLOCK_MONOTONIC);
    bool told = false;
    if (world != NULL && world->failure.error != MPI_SUCCESS)
        return;
    for (cco_match *m = all; m != NULL; m = m->next)
        if (m != last)
            match_finish(m);
    match_poll();
    for (int tries = 0; other_than(last) != NULL; cco_pause_after_mpi(&tries)) {
        match_poll();
        if (other_than(last) != NULL && match_is_late(start, &told))
            cco_match_tell_late(other_than(last), "Finalize");
    }
    if (last == NULL)
        return;
    match_compare(last, "Finalize", NULL, &no_more);
    last->ended = true;
}

static bool match_read(char *error, size_t room)
{
    (void)error, (void)room;
    if (cco_configured.debug.match > 0)
        cco_observe_switch(&cco_observer_match, 1);
    return true;
}

static void match_comm_made(MPI_Comm comm)
{
    cco_comm *state = cco_comm_find(comm);
    if (state == NULL)
        state = cco_comm_create(comm);
    if (state != NULL && !state->inter)
        match_set_up(state);
}

const cco_observer cco_observer_match = {.read = match_read,
                                         .poll = match_poll,
                                         .job_last = match_end,
                                         .comm_made = match_comm_made,
                                         .comm_duplicates = match_duplicates,
                                         .comm_freed = match_freed,
                                         .comm_met = match_first,
                                         .comm_ready = match_set_up,
                                         .before = match_before,
                                         .started = match_started};
