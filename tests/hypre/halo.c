/* SPDX-License-Identifier: BSD-3-Clause */
/* halo.c - ghost values as DOLFINx's Scatterer moves them (dolfinx::common::Scatterer), in plain
 * MPI: a graph of owners and of those who have ghosts, as MPI_Dist_graph_create_adjacent makes it,
 * MPI_Neighbor_alltoallv with unlike counts there, MPI_Ineighbor_alltoallv back, where owners add
 * up; ranks that own no ghosts, and one without neighbours.
 *
 *     halo     prints a sum of all values after some rounds, which no implementation may change */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { OWNED = 40, ROUNDS = 6, MOST = 64 };

static int rank, size;

/* Ghosts of rank `of` that rank `owner` owns: none of the last rank, of the others at random. */
static int ghosts(int of, int owner)
{
    const unsigned x = ((unsigned)of * 97u + (unsigned)owner * 31u + 7u) * 2654435761u;
    if (of == owner || size == 1 || of == size - 1 || owner == size - 1)
        return 0;
    return (x >> 20) % 3 == 0 ? 0 : (int)((x >> 8) % 9);
}

/* Those with which this rank exchanges, how many values, and where they begin. */
struct side {
    int n, ranks[MOST], counts[MOST], at[MOST + 1];
};

static void add(struct side *s, int other, int count)
{
    if (count == 0)
        return;
    s->ranks[s->n] = other;
    s->counts[s->n] = count;
    s->at[s->n + 1] = s->at[s->n] + count;
    s->n++;
}

/* Which value of the owner a ghost is. */
static int place(int of, int owner, int i)
{
    return (of * 13 + owner * 5 + 3 * i) % OWNED;
}

static void pack(const struct side *s, const double *own, double *values)
{
    for (int k = 0; k < s->n; k++)
        for (int i = 0; i < s->counts[k]; i++)
            values[s->at[k] + i] = own[place(s->ranks[k], rank, i)];
}

static void add_up(const struct side *s, const double *values, double *own)
{
    for (int k = 0; k < s->n; k++)
        for (int i = 0; i < s->counts[k]; i++)
            own[place(s->ranks[k], rank, i)] += values[s->at[k] + i];
}

static double run(MPI_Comm forward, MPI_Comm reverse, const struct side *give,
                  const struct side *take)
{
    static double own[OWNED], given[MOST * 16], ghost[MOST * 16];
    double sum = 0, all = 0;
    for (int i = 0; i < OWNED; i++)
        own[i] = rank + i / 64.0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        pack(give, own, given);
        MPI_Neighbor_alltoallv(given, give->counts, give->at, MPI_DOUBLE, ghost, take->counts,
                               take->at, MPI_DOUBLE, forward);
        for (int i = 0; i < take->at[take->n]; i++)
            ghost[i] = 0.25 * ghost[i] + round;
        MPI_Ineighbor_alltoallv(ghost, take->counts, take->at, MPI_DOUBLE, given, give->counts,
                                give->at, MPI_DOUBLE, reverse, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        add_up(give, given, own);
    }
    for (int i = 0; i < OWNED; i++)
        sum += own[i] * (i + 1);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    struct side give = {0}, take = {0};
    MPI_Comm forward, reverse;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int other = 0; other < size && other < MOST; other++) {
        add(&give, other, ghosts(other, rank));
        add(&take, other, ghosts(rank, other));
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, take.n, take.ranks, MPI_UNWEIGHTED, give.n,
                                   give.ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &forward);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, give.n, give.ranks, MPI_UNWEIGHTED, take.n,
                                   take.ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &reverse);
    const double sum = run(forward, reverse, &give, &take);
    if (rank == 0)
        printf("sum: %.17g\n", sum);
    MPI_Comm_free(&forward);
    MPI_Comm_free(&reverse);
    MPI_Finalize();
    return 0;
}
