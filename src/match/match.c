/* SPDX-License-Identifier: BSD-3-Clause */
/* match.c - see match.h. */
#include "match/match.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/channel.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/log.h"
#include "core/pause.h"
#include "core/ulfm.h"
#include "core/wait.h"
#include "core/whereabouts.h"
#include "match/comparison.h"
#include "match/told_match.h"

enum { TAG_SIGNATURE = 1, TAG_VERDICT = 2, TAG_ROW = 3 };

enum { GO_ON, SEND_ROWS }; /* what rank 0 says */

static const char here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and of `own` */
static cco_match *all;

static bool take_all(cco_match *m);

static void *memory(void *old, size_t bytes)
{
    void *made = realloc(old, bytes);
    if (made == NULL)
        cco_fatal("no memory for CRESTA_DEBUG=match");
    return made;
}

/* What the MPI has taken is forgotten. */
static void forget_sent(cco_match *m)
{
    for (cco_match_sent **at = &m->sent; *at != NULL;) {
        cco_match_sent *s = *at;
        int over = 0;
        PMPI_Test(&s->request, &over, MPI_STATUS_IGNORE);
        if (!over) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        free(s);
    }
}

static bool is_quiet(const cco_match *m)
{
    bool quiet = m->sent == NULL;
    for (int r = 1; m->made != NULL && r < m->state->size; r++)
        quiet = quiet && m->made[r] == m->count;
    return quiet;
}

/* A communicator with a message that nobody has taken is never freed: its number might come to mean
 * another one. */
static void release(void *data)
{
    cco_match *m = data;
    pthread_mutex_lock(&lock);
    for (cco_match **at = &all; *at != NULL; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (m->comm != MPI_COMM_NULL) {
        forget_sent(m);
        if (m->made != NULL)
            take_all(m);
        if (is_quiet(m))
            PMPI_Comm_free(&m->comm);
    }
    free(m->own);
    free(m->made);
    free(m->theirs);
    free(m);
}

void cco_match_set_up(cco_comm *state)
{
    if (cco_comm_attached(state, &here) != NULL)
        return;
    if (cco_ulfm()) { /* its waits would take a failure for a mismatch */
        if (state->rank == 0)
            cco_log(CCO_LOG_WARN, "CRESTA_DEBUG=match does not look at communicator '%s': %s",
                    state->name, CCO_ULFM_GOES_ON);
        return;
    }
    cco_match *m = cco_comm_attach(state, &here, sizeof *m, release);
    m->state = state;
    m->comm = cco_comm_copy(state->comm);
    if (m->comm == MPI_COMM_NULL) {
        if (state->rank == 0)
            cco_log(CCO_LOG_WARN,
                    "CRESTA_DEBUG=match does not look at communicator '%s': the MPI "
                    "makes no more communicators",
                    state->name);
        return;
    }
    if (state->rank == 0) {
        m->made = memory(NULL, sizeof *m->made * (size_t)state->size);
        m->theirs = memory(NULL, sizeof *m->theirs * (size_t)state->size);
        memset(m->made, 0, sizeof *m->made * (size_t)state->size);
        memset(m->theirs, 0, sizeof *m->theirs * (size_t)state->size);
    }
    pthread_mutex_lock(&lock);
    m->next = all;
    all = m;
    pthread_mutex_unlock(&lock);
    state->watched |= CCO_WATCHED_MATCH;
}

/* Before the set-up of a communicator, the name that it has by now. */
static const cco_match *with_name(const cco_match *m)
{
    if (!m->state->ready)
        cco_comm_read_name(m->state);
    return m;
}

/* --- rank 0 --- */

static void push(cco_match *m, const cco_signature *signature)
{
    const size_t kept = (size_t)(m->count - m->first);
    if (kept == m->room) {
        m->room = m->room > 0 ? 2 * m->room : 16;
        m->own = memory(m->own, sizeof *m->own * m->room);
    }
    m->own[kept] = *signature;
    m->count++;
}

/* Calls that all ranks have made. */
static void drop_made(cco_match *m)
{
    uint64_t least = m->count;
    for (int r = 1; r < m->state->size; r++)
        least = m->made[r] < least ? m->made[r] : least;
    const size_t kept = (size_t)(m->count - least);
    if (least > m->first)
        memmove(m->own, m->own + (least - m->first), sizeof *m->own * kept);
    m->first = least;
}

/* Takes what a rank has made of the calls that this one has made.  The last of these, if it blocks,
 * is compared when all have come. */
static void take_from(cco_match *m, int rank)
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

static bool take_all(cco_match *m)
{
    bool complete = true;
    for (int r = 1; r < m->state->size; r++) {
        take_from(m, r);
        complete = complete && m->made[r] == m->count;
    }
    return complete;
}

/* Which two ranks do not agree on what passes between them. */
static void find_pair(cco_match *m, const cco_call *call)
{
    const int size = m->state->size;
    const size_t width = 2 * (size_t)size;
    int64_t *rows = memory(NULL, sizeof *rows * width * (size_t)size);
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
                          m->state->name, size, cco_coll_infos[call->coll].mpi_name,
                          (unsigned long long)m->count, from, (long long)given, to,
                          (long long)taken);
        }
    cco_fatal("the ranks of communicator '%s' do not agree on the counts of MPI_%s", m->state->name,
              cco_coll_infos[call->coll].mpi_name);
}

