/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - MPI_THREAD_MULTIPLE: two threads, two communicators, collectives at once; results
 * stay apart.
 *
 *     threads IMPL
 */
#include "call.h"
#include "testing/testing.h"

#include <pthread.h>

enum { THREADS = 2, ROUNDS = 60 };

struct work {
    MPI_Comm comm;
    int factor, rank, size, wrong;
};

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
    for (int k = 0; k < ROUNDS; k++)
        round_of(w, k);
    return NULL;
}

int main(int argc, char **argv)
{
    char spec[128];
    int provided;
    pthread_t threads[THREADS];
    struct work works[THREADS];
    testing_watchdog(80);
    snprintf(spec, sizeof spec, "*=%s", argc > 1 ? argv[1] : "mpi");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (testing_rank == 0)
            printf("left out: this MPI provides no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    for (int t = 0; t < THREADS;
         t++) { /* states are made in the threads, by the first blocking call */
        works[t] = (struct work){.factor = 1 + 1000 * t};
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
    MPI_Finalize();
    return testing_end("threads");
}
