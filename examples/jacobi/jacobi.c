/* SPDX-License-Identifier: BSD-3-Clause */
/* jacobi.c - a plain MPI program that waits a lot: Jacobi's method for the temperature of a square
 * plate, whose upper edge is hot.  Each rank has some rows.  A step exchanges two rows with the
 * neighbours (MPI_Sendrecv), and adds up the change (MPI_Allreduce of 8 bytes).
 *
 *     jacobi [STEPS [N]]     2000 steps on N x N points, 128
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* The rows of this rank are 1 to `rows`; 0 and `rows` + 1 belong to the neighbours, or are edges of
 * the plate. */
typedef struct plate {
    int n, rows, up, down;
    double *now, *next;
} plate;

static plate make(int n, int rank, int size)
{
    plate p = {.n = n, .rows = n / size + (rank < n % size)};
    const size_t points = (size_t)(p.rows + 2) * (size_t)n;
    p.up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    p.down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    p.now = calloc(points, sizeof *p.now);
    p.next = calloc(points, sizeof *p.next);
    if (p.now == NULL || p.next == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; rank == 0 && i < n; i++)
        p.now[i] = p.next[i] = 1.0;
    return p;
}

static void exchange(const plate *p)
{
    double *first = p->now + p->n, *last = p->now + (size_t)p->rows * (size_t)p->n;
    MPI_Sendrecv(first, p->n, MPI_DOUBLE, p->up, 1, last + p->n, p->n, MPI_DOUBLE, p->down, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, p->n, MPI_DOUBLE, p->down, 2, p->now, p->n, MPI_DOUBLE, p->up, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One step of this rank's points; how much they change, squared. */
static double relax(plate *p)
{
    const int n = p->n;
    double change = 0;
    for (int i = 1; i <= p->rows; i++) {
        const double *at = p->now + (size_t)i * (size_t)n;
        double *to = p->next + (size_t)i * (size_t)n;
        for (int j = 1; j < n - 1; j++) {
            to[j] = 0.25 * (at[j - 1] + at[j + 1] + at[j - n] + at[j + n]);
            change += (to[j] - at[j]) * (to[j] - at[j]);
        }
    }
    double *old = p->now;
    p->now = p->next;
    p->next = old;
    return change;
}

int main(int argc, char **argv)
{
    int rank, size;
    double change = 0;
    const int steps = argc > 1 ? atoi(argv[1]) : 2000, n = argc > 2 ? atoi(argv[2]) : 128;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (steps < 1 || n < size) {
        fprintf(stderr, "usage: jacobi [STEPS [N]]; N is at least the number of ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    plate p = make(n, rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < steps; i++) {
        exchange(&p);
        const double mine = relax(&p);
        MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    const double seconds = MPI_Wtime() - start;
    if (rank == 0)
        printf("%d steps, last change %.9e, %.3f s, %.1f us a step\n", steps, change, seconds,
               1e6 * seconds / steps);
    free(p.now);
    free(p.next);
    MPI_Finalize();
    return 0;
}
