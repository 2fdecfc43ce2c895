/* SPDX-License-Identifier: BSD-3-Clause */
/* no_memory.c - on one rank the k-th allocation of a call fails, for every k, while the others make
 * the call and go on.  That rank returns an error, and what was sent for it must never be taken for
 * data of a later call: the next ones are right, or return an error too.
 *
 *     no_memory IMPL,...
 */
#include <stdbool.h>

#include <crestacoll.h>

#include "choose.h"

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_malloc(size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

enum { N = 25, RANKS = 8, LATER = 5, ROUND = 150 /* more calls than there are tags for */ };
enum { BCAST, SCATTERV, CALLS };

static const char *const call_names[] = {"bcast", "scatterv"};
static _Thread_local long left = -1; /* allocations until one fails; below 0: none will */
static int rank, size, failed;

static bool fails_now(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails_now() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t n)
{
    return fails_now() ? NULL : __real_calloc(count, n);
}

void *__wrap_realloc(void *old, size_t n)
{
    return fails_now() ? NULL : __real_realloc(old, n);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return fails_now() ? NULL : __real_aligned_alloc(alignment, n);
}

/* Pairs of ints with a gap between them, so that data are packed. */
static MPI_Datatype gaps;

/* What `n` elements from rank 0 come to: ints that say which call they are of.  Its result. */
static int make(MPI_Comm comm, int which, bool begun, int n, int number)
{
    static int out[3 * N], in[3 * RANKS * N], counts[RANKS], places[RANKS];
    MPI_Request request;
    int rc, wrong = 0;
    for (int i = 0; i < 3 * n * size; i++)
        in[i] = number;
    for (int i = 0; i < size; i++)
        counts[i] = n, places[i] = n * i;
    for (int i = 0; i < 3 * n; i++)
        out[i] = which == BCAST && rank == 0 ? number : -1;
    if (which == BCAST)
        rc = begun ? CRESTA_Bcast_begin(out, n, gaps, 0, comm, &request)
                   : CRESTA_Bcast(out, n, gaps, 0, comm);
    else
        rc = begun
                 ? CRESTA_Scatterv_begin(in, counts, places, gaps, out, n, gaps, 0, comm, &request)
                 : CRESTA_Scatterv(in, counts, places, gaps, out, n, gaps, 0, comm);
    if (rc == MPI_SUCCESS && begun)
        rc = CRESTA_Coll_end(1, &request);
    for (int i = 0; i < n; i++)
        wrong += out[3 * i] != number || out[3 * i + 2] != number;
    CHECK(rc != MPI_SUCCESS || wrong == 0, "%d elements are wrong in call %d, one is %d", wrong,
          number, out[0]);
    CHECK(rc == MPI_SUCCESS || failed, "error %d in call %d", rc, number);
    return rc;
}

/* Whether nothing was left to fail in a call of rank `who` whose `k`th allocation fails. */
static bool try(const char *impl, int which, bool begun, int who, long k)
{
    MPI_Comm comm;
    int over;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    choose(comm, impl);
    snprintf(testing_label, sizeof testing_label, "%s, %s, allocation %ld of rank %d",
             call_names[which], begun ? "begun" : "blocking", k, who);
    failed = 0;
    CRESTA_Comm_prepare(comm);
    make(comm, which, begun, 1, 0);
    failed = rank == who;
    left = failed ? k : -1;
    const int rc = make(comm, which, begun, N, 1);
    over = left >= 0;
    left = -1;
    if (rank == who)
        CHECK(rc == MPI_SUCCESS || !over, "error %d although nothing failed", rc);
    failed = failed && rc != MPI_SUCCESS;
    for (int i = 0; i < (k == 0 && strncmp(impl, "p2p", 3) == 0 ? ROUND : LATER); i++) {
        const int later = make(comm, which, begun, N, 2 + i);
        if (strncmp(impl, "p2p", 3) == 0 && i < LATER)
            CHECK(later == MPI_SUCCESS, "call %d has other tags, and fails", 2 + i);
    }
    MPI_Comm_free(&comm);
    MPI_Bcast(&over, 1, MPI_INT, who, MPI_COMM_WORLD);
    return over;
}

static void run(const char *impl)
{
    for (int which = 0; which < CALLS; which++)
        for (int begun = 0; begun < 2; begun++)
            for (int who = 1; who < size; who++) {
                long k = 0;
                while (!try(impl, which, begun, who, k))
                    k++;
                CHECK(k > 0, "no allocation failed");
            }
}

int main(int argc, char **argv)
{
    int level;
    testing_watchdog(60);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of requests of ours, */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);  /* in Open MPI */
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    testing_each(argc > 1 ? argv[1] : "p2p", run);
    MPI_Type_free(&gaps);
    MPI_Finalize();
    return testing_end("no_memory");
}
