/* SPDX-License-Identifier: BSD-3-Clause */
/* steer.c - an OpenSHMEM program of the standard: in each step PE 0 tells all others how to go on,
 * by a small broadcast, and each PE puts a value into the memory of the next.
 *
 *     mpicc steer.c -I<prefix>/include/crestacoll -L<prefix>/lib -lcrestacoll
 *     mpirun -n 4 ./a.out */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    static long psync[2][SHMEM_BCAST_SYNC_SIZE];
    shmem_init();
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    long *from = shmem_calloc(1, sizeof *from); /* symmetric: the same on every PE */
    long order[2] = {0}, right = 0;
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++)
        psync[0][i] = psync[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (long step = 0; step < 1000; step++) {
        const long told[2] = {step, step * step};
        shmem_broadcast64(order, told, 2, 0, 0, 0, pes, psync[step % 2]);
        if (me == 0) /* this form leaves the root's own target as it is */
            order[0] = told[0], order[1] = told[1];
        right += order[0] == step && order[1] == step * step;
    }
    shmem_long_p(from, me, (me + 1) % pes);
    shmem_barrier_all();
    const long wrong = right != 1000 || *from != (me - 1 + pes) % pes;
    long wrongs = 0;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &wrongs, &wrong, 1);
    if (me == 0)
        printf("%d PEs, 1000 orders: %s\n", pes, wrongs == 0 ? "all arrived" : "WRONG");
    shmem_free(from);
    shmem_finalize();
    return wrongs != 0;
}
