/* SPDX-License-Identifier: BSD-3-Clause */
/* overhead_comms.c - what crestacoll adds to making, using and freeing communicators.
 *
 * PMPI_ and MPI_ functions take turns in one job, each with communicators of its own: those of the
 * former are copies of one that crestacoll has never seen.  Before each step all ranks meet; times
 * are those of rank 0. */
#include "overhead.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { DUP, DUP_CALL, AGAIN, DUP_FREE, SPLIT, SPLIT_CALL, SPLIT_FREE, STEPS };
static const char *const names[STEPS] = {
    "dup",   "its first call",        "its second call", "its free",
    "split", "first call of a split", "free of a split"};

typedef struct side {
    int (*dup)(MPI_Comm, MPI_Comm *);
    int (*split)(MPI_Comm, int, int, MPI_Comm *);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*free)(MPI_Comm *);
    MPI_Comm parent;
    double *us[STEPS];
    double kib;
} side;

static MPI_Comm control;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static double resident_kib(void)
{
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &all, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static double run_step(const side *s, int step, MPI_Comm *made)
{
    double in = 1, out = 0;
    PMPI_Barrier(control);
    const double start = now_us();
    if (step == DUP)
        s->dup(s->parent, made);
    else if (step == SPLIT)
        s->split(s->parent, 0, 0, made);
    else if (step == DUP_FREE || step == SPLIT_FREE)
        s->free(made);
    else
        s->allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, *made);
    return now_us() - start;
}

/* Either side goes first every other time. */
static void take_times(side *sides, int turns)
{
    for (int i = 0; i < 2 * turns; i++) {
        side *s = &sides[(i + i / 2) % 2];
        MPI_Comm made = MPI_COMM_NULL;
        for (int step = 0; step < STEPS; step++)
            s->us[step][i / 2] = run_step(s, step, &made);
    }
}

/* Measures the memory of a communicator that has made a small call and is not freed.  The first
 * quarter does not count: it pays for what all of them share.  Each side keeps its communicators
 * until the other has been measured, which would otherwise reuse their memory. */
static void take_memory(side *sides, int count)
{
    MPI_Comm *made = malloc(2 * (size_t)count * sizeof *made);
    if (made == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int k = 0; k < 2; k++) {
        const int first = count / 4;
        double before = 0;
        for (int i = 0; i < count; i++) {
            if (i == first)
                before = resident_kib();
            for (int step = DUP; step <= DUP_CALL; step++)
                run_step(&sides[k], step, &made[k * count + i]);
        }
        sides[k].kib = (resident_kib() - before) / (count - first);
    }
    for (int i = 0; i < 2 * count; i++)
        sides[i / count].free(&made[i]);
    free(made);
}

static void print_all(side *sides, int ranks, int turns)
{
    double *ratio = malloc((size_t)turns * sizeof *ratio);
    printf("{\"ranks\": %d, \"turns\": %d, \"kib\": {\"plain\": %.1f, \"interposed\": %.1f}, "
           "\"steps\": [",
           ranks, turns, sides[0].kib, sides[1].kib);
    for (int step = 0; step < STEPS && ratio != NULL; step++) {
        for (int i = 0; i < turns; i++)
            ratio[i] = sides[1].us[step][i] / sides[0].us[step][i];
        printf("%s{\"step\": \"%s\", ", step ? ", " : "", names[step]);
        overhead_print("plain_us", sides[0].us[step], turns);
        printf(", ");
        overhead_print("interposed_us", sides[1].us[step], turns);
        printf(", ");
        overhead_print("ratio", ratio, turns);
        printf("}");
    }
    printf("]}\n");
    free(ratio);
}

void overhead_comms(int turns)
{
    enum { WARM = 10 };
    side sides[2] = {
        {PMPI_Comm_dup, PMPI_Comm_split, PMPI_Allreduce, PMPI_Comm_free, MPI_COMM_NULL, {0}, 0},
        {MPI_Comm_dup, MPI_Comm_split, MPI_Allreduce, MPI_Comm_free, MPI_COMM_WORLD, {0}, 0}};
    int rank, ranks;
    PMPI_Comm_dup(MPI_COMM_WORLD, &control);
    PMPI_Comm_dup(control, &sides[0].parent);
    PMPI_Comm_rank(control, &rank);
    PMPI_Comm_size(control, &ranks);
    double *room = malloc((size_t)(2 * STEPS * (turns + WARM)) * sizeof *room);
    if (room == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int k = 0; k < 2 * STEPS; k++)
        sides[k / STEPS].us[k % STEPS] = room + k * (turns + WARM);
    take_times(sides, WARM);
    take_memory(sides, turns);
    take_times(sides, turns);
    if (rank == 0)
        print_all(sides, ranks, turns);
    free(room);
    PMPI_Comm_free(&sides[0].parent);
    PMPI_Comm_free(&control);
}