static void judge(cco_match *m, const cco_call *call)
{
    uint64_t pairs = 0;
    for (int r = 0; r < m->state->size; r++) {
        pairs += m->theirs[r].pairs;
        if (!cco_signature_same(&m->theirs[0], &m->theirs[r]))
            cco_match_tell_all(m);
    }
    if (pairs != 0)
        find_pair(m, call);
}

static bool is_late(double since, bool *told)
{
    const double now = 1e-9 * (double)cco_ns(CLOCK_MONOTONIC);
    if (*told || now - since < (double)cco_configured.debug.match)
        return false;
    return *told = true;
}

/* NULL: the end. */
static const char *name_of(const cco_call *call)
{
    return call != NULL ? cco_coll_infos[call->coll].mpi_name : "Finalize";
}

static void wait_as_first(cco_match *m, const cco_call *call, const cco_signature *mine)
{
    const double start = 1e-9 * (double)cco_ns(CLOCK_MONOTONIC);
    bool told = false;
    pthread_mutex_lock(&lock);
    m->busy = true;
    push(m, mine);
    m->theirs[0] = *mine;
    pthread_mutex_unlock(&lock);
    for (int tries = 0; !take_all(m); cco_pause_after_mpi(&tries))
        if (is_late(start, &told))
            cco_match_tell_late(m, name_of(call));
    judge(m, call);
    pthread_mutex_lock(&lock);
    drop_made(m);
    m->busy = false;
    pthread_mutex_unlock(&lock);
    for (int r = 1; r < m->state->size; r++) {
        const int word = GO_ON;
        PMPI_Send(&word, 1, MPI_INT, r, TAG_VERDICT, m->comm);
    }
}

/* --- the others --- */

static void send_row(const cco_match *m, const cco_call *call)
{
    const size_t width = 2 * (size_t)m->state->size;
    int64_t *row = memory(NULL, sizeof *row * width);
    cco_signature_row(m->state, call, row);
    PMPI_Send(row, (int)width, MPI_INT64_T, 0, TAG_ROW, m->comm);
    free(row);
}

static void wait_as_other(cco_match *m, const cco_call *call, const cco_signature *mine)
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
            if (!over && is_late(start, &told))
                cco_match_tell_late(m, name_of(call));
        }
        if (word == SEND_ROWS)
            send_row(m, call);
    }
    cco_wait(&send);
}

static void compare(cco_match *m, const cco_call *call, const cco_signature *mine)
{
    forget_sent(m);
    if (m->state->rank == 0)
        wait_as_first(m, call, mine);
    else
        wait_as_other(m, call, mine);
}

void cco_match_call(cco_comm *state, const cco_call *call, bool valid)
{
    const cco_signature mine = cco_signature_of(state, call, valid, CCO_SIGNATURE_BLOCKS);
    cco_where_impl("CRESTA_DEBUG=match");
    compare(cco_comm_attached(state, &here), call, &mine);
}

static cco_match *of_state(const cco_comm *state)
{
    return state != NULL && state->watched & CCO_WATCHED_MATCH ? cco_comm_attached(state, &here)
                                                               : NULL;
}

void cco_match_end(void)
{
    cco_match *m = of_state(cco_comm_find(MPI_COMM_WORLD));
    const cco_signature mine = {.coll = CCO_SIGNATURE_END, .root = -1, .bytes = -1};
    if (m != NULL && m->state->error == MPI_SUCCESS)
        compare(m, NULL, &mine);
}

void cco_match_begun(cco_comm *state, const cco_call *call, bool valid, bool persistent)
{
    cco_match *m = of_state(state);
    if (m == NULL)
        return;
    const cco_signature mine = cco_signature_of(
        state, call, valid, persistent ? CCO_SIGNATURE_PERSISTS : CCO_SIGNATURE_STARTS);
    if (state->rank == 0) {
        enum { MANY = 64 }; /* kept before they are compared, in programs that hardly wait */
        pthread_mutex_lock(&lock);
        push(m, &mine);
        if (m->count - m->first >= MANY && !m->busy) {
            take_all(m);
            drop_made(m);
        }
        pthread_mutex_unlock(&lock);
        return;
    }
    forget_sent(m);
    cco_match_sent *s = memory(NULL, sizeof *s);
    *s = (cco_match_sent){.signature = mine, .next = m->sent};
    m->sent = s;
    PMPI_Isend(&s->signature, (int)sizeof s->signature, MPI_BYTE, 0, TAG_SIGNATURE, m->comm,
               &s->request);
}

/* Another thread may be in a call of ours there: it does the same. */
void cco_match_poll(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    for (cco_match *m = all; m != NULL; m = m->next)
        if (m->state->rank == 0 && !m->busy && m->count > m->first) {
            take_all(m);
            drop_made(m);
        }
    pthread_mutex_unlock(&lock);
}
