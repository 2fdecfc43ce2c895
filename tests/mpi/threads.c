/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - MPI_THREAD_MULTIPLE: two threads, two communicators, collectives at once; results
 * stay apart.
 *
 *     threads IMPL,...
 */
#include "call.h"
#include "testing/testing.h"

#include <pthread.h>

enum { THREADS = 2, ROUNDS = 60, MANY = 64 << 10 };

struct work {
    MPI_Comm comm;
    int factor, rank, size, wrong;
    int in[MANY], out[MANY];
};

/* 256 KiB go in pieces. */
static void large_round(struct work *w, int k)
{
    const int n = MANY / w->size;
    for (int i = 0; i < MANY; i++)
        w->in[i] = w->factor * (w->rank + k + i);
    CRESTA_Allreduce(w->in, w->out, MANY, MPI_INT, MPI_SUM, w->comm);
    for (int i = 0; i < MANY; i++)
        w->wrong += w->out[i] != w->factor * (w->size * (w->size - 1) / 2 + (k + i) * w->size);
    CRESTA_Alltoall(w->in, n, MPI_INT, w->out, n, MPI_INT, w->comm);
    for (int i = 0; i < n * w->size; i++)
        w->wrong += w->out[i] != w->factor * (i / n + k + w->rank * n + i % n);
}

static void round_of(struct work *w, int k)
{
    int mine = w->factor * (w->rank + k), sum = 0, all[64], root = k % w->size,
        word = w->rank == root ? k : -1;
    MPI_Request request;
    CRESTA_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, w->comm);
    w->wrong += sum != w->factor * (w->size * (w->size - 1) / 2 + k * w->size);
    CRESTA_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, w->comm);
    for (int r = 0; r < w->size; r++)
        w->wrong += all[r] != w->factor * (r + k);
    CRESTA_Bcast(&word, 1, MPI_INT, root, w->comm);
    w->wrong += word != k;
    CRESTA_Ibarrier(w->comm, &request);
    wait_politely(&request);
    CRESTA_Barrier(w->comm);
}

static void *thread_main(void *argument)
{
    struct work *w = argument;
    for (int k = 0; k < ROUNDS; k++) {
        round_of(w, k);
        if (k % 10 == 0)
            large_round(w, k);
    }
    return NULL;
}

static void run(const char *impl)
{
    char spec[128];
    pthread_t threads[THREADS];
    static struct work works[THREADS];
    snprintf(spec, sizeof spec, "*=%s", impl);
    for (int t = 0; t < THREADS;
         t++) { /* states are made in the threads, by the first blocking call */
        works[t].factor = 1 + 1000 * t;
        works[t].wrong = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &works[t].comm);
        MPI_Comm_rank(works[t].comm, &works[t].rank);
        MPI_Comm_size(works[t].comm, &works[t].size);
        CHECK(CRESTA_Set_impl(works[t].comm, spec) == MPI_SUCCESS, "%s", spec);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, thread_main, &works[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        CHECK(works[t].wrong == 0, "thread %d: %d wrong results", t, works[t].wrong);
        MPI_Comm_free(&works[t].comm);
    }
}

int main(int argc, char **argv)
{
    int provided;
    testing_watchdog(80);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (testing_rank == 0)
            printf("left out: this MPI provides no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    testing_each(argc > 1 ? argv[1] : "mpi", run);
    MPI_Finalize();
    return testing_end("threads");
}
