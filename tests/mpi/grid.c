/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c - alltoallw on communicators with topologies, blocking and begun.  Open MPI takes as many
 * types as a rank has neighbours (docs/mpi-defects.md): here they are more than the ranks, behind
 * which memory is that cannot be read, or fewer, and the types are freed while they are needed.
 *
 *     grid IMPL,...
 *     grid_plain IMPL,...    under the preload library, communicators of these names
 */
#define _DEFAULT_SOURCE
#include "choose.h"

#include <sys/mman.h>

enum { RANKS = 8, N = 3, TYPES = 64 };

static int rank, size;

/* `n` bytes at the end of what can be read. */
static void *last_bytes(size_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0)
        abort();
    return pages + page - n;
}

/* Every second integer, so that a type is needed. */
static MPI_Datatype make_type(void)
{
    MPI_Datatype type;
    MPI_Type_vector(N, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

typedef struct exchange {
    int in[RANKS + 1][2 * N], out[RANKS + 1][2 * N]; /* the first is nobody's */
    int *counts, *at;
    MPI_Datatype *sends, *recvs;
} exchange;

static void make(exchange *x)
{
    x->counts = last_bytes((size_t)size * sizeof(int));
    x->at = last_bytes((size_t)size * sizeof(int));
    x->sends = last_bytes((size_t)size * sizeof(MPI_Datatype));
    x->recvs = last_bytes((size_t)size * sizeof(MPI_Datatype));
    for (int i = 0; i < size; i++) {
        x->counts[i] = 1;
        x->at[i] = (i + 1) * (int)sizeof x->in[0];
        x->sends[i] = make_type();
        x->recvs[i] = make_type();
        for (int k = 0; k < 2 * N; k++)
            x->in[i + 1][k] = 100 * rank + 10 * i + k, x->out[i + 1][k] = -1;
    }
}

static void check(const exchange *x)
{
    for (int i = 0; i < size; i++)
        for (int k = 0; k < 2 * N; k++) {
            const int right = k % 2 == 0 ? 100 * i + 10 * rank + k : -1;
            CHECK(x->out[i + 1][k] == right, "%d of rank %d: %d, not %d", k, i, x->out[i + 1][k],
                  right);
        }
}

static void free_types(exchange *x)
{
    for (int i = 0; i < size; i++) {
        MPI_Type_free(&x->sends[i]);
        MPI_Type_free(&x->recvs[i]);
    }
}

static void blocking(MPI_Comm comm)
{
    exchange x;
    make(&x);
#ifdef PLAIN_MPI
    MPI_Alltoallw(x.in, x.counts, x.at, x.sends, x.out, x.counts, x.at, x.recvs, comm);
#else
    CRESTA_Alltoallw(x.in, x.counts, x.at, x.sends, x.out, x.counts, x.at, x.recvs, comm);
#endif
    check(&x);
    free_types(&x);
}

#ifndef PLAIN_MPI
/* The types are freed, and others made where they were; the other ranks begin later. */
static void begun(MPI_Comm comm)
{
    exchange x;
    MPI_Request request;
    MPI_Datatype others[TYPES];
    make(&x);
    for (int i = 0; i < rank; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    CRESTA_Alltoallw_begin(x.in, x.counts, x.at, x.sends, x.out, x.counts, x.at, x.recvs, comm,
                           &request);
    free_types(&x);
    for (int i = 0; i < TYPES; i++) {
        MPI_Type_vector(2, 1, 4, MPI_SHORT, &others[i]);
        MPI_Type_commit(&others[i]);
    }
    for (int i = rank; i < size; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    CRESTA_Coll_end(1, &request);
    check(&x);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&others[i]);
}
#endif

static void on(MPI_Comm comm, const char *topology, const char *impl)
{
    snprintf(testing_label, sizeof testing_label, "%s, blocking", topology);
    choose(comm, impl);
    blocking(comm);
    blocking(comm);
#ifndef PLAIN_MPI
    snprintf(testing_label, sizeof testing_label, "%s, begun", topology);
    begun(comm);
#endif
    MPI_Comm_free(&comm);
}

static void run(const char *impl)
{
    MPI_Comm comm;
    const int line[] = {size}, solid[] = {size, 1, 1, 1}, no[] = {0, 0, 0, 0}, yes[] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, line, yes, 0, &comm);
    on(comm, "a ring", impl);
    MPI_Cart_create(MPI_COMM_WORLD, 4, solid, no, 0, &comm);
    on(comm, "four dimensions", impl);
    int many[4 * RANKS]; /* neighbours may come more than once */
    for (int i = 0; i < 4 * size; i++)
        many[i] = i % size;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4 * size, many, many, 4 * size, many, many,
                                   MPI_INFO_NULL, 0, &comm);
    on(comm, "a graph", impl);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, many, many, 0, many, many, MPI_INFO_NULL, 0,
                                   &comm);
    on(comm, "a graph without edges", impl);
}

int main(int argc, char **argv)
{
    testing_watchdog(40);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_each(argc > 1 ? argv[1] : "nonblock", run);
    MPI_Finalize();
    return testing_end("grid");
}
