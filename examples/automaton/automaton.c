/* SPDX-License-Identifier: BSD-3-Clause */
/* automaton.c - a cellular automaton of nine points in strips, with one exchange of 8 KB with each
 * of two neighbours in each step, two-sided and one-sided.
 *
 *     mpirun -n 2 automaton [WAYS [ROWS [STEPS]]]     all ways, 256 rows, 1000 steps
 *
 * WAYS are names with commas, or "all".  Ways take turns of 20 steps, and each has its own field;
 * in the end all must have the hash of the sequential program, which rank 0 runs.  Prints times of
 * a step, their ratio to the first way, and the speed-up over the sequential program.
 *
 * After S. Christgau, B. Schnor: One-sided communication in RCKMPI for the Single-Chip Cloud
 * Computer, 6th MARC Symposium, 2012. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <crestacoll.h>

#include "exchange.h"

enum { TURN = 20, WAYS_MOST = 16 };

typedef struct runner {
    const way *way;
    exchange x;
    field f;
    int step;
    double *times; /* of each turn */
} runner;

static int rank, size, rows = 256, steps = 1000;

static void step_once(runner *r)
{
    const int step = ++r->step;
    const int *edges[SIDES] = {r->f.now, r->f.now + (size_t)(r->f.rows - 1) * COLUMNS};
    for (int side = 0; side < SIDES; side++)
        r->x.in[side] = r->x.mine->rows[step % 2][side];
    r->way->begin(&r->x, edges, step);
    field_inner(&r->f);
    r->way->end(&r->x, step);
    field_outer(&r->f, r->x.in[ABOVE], r->x.in[BELOW]);
}

static void open_runner(runner *r, const way *way)
{
    const int first = (int)((long)rows * rank / size), next = (int)((long)rows * (rank + 1) / size);
    *r = (runner){.way = way, .f = field_make(first, next - first)};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &r->x.comm);
    MPI_Cart_shift(r->x.comm, 0, 1, &r->x.peers[ABOVE], &r->x.peers[BELOW]);
    r->times = calloc((size_t)(steps / TURN + 1), sizeof *r->times);
    way->open(&r->x);
}

static void close_runner(runner *r)
{
    r->way->close(&r->x);
    MPI_Comm_free(&r->x.comm);
    field_free(&r->f);
    free(r->times);
}

/* Steps of a turn: the slowest rank counts. */
static void take_turn(runner *r, int turn, int n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < n; i++)
        step_once(r);
    const double mine = (MPI_Wtime() - start) / n * 1e6;
    MPI_Reduce(&mine, &r->times[turn], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

/* The same steps of all rows, on rank 0. */
static double sequential(field *f, int n)
{
    const double start = MPI_Wtime();
    for (int i = 0; i < n && rank == 0; i++) {
        field_inner(f);
        field_outer(f, f->now + (size_t)(f->rows - 1) * COLUMNS, f->now);
    }
    return (MPI_Wtime() - start) / n * 1e6;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int chosen(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
            return 1;
    return strcmp(list, "all") == 0;
}

static int choose(const char *list, runner *runners)
{
    const way *const sets[] = {two_sided_ways, one_sided_ways, our_ways};
    int n = 0;
    for (int s = 0; s < 3; s++)
        for (const way *w = sets[s]; w->name != NULL; w++)
            if (chosen(list, w->name))
                open_runner(&runners[n++], w);
    return n;
}

/* Whether all fields are what the sequential one is; prints a line for each way. */
static int report(runner *runners, int n, int turns, int64_t right, double alone)
{
    int wrong = 0;
    double base = 0;
    for (int i = 0; i < n; i++) {
        runner *r = &runners[i];
        const int64_t mine = field_hash(&r->f);
        int64_t hash = 0;
        MPI_Allreduce(&mine, &hash, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        wrong += hash != right;
        if (rank != 0)
            continue;
        qsort(r->times, (size_t)turns, sizeof *r->times, ascending);
        const double median = r->times[turns / 2];
        base = i == 0 ? median : base;
        printf("%-12s %9.2f us a step (p10 %.2f, p90 %.2f)  %.3f of %s  speed-up %.2f  %s  %s\n",
               r->way->name, median, r->times[turns / 10], r->times[turns * 9 / 10], median / base,
               runners[0].way->name, alone / median, hash == right ? "right" : "WRONG",
               r->way->what);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static runner runners[WAYS_MOST];
    double alone[1 << 12] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *list = argc > 1 ? argv[1] : "all";
    rows = argc > 2 ? atoi(argv[2]) : rows;
    steps = argc > 3 ? atoi(argv[3]) : steps;
    const int turns = (steps + TURN - 1) / TURN;
    const int n = rows >= size && steps > 0 && turns <= (1 << 12) ? choose(list, runners) : 0;
    if (n == 0) {
        if (rank == 0)
            fprintf(stderr,
                    "automaton: no way of the list %s, or not %d rows and more, 1 step and"
                    " more\n",
                    list, size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    field whole = field_make(0, rank == 0 ? rows : 1);
    for (int turn = 0; turn < turns; turn++) {
        const int left = steps - turn * TURN < TURN ? steps - turn * TURN : TURN;
        for (int i = 0; i < n; i++)
            take_turn(&runners[(i + turn) % n], turn, left);
        alone[turn] = sequential(&whole, left);
    }
    int64_t right = field_hash(&whole);
    MPI_Bcast(&right, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    qsort(alone, (size_t)turns, sizeof *alone, ascending);
    if (rank == 0)
        printf("%d ranks, %d x %d cells, %d steps, hash %lld; sequential %.2f us a step\n", size,
               rows, COLUMNS, steps, (long long)right, alone[turns / 2]);
    const int wrong = report(runners, n, turns, right, alone[turns / 2]);
    for (int i = 0; i < n; i++)
        close_runner(&runners[i]);
    field_free(&whole);
    MPI_Finalize();
    return wrong != 0;
}
