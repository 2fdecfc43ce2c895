/* SPDX-License-Identifier: BSD-3-Clause */
/* plain_steps.c - a program in time steps that knows nothing of the library, and checks its
 * answers.
 *
 *     plain_steps STEPS [KIND]
 *     steps    transposes, a broadcast and a sum in each step; the default
 *     phases   other steps in its second half
 *     freed    the communicator of the steps is freed after half of them, and made again
 *     uneven   a transpose in each step, which rank 0 begins 10 ms after the others
 *     comms    each step makes communicators, and frees them
 *     fragile  ends by a signal where it finds shared memory of crestacoll in itself
 *     counts   a sum of integers in each step, and one of floating-point numbers that has other
 * bits in another order
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 50, MOST = 16 };

static int me, ranks, wrong;
static MPI_Comm all;

static void expect(int right, const char *what, int step)
{
    if (!right && wrong++ == 0)
        fprintf(stderr, "FAIL: rank %d: %s of step %d\n", me, what, step);
}

static void transpose(int step)
{
    static int send[MOST * N], recv[MOST * N];
    for (int i = 0; i < ranks * N; i++)
        send[i] = step + 1000 * me + i;
    MPI_Alltoall(send, N, MPI_INT, recv, N, MPI_INT, all);
    for (int i = 0; i < ranks * N; i++)
        expect(recv[i] == step + 1000 * (i / N) + me * N + i % N, "the transpose", step);
}

static void tell(int step)
{
    int number = me == step % ranks ? step : -1;
    MPI_Bcast(&number, 1, MPI_INT, step % ranks, all);
    expect(number == step, "the broadcast", step);
}

static void sum(int step)
{
    double mine = 0.1 * (me + 1) * step, total = 0;
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, all);
    const double should = 0.05 * ranks * (ranks + 1) * step;
    expect(total - should < 1e-9 * should && should - total < 1e-9 * should, "the sum", step);
}

/* Another communicator of all, and one with half of the ranks. */
static void with_new_comms(int step)
{
    MPI_Comm before = all, half;
    int mine = me, total = 0, size;
    MPI_Comm_dup(before, &all);
    transpose(step);
    MPI_Comm_split(all, me % 2, 0, &half);
    MPI_Comm_size(half, &size);
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, half);
    expect(total == size * (size - 1) + me % 2 * size, "the sum of a half", step);
    MPI_Comm_free(&half);
    MPI_Comm_free(&all);
    all = before;
}

/* As a program does which model shm breaks. */
static void break_off_beside_shm(int step)
{
    /* The look takes longer than small calls: with them alone there is too little to gain. */
    static double numbers[100000];
    MPI_Bcast(numbers, 100000, MPI_DOUBLE, step % ranks, all);
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "memfd:crestacoll") != NULL)
            abort();
    if (maps != NULL)
        fclose(maps);
}

static void count(int step)
{
    int mine = step + me, total = 0;
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, all);
    expect(total == ranks * step + ranks * (ranks - 1) / 2, "the count", step);
}

/* The same numbers in each step: so the same bits. */
static void sum_in_order(int step)
{
    static double first[N];
    double mine[N], total[N];
    for (int i = 0; i < N; i++)
        mine[i] = 1.0 / (1 + 7 * me + i);
    MPI_Allreduce(mine, total, N, MPI_DOUBLE, MPI_SUM, all);
    if (step == 1)
        memcpy(first, total, sizeof first);
    expect(memcmp(first, total, sizeof first) == 0, "the bits of a sum", step);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int steps = argc > 1 ? atoi(argv[1]) : 1000;
    const char *kind = argc > 2 ? argv[2] : "steps";
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &ranks);
    for (int step = 1; step <= steps; step++) {
        const int late = step > steps / 2;
        if (late && step == steps / 2 + 1 && strcmp(kind, "freed") == 0) {
            MPI_Comm_free(&all);
            MPI_Comm_dup(MPI_COMM_WORLD, &all);
        }
        if (strcmp(kind, "counts") == 0) {
            count(step);
            sum_in_order(step);
            continue;
        }
        if (strcmp(kind, "uneven") == 0 && me == 0)
            usleep(10000);
        transpose(step);
        if (strcmp(kind, "uneven") == 0)
            continue;
        if (!late || strcmp(kind, "phases") != 0) {
            tell(step);
            sum(step);
        } else {
            sum(step);
            transpose(step);
            sum(step);
        }
        if (strcmp(kind, "comms") == 0)
            with_new_comms(step);
        if (strcmp(kind, "fragile") == 0)
            break_off_beside_shm(step);
    }
    MPI_Comm_free(&all);
    MPI_Finalize();
    return wrong != 0;
}
