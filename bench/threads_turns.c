/* SPDX-License-Identifier: BSD-3-Clause */
/* threads_turns.c - the threads of crestacoll-threads, and their calls. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crestacoll.h"
#include "cresta_sp_coll.h"
#include "threads.h"

enum { APART = 4096 }; /* bytes between what two threads write, at least */

/* What a thread does in a turn; in lines of its own. */
struct worker {
    pthread_t thread;
    struct way *way; /* NULL: it ends */
    int calls, turn; /* turns that it knows of */
    double start, end;
} __attribute__((aligned(256)));

static struct worker workers[THREADS_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begins = PTHREAD_COND_INITIALIZER, ends = PTHREAD_COND_INITIALIZER;
static int busy;

static char *piece(void *memory, int thread)
{
    return (char *)memory + (size_t)thread * (BYTES_MOST * 2 + APART);
}

#define BLOCKING(Name, ...) (w->own ? PMPI_##Name(__VA_ARGS__) : CRESTA_##Name(__VA_ARGS__))
#define BEGUN(Name, ...)                                                                           \
    (w->own ? (PMPI_I##Name(__VA_ARGS__, &request), PMPI_Wait(&request, MPI_STATUS_IGNORE))        \
            : end(begin_##Name(__VA_ARGS__, &request), &request))
#define CALL(function, Name, name, ...)                                                            \
    static int function(const struct way *w, int thread)                                           \
    {                                                                                              \
        MPI_Request request;                                                                       \
        void *in = piece(w->in, thread), *out = piece(w->out, thread);                             \
        const MPI_Comm comm = w->comms[thread];                                                    \
        const int n = w->count;                                                                    \
        (void)in, (void)out, (void)n;                                                              \
        return w->begun ? BEGUN(name, __VA_ARGS__) : BLOCKING(Name, __VA_ARGS__);                  \
    }

static int end(int rc, MPI_Request *request)
{
    return rc == MPI_SUCCESS ? CRESTA_Coll_end(1, request) : rc;
}

#define begin_allreduce CRESTA_Allreduce_begin
#define begin_alltoall CRESTA_Alltoall_begin
#define begin_bcast CRESTA_Bcast_begin
#define begin_barrier CRESTA_Barrier_begin

CALL(allreduce, Allreduce, allreduce, in, out, n, MPI_DOUBLE, MPI_SUM, comm)
CALL(alltoall, Alltoall, alltoall, in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm)
CALL(bcast, Bcast, bcast, out, n, MPI_DOUBLE, 0, comm)
CALL(barrier, Barrier, barrier, comm)

static const struct {
    const char *name;
    int (*call)(const struct way *, int thread);
} calls_of[] = {
    {"allreduce", allreduce}, {"alltoall", alltoall}, {"bcast", bcast}, {"barrier", barrier}};

static void make_calls(const struct worker *me, int thread)
{
    const struct way *way = me->way;
    for (int i = 0; i < me->calls; i++)
        if (way->call(way, thread) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
}

/* callgrind counts the instructions in here. */
__attribute__((noinline)) static void make_counted_calls(const struct worker *me, int thread)
{
    locks_of_calls(1);
    make_calls(me, thread);
    locks_of_calls(0);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void take_part(struct worker *me, int thread)
{
    me->start = now();
    (me->way->counted ? make_counted_calls : make_calls)(me, thread);
    me->end = now();
}

int threads_open(struct way *w, const char *collective, int bytes, int threads)
{
    static const char begin[] = "begin:";
    const size_t memory = (size_t)(piece(NULL, threads) - (char *)NULL);
    const char *impl = w->name;
    char spec[256];
    w->begun = strncmp(impl, begin, strlen(begin)) == 0;
    if (w->begun)
        impl += strlen(begin);
    w->own = strcmp(impl, "mpi") == 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &w->ranks);
    for (size_t i = 0; i < sizeof calls_of / sizeof calls_of[0]; i++)
        if (strcmp(calls_of[i].name, collective) == 0)
            w->call = calls_of[i].call;
    w->count = bytes / 8;
    if (strcmp(collective, "alltoall") == 0)
        w->count = w->count / w->ranks > 0 ? w->count / w->ranks : 1;
    w->in = aligned_alloc(APART, memory);
    w->out = aligned_alloc(APART, memory);
    if (w->call == NULL || w->in == NULL || w->out == NULL)
        return 0;
    memset(w->in, 0, memory);
    memset(w->out, 0, memory);
    snprintf(spec, sizeof spec, "*=%s", impl);
    for (int t = 0; t < threads; t++) {
        PMPI_Comm_dup(MPI_COMM_WORLD, &w->comms[t]);
        PMPI_Comm_set_errhandler(w->comms[t], MPI_ERRORS_RETURN);
        if (!w->own && CRESTA_Set_impl(w->comms[t], spec) != MPI_SUCCESS)
            return 0;
        for (int i = 0; i < 3; i++)
            if (w->call(w, t) != MPI_SUCCESS)
                return 0;
        if (!w->own)
            CRESTA_Barrier(w->comms[t]); /* makes begins ready */
    }
    return 1;
}

void threads_close(struct way *w, int threads)
{
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&w->comms[t]);
    free(w->in);
    free(w->out);
}

static void *thread_main(void *argument)
{
    struct worker *me = argument;
    const int thread = (int)(me - workers);
    for (int turn = 1;; turn++) {
        pthread_mutex_lock(&lock);
        while (me->turn < turn)
            pthread_cond_wait(&begins, &lock);
        pthread_mutex_unlock(&lock);
        if (me->way == NULL)
            return NULL;
        take_part(me, thread);
        pthread_mutex_lock(&lock);
        if (--busy == 0)
            pthread_cond_signal(&ends);
        pthread_mutex_unlock(&lock);
    }
}

void threads_start(int threads)
{
    for (int t = 1; t < threads; t++)
        if (pthread_create(&workers[t].thread, NULL, thread_main, &workers[t]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
}

static void tell(struct way *way, int threads, int calls)
{
    pthread_mutex_lock(&lock);
    for (int t = 0; t < threads; t++) {
        workers[t].way = way;
        workers[t].calls = calls / threads;
        workers[t].turn++;
    }
    busy = threads - 1;
    pthread_cond_broadcast(&begins);
    pthread_mutex_unlock(&lock);
}

void threads_stop(int threads)
{
    tell(NULL, threads, 0);
    for (int t = 1; t < threads; t++)
        pthread_join(workers[t].thread, NULL);
}

double threads_turn(struct way *way, int threads, int calls)
{
    tell(way, threads, calls);
    take_part(&workers[0], 0);
    pthread_mutex_lock(&lock);
    while (busy > 0)
        pthread_cond_wait(&ends, &lock);
    pthread_mutex_unlock(&lock);
    double start = workers[0].start, end = workers[0].end;
    for (int t = 1; t < threads; t++) {
        start = workers[t].start < start ? workers[t].start : start;
        end = workers[t].end > end ? workers[t].end : end;
    }
    return end - start;
}
