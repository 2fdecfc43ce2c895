/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes_sizes.c - messages about as long as the rings through which they go within a node, and
 * nothing at all: model hier on several nodes (CRESTA_NODES), blocking and begun calls.
 *
 *     nodes_sizes IMPL,...
 */
#include <stdbool.h>
#include <stdint.h>

#include <cresta_sp_coll.h>

#include "choose.h"

enum { MOST = (512 << 10) + 64, RANKS = 5 };

static unsigned char *in, *out;
static int rank, size;
static MPI_Comm comm;

/* Byte `i` of what rank `from` gives to rank `to`. */
static unsigned char value(int from, int to, int i)
{
    return (unsigned char)(((unsigned)i * 2654435761u + (unsigned)(31 * from + 7 * to)) >> 16);
}

static int finish(int rc, bool begun, MPI_Request *request)
{
    return rc == MPI_SUCCESS && begun ? CRESTA_Coll_end(1, request) : rc;
}

static void bcast(int n, bool begun)
{
    MPI_Request request;
    const int root = n % size;
    int wrong = 0, rc;
    for (int i = 0; i < n; i++)
        out[i] = rank == root ? value(root, 0, i) : 0;
    rc = begun ? CRESTA_Bcast_begin(out, n, MPI_BYTE, root, comm, &request)
               : CRESTA_Bcast(out, n, MPI_BYTE, root, comm);
    rc = finish(rc, begun, &request);
    for (int i = 0; i < n; i++)
        wrong += out[i] != value(root, 0, i);
    CHECK(rc == MPI_SUCCESS && wrong == 0, "bcast of %d bytes: error %d, %d are wrong", n, rc,
          wrong);
}

/* To each rank `n` bytes, or none, or one more, also to itself. */
static int share(int n, int from, int to)
{
    return (from + to) % 3 == 2 ? 0 : n + (from + 2 * to) % 2;
}

static void alltoallv(int n, bool begun)
{
    int counts[2][RANKS], places[2][RANKS], at[2] = {0, 0}, wrong = 0, rc;
    MPI_Request request;
    for (int i = 0; i < size; i++) {
        counts[0][i] = share(n, rank, i), counts[1][i] = share(n, i, rank);
        for (int k = 0; k < 2; k++)
            places[k][i] = at[k], at[k] += counts[k][i];
        for (int b = 0; b < counts[0][i]; b++)
            in[places[0][i] + b] = value(rank, i, b);
    }
    memset(out, 0, (size_t)at[1]);
    rc = begun ? CRESTA_Alltoallv_begin(in, counts[0], places[0], MPI_BYTE, out, counts[1],
                                        places[1], MPI_BYTE, comm, &request)
               : CRESTA_Alltoallv(in, counts[0], places[0], MPI_BYTE, out, counts[1], places[1],
                                  MPI_BYTE, comm);
    rc = finish(rc, begun, &request);
    for (int i = 0; i < size; i++)
        for (int b = 0; b < counts[1][i]; b++)
            wrong += out[places[1][i] + b] != value(i, rank, b);
    CHECK(rc == MPI_SUCCESS && wrong == 0, "alltoallv of %d bytes: error %d, %d are wrong", n, rc,
          wrong);
}

static void run(const char *impl)
{
    /* Rings of blocking and of begun calls, their parts, and both of them together. */
    static const int rings[] = {0, 64, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10};
    static const int more[] = {-64, -1, 0, 1};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm, impl);
    for (int i = 0; i < LEN(rings) * LEN(more); i++)
        for (int begun = 0; begun < 2; begun++) {
            const int n = rings[i / LEN(more)] + more[i % LEN(more)];
            if (n < 0)
                continue;
            snprintf(testing_label, sizeof testing_label, "%d bytes%s", n, begun ? ", begun" : "");
            bcast(n, begun);
            alltoallv(n, begun);
        }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int level;
    testing_watchdog(60);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    in = malloc((size_t)RANKS * MOST);
    out = malloc((size_t)RANKS * MOST);
    if (CHECK(size <= RANKS, "%d ranks, room for %d", size, RANKS))
        testing_each(argc > 1 ? argv[1] : "hier", run);
    free(in);
    free(out);
    MPI_Finalize();
    return testing_end("nodes_sizes");
}
