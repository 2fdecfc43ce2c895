/* SPDX-License-Identifier: BSD-3-Clause */
/* refused.c - what an OpenSHMEM program may not do here: each ends the job with one message.
 *
 *     refused static|pe|sizes|early|free */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static double fixed[2]; /* a static variable */

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "early") == 0) {
        MPI_Init(&argc, &argv);
        (void)shmem_malloc(8);
    }
    shmem_init();
    if (strcmp(what, "static") == 0 && shmem_my_pe() == 0)
        shmem_put(fixed, fixed + 1, 1, 1);
    if (strcmp(what, "pe") == 0 && shmem_my_pe() == 0)
        shmem_long_p((long *)(void *)fixed, 1, 7);
    if (strcmp(what, "sizes") == 0)
        (void)shmem_malloc((size_t)(8 + shmem_my_pe()));
    if (strcmp(what, "free") == 0)
        shmem_free(fixed);
    shmem_barrier_all();
    fprintf(stderr, "it went on\n");
    shmem_finalize();
    return 0;
}
