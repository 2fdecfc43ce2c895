/* SPDX-License-Identifier: BSD-3-Clause */
/* unpack.c - an all-to-all whose blocks are unpacked: after its end, and each when it has come
 * (CRESTA_Coll_some).  Shows how much of the unpacking is hidden behind the transfer.
 *
 *     mpirun -n 4 unpack [BYTES of a block, 1048576] [REPEATS, 20]
 *
 * Each rank has a stripe of a matrix, and gets the stripe of its transpose: a block comes from each
 * rank, and unpacking transposes it to its place.  Both ways take turns in one job; the result of
 * each is checked.  Prints medians of the slowest rank, with the 10th and 90th percentile; what is
 * hidden is the difference of two calls that follow each other, as a share of the unpacking alone.
 * At most the unpacking of all blocks but the last one can be hidden: (p-1)/p. */
#include <cresta_sp_coll.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 64 }; /* columns of a block */
enum { EXCHANGE, UNPACK, AFTER, STREAMED, TIMES };

static int rank, size, rows; /* rows of a block */
static double *send, *received, *field;
static int *blocks;

static size_t block_elements(void)
{
    return (size_t)rows * WIDTH;
}

static double value(int from, int to, size_t k)
{
    return 1e6 * from + 1e3 * to + (double)(k % 997);
}

/* Transposes what came from a rank into the columns that it has in the field. */
static void unpack(int from)
{
    const double *block = received + (size_t)from * block_elements();
    for (int column = 0; column < WIDTH; column++)
        for (int row = 0; row < rows; row++)
            field[((size_t)column * (size_t)size + (size_t)from) * (size_t)rows + (size_t)row] =
                block[(size_t)row * WIDTH + (size_t)column];
}

static void begin(MPI_Request *request)
{
    const int n = rows * WIDTH;
    CRESTA_Alltoall_begin(send, n, MPI_DOUBLE, received, n, MPI_DOUBLE, MPI_COMM_WORLD, request);
}

static void run(int which)
{
    MPI_Request request;
    if (which != UNPACK)
        begin(&request);
    if (which == STREAMED) {
        int n;
        while (CRESTA_Coll_some(request, size, blocks, &n) == MPI_SUCCESS && n != MPI_UNDEFINED)
            for (int i = 0; i < n; i++)
                unpack(blocks[i]);
    }
    if (which != UNPACK)
        CRESTA_Coll_end(1, &request);
    for (int from = 0; from < size && (which == AFTER || which == UNPACK); from++)
        unpack(from);
}

static int wrong(void)
{
    int count = 0;
    for (int column = 0; column < WIDTH; column++)
        for (int from = 0; from < size; from++)
            for (int row = 0; row < rows; row++) {
                const size_t at = ((size_t)column * (size_t)size + (size_t)from) * (size_t)rows;
                const size_t k = (size_t)row * WIDTH + (size_t)column;
                count += field[at + (size_t)row] != value(from, rank, k);
            }
    return count;
}

/* Seconds of the slowest rank. */
static double time_one(int which, int *errors)
{
    double seconds;
    for (size_t i = 0; i < block_elements() * (size_t)size && which >= AFTER; i++)
        field[i] = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    run(which);
    seconds = MPI_Wtime() - start;
    *errors += which >= AFTER ? wrong() : 0;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(double *const seconds[TIMES], int repeats)
{
    static const char *const names[TIMES] = {"exchange", "unpacking", "exchange, then unpacking",
                                             "streamed"};
    double median[TIMES], *hidden = malloc((size_t)repeats * sizeof *hidden);
    for (int i = 0; i < repeats; i++)
        hidden[i] = seconds[AFTER][i] - seconds[STREAMED][i];
    qsort(hidden, (size_t)repeats, sizeof *hidden, ascending);
    for (int k = 0; k < TIMES; k++) {
        qsort(seconds[k], (size_t)repeats, sizeof(double), ascending);
        median[k] = seconds[k][repeats / 2];
        printf("%-26s %9.3f ms   (%.3f to %.3f)\n", names[k], 1e3 * median[k],
               1e3 * seconds[k][repeats / 10], 1e3 * seconds[k][repeats - 1 - repeats / 10]);
    }
    const double percent = 100 / median[UNPACK];
    printf("hidden: %.0f %% of the unpacking (%.0f to %.0f)\n", percent * hidden[repeats / 2],
           percent * hidden[repeats / 10], percent * hidden[repeats - 1 - repeats / 10]);
    free(hidden);
}

static void fill(void)
{
    const size_t n = block_elements() * (size_t)size;
    send = malloc(n * sizeof *send);
    received = malloc(n * sizeof *received);
    field = malloc(n * sizeof *field);
    blocks = malloc((size_t)size * sizeof *blocks);
    for (int to = 0; to < size; to++)
        for (size_t k = 0; k < block_elements(); k++)
            send[(size_t)to * block_elements() + k] = value(rank, to, k);
    for (size_t i = 0; i < n; i++)
        received[i] = field[i] = 0;
}

int main(int argc, char **argv)
{
    double *seconds[TIMES];
    int errors = 0, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const long bytes = argc > 1 ? atol(argv[1]) : 1 << 20;
    const int repeats = argc > 2 && atoi(argv[2]) > 0 ? atoi(argv[2]) : 20;
    rows = (int)(bytes / (long)(WIDTH * sizeof(double)));
    rows = rows > 0 ? rows : 1;
    fill();
    for (int k = 0; k < TIMES; k++)
        seconds[k] = malloc((size_t)repeats * sizeof(double));
    CRESTA_Comm_prepare(MPI_COMM_WORLD);
    for (int k = 0; k < TIMES; k++) /* once without the clock */
        time_one(k, &errors);
    for (int i = 0; i < repeats; i++)
        for (int k = 0; k < TIMES; k++)
            seconds[k][i] = time_one(k, &errors);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks, %zu bytes in a block\n", size, block_elements() * sizeof(double));
        print(seconds, repeats);
        printf("%d wrong elements\n", errors);
    }
    for (int k = 0; k < TIMES; k++)
        free(seconds[k]);
    free(send);
    free(received);
    free(field);
    free(blocks);
    MPI_Finalize();
    return errors != 0;
}
