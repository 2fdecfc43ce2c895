/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c - what a recording gains: sequences of scatters and of allgathers of 16 bytes, by calls
 * and replayed, in one job, in turn.
 *
 *     mpirun -n RANKS example-replay [SAMPLES [IMPL]]
 *
 * Prints microseconds for the whole sequence, on the rank that takes longest: medians, with the
 * 10th and the 90th percentile, and the ratio of the medians.  IMPL runs both (p2p); `MPI` are the
 * MPI's own calls. */
#include <crestacoll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 16, MOST = 100, REPEATS = 10, WAYS = 3 };

typedef struct sequence {
    int count, gathers; /* calls; of allgathers, otherwise of scatters */
    char *give, *take;
    CRESTA_Recording recording;
} sequence;

static int rank, size;
static MPI_Comm comm;

static void calls(const sequence *q)
{
    for (int i = 0; i < q->count; i++)
        if (q->gathers)
            CRESTA_Allgather(q->give + i * BYTES, BYTES, MPI_BYTE, q->take + i * BYTES * size,
                             BYTES, MPI_BYTE, comm);
        else
            CRESTA_Scatter(q->give + i * BYTES * size, BYTES, MPI_BYTE, q->take + i * BYTES, BYTES,
                           MPI_BYTE, 0, comm);
}

static void replay(const sequence *q)
{
    CRESTA_Replay_start(q->recording);
    CRESTA_Replay_end(q->recording);
}

static void mpi_calls(const sequence *q)
{
    for (int i = 0; i < q->count; i++)
        if (q->gathers)
            PMPI_Allgather(q->give + i * BYTES, BYTES, MPI_BYTE, q->take + i * BYTES * size, BYTES,
                           MPI_BYTE, comm);
        else
            PMPI_Scatter(q->give + i * BYTES * size, BYTES, MPI_BYTE, q->take + i * BYTES, BYTES,
                         MPI_BYTE, 0, comm);
}

static char byte_of(int turn, int from, int call, int i)
{
    return (char)(turn + 31 * from + 7 * call + i);
}

/* The data of a turn; of a scatter what the root gives to each rank. */
static void fill(const sequence *q, int turn)
{
    memset(q->take, 0, (size_t)(q->count * BYTES * size));
    for (int call = 0; call < q->count; call++)
        for (int i = 0; i < BYTES * (q->gathers ? 1 : size); i++)
            q->give[call * BYTES * (q->gathers ? 1 : size) + i] = byte_of(
                turn, q->gathers ? rank : i / BYTES, call, i % BYTES);
}

static int wrong(const sequence *q, int turn)
{
    int count = 0;
    for (int call = 0; call < q->count; call++)
        for (int from = 0; from < (q->gathers ? size : 1); from++)
            for (int i = 0; i < BYTES; i++)
                count += q->take[(call * (q->gathers ? size : 1) + from) * BYTES + i] !=
                         byte_of(turn, q->gathers ? from : rank, call, i);
    return count;
}

/* Microseconds for the sequence, on the slowest rank. */
static double time_of(void (*way)(const sequence *), const sequence *q)
{
    double mine, longest;
    PMPI_Barrier(comm);
    const double start = MPI_Wtime();
    for (int i = 0; i < REPEATS; i++)
        way(q);
    mine = 1e6 * (MPI_Wtime() - start) / REPEATS;
    PMPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, comm);
    return longest;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double print_quantiles(const char *name, double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, compare);
    if (rank == 0)
        printf("  %-9s %9.2f (%.2f to %.2f)\n", name, v[n / 2], v[n / 10], v[n * 9 / 10]);
    return v[n / 2];
}

/* Each way comes first in every third sample. */
static int measure(sequence *q, int samples)
{
    static void (*const ways[WAYS])(const sequence *) = {calls, replay, mpi_calls};
    double *us[WAYS], median[WAYS];
    int bad = 0;
    static const char *const names[WAYS] = {"calls", "replay", "MPI"};
    for (int w = 0; w < WAYS; w++)
        us[w] = calloc((size_t)samples, sizeof(double));
    for (int sample = -2; sample < samples; sample++)
        for (int k = 0; k < WAYS; k++) {
            const int w = (k + sample + WAYS) % WAYS;
            fill(q, sample);
            const double time = time_of(ways[w], q);
            us[w][sample < 0 ? 0 : sample] = time;
            bad += wrong(q, sample);
        }
    for (int w = 0; w < WAYS; w++)
        median[w] = print_quantiles(names[w], us[w], samples);
    if (rank == 0)
        printf("  replay is %.2f times as fast as calls, %.2f times as fast as the MPI%s\n",
               median[0] / median[1], median[2] / median[1], bad ? "; WRONG DATA" : "");
    for (int w = 0; w < WAYS; w++)
        free(us[w]);
    return bad;
}

static int run(int count, int gathers, int samples)
{
    int merged, before, now;
    sequence q = {.count = count,
                  .gathers = gathers,
                  .give = malloc((size_t)(count * BYTES * size)),
                  .take = malloc((size_t)(count * BYTES * size))};
    fill(&q, 0);
    CRESTA_Record_begin(comm);
    calls(&q);
    CRESTA_Record_end(&q.recording);
    CRESTA_Recording_info(q.recording, NULL, &merged, NULL, &before, &now);
    if (rank == 0)
        printf("%d %s of %d bytes, %d ranks, us: %d calls merged, rank 0 sends %d messages instead "
               "of %d\n",
               count, gathers ? "allgathers" : "scatters", BYTES, size, merged, now, before);
    const int bad = measure(&q, samples);
    CRESTA_Recording_free(&q.recording);
    free(q.give);
    free(q.take);
    return bad;
}

int main(int argc, char **argv)
{
    static const int counts[] = {16, 32, 64, MOST};
    const int samples = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 300;
    char rules[64];
    int bad = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    snprintf(rules, sizeof rules, "*=%s", argc > 2 ? argv[2] : "p2p");
    CRESTA_Set_impl(comm, rules);
    for (int gathers = 0; gathers < 2; gathers++)
        for (int i = 0; i < 4; i++)
            bad += run(counts[i], gathers, samples);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return bad != 0;
}
