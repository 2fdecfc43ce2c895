/* SPDX-License-Identifier: BSD-3-Clause */
/* lattice.c - the exchange of lattice QCD: each rank has N x N x N x N sites of a 4-D torus, and
 * exchanges half of the sites of its eight faces in each step (hopping.h).  Every direction is
 * periodic, so on few ranks several neighbours are the same process, or the rank itself.
 *
 *     lattice [N [STEPS]]     N = 4, 500 steps of each implementation
 *
 * Implementations of CRESTA_Neighbor_alltoall take turns, step by step.  The result of each step is
 * compared with the exact one.  Exit code 1: one of crestacoll's was wrong.  The MPI's own may be
 * (docs/mpi-defects.md). */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "crestacoll.h"
#include "hopping.h"

static const struct {
    const char *name, *rules;
} arms[] = {{"mpi", "neighbor_*=mpi"},
            {"p2p", "neighbor_*=p2p"},
            {"shm", "neighbor_*=shm"},
            {"hier", "neighbor_*=hier"},                    /* between hosts; on one it is shm */
            {"leaders", "neighbor_alltoall=hier:leaders"}}; /* one message between two hosts */

enum { ARMS = sizeof arms / sizeof *arms };

typedef struct times {
    double *step, *exchange; /* us, of all steps */
    int wrong;               /* steps whose result was */
} times;

static int doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "lattice: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* A step: sites of one kind go to the neighbours, and those of the other are computed. */
static void step(lattice *l, MPI_Comm comm, double complex *faces[2], int kind, times *t, int i)
{
    const int count = (int)l->face;
    const double start = MPI_Wtime();
    lattice_pack(l, kind, faces[0]);
    const double packed = MPI_Wtime();
    CRESTA_Neighbor_alltoall(faces[0], count, MPI_C_DOUBLE_COMPLEX, faces[1], count,
                             MPI_C_DOUBLE_COMPLEX, comm);
    const double exchanged = MPI_Wtime();
    lattice_unpack(l, kind, faces[1]);
    lattice_hop(l, !kind);
    t->step[i] = 1e6 * (MPI_Wtime() - start);
    t->exchange[i] = 1e6 * (exchanged - packed);
    t->wrong += !(lattice_error(l, !kind) < 1e-10); /* not a number is wrong, too */
}

/* The slowest rank of each step; then sorted. */
static void over_ranks(double *us, int steps)
{
    double *mine = need(malloc((size_t)steps * sizeof *mine));
    for (int i = 0; i < steps; i++)
        mine[i] = us[i];
    MPI_Allreduce(mine, us, steps, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(us, (size_t)steps, sizeof *us, doubles);
    free(mine);
}

static void report(const char *name, const times *t, const times *mpi, int steps)
{
    const double *us = t->exchange;
    printf("%-7s %10.2f %14.2f %8.2f %8.2f %7.2f  ", name, t->step[steps / 2], us[steps / 2],
           us[steps / 10], us[9 * (steps / 10)], us[steps / 2] / mpi->exchange[steps / 2]);
    if (t->wrong == 0)
        printf("right\n");
    else
        printf("WRONG in %d of %d steps\n", t->wrong, steps);
}

static MPI_Comm make_torus(int size, int processes[DIRECTIONS], int place[DIRECTIONS])
{
    const int periodic[DIRECTIONS] = {1, 1, 1, 1};
    int rank;
    MPI_Comm torus;
    MPI_Dims_create(size, DIRECTIONS, processes);
    MPI_Cart_create(MPI_COMM_WORLD, DIRECTIONS, processes, periodic, 0, &torus);
    MPI_Comm_rank(torus, &rank);
    MPI_Cart_coords(torus, rank, DIRECTIONS, place);
    return torus;
}

static void run(lattice *l, MPI_Comm torus, int steps, times t[ARMS])
{
    MPI_Comm comms[ARMS];
    double complex *faces[2];
    for (int i = 0; i < 2; i++)
        faces[i] = need(malloc(FACES * l->face * sizeof *faces[i]));
    for (int arm = 0; arm < ARMS; arm++) {
        t[arm] = (times){need(calloc((size_t)steps, sizeof(double))),
                         need(calloc((size_t)steps, sizeof(double))), 0};
        MPI_Comm_dup(torus, &comms[arm]);
        CRESTA_Set_impl(comms[arm], arms[arm].rules);
        step(l, comms[arm], faces, 0, &t[arm], 0); /* what is set up in it is not counted */
        t[arm].wrong = 0;
    }
    for (int i = 0; i < steps; i++)
        for (int arm = 0; arm < ARMS; arm++) {
            MPI_Barrier(torus);
            step(l, comms[(arm + i) % ARMS], faces, i & 1, &t[(arm + i) % ARMS], i);
        }
    for (int arm = 0; arm < ARMS; arm++)
        MPI_Comm_free(&comms[arm]);
    free(faces[0]);
    free(faces[1]);
}

/* Adds up what all ranks have; true if one of ours was wrong. */
static int judge(times t[ARMS], int steps)
{
    int bad = 0;
    for (int arm = 0; arm < ARMS; arm++) {
        MPI_Allreduce(MPI_IN_PLACE, &t[arm].wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        over_ranks(t[arm].step, steps);
        over_ranks(t[arm].exchange, steps);
        bad = bad || (arm > 0 && t[arm].wrong > 0);
    }
    return bad;
}

int main(int argc, char **argv)
{
    int rank, size, processes[DIRECTIONS] = {0}, place[DIRECTIONS];
    const int n = argc > 1 ? atoi(argv[1]) : 4, steps = argc > 2 ? atoi(argv[2]) : 500;
    lattice l;
    times t[ARMS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (n < 2 || n % 2 != 0 || n > 64 || steps < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: lattice [N [STEPS]]; N even, 2 to 64\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm torus = make_torus(size, processes, place);
    if (!lattice_make(&l, n, processes, place))
        need(NULL);
    run(&l, torus, steps, t);
    const int bad = judge(t, steps);
    if (rank == 0) {
        printf("# %d^4 sites a rank, %dx%dx%dx%d ranks, %zu bytes to each of 8 neighbours\n", n,
               processes[0], processes[1], processes[2], processes[3], l.face * sizeof *l.field);
        printf("#         step (us)  exchange (us)      p10      p90   ratio\n");
        for (int arm = 0; arm < ARMS; arm++)
            report(arms[arm].name, &t[arm], &t[0], steps);
    }
    for (int arm = 0; arm < ARMS; arm++) {
        free(t[arm].step);
        free(t[arm].exchange);
    }
    MPI_Comm_free(&torus);
    lattice_free(&l);
    MPI_Finalize();
    return bad;
}
