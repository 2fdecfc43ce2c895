/* SPDX-License-Identifier: BSD-3-Clause */
/* opened.c - for tests/python/test_library_opened.py: a program that is linked to no MPI, opens the
 * library FILE and calls functions that it looks up in the handle, as interpreters do.
 *
 *     opened FILE */
#include <dlfcn.h>
#include <stdio.h>

#include <mpi.h>

static void *library;

/* MPI_x of the library. */
#define OF(x) ((__typeof__(&MPI_##x))dlsym(library, "MPI_" #x))

int main(int argc, char **argv)
{
    int rank, size, bad = 0;
    library = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        puts(argc > 1 ? dlerror() : "no file");
        return 1;
    }
#if defined(OPEN_MPI) /* whose handles are addresses in the library */
    MPI_Comm world = dlsym(library, "ompi_mpi_comm_world");
    MPI_Datatype number = dlsym(library, "ompi_mpi_int");
    MPI_Op sum_of = dlsym(library, "ompi_mpi_op_sum");
#else
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype number = MPI_INT;
    MPI_Op sum_of = MPI_SUM;
#endif
    bad += dlsym(library, "MPI_No_such_function") != NULL || dlerror() == NULL;
    OF(Init)(NULL, NULL);
    OF(Comm_rank)(world, &rank);
    bad += dlsym(library, "MPI_Comm_size") == NULL || dlerror() != NULL;
    OF(Comm_size)(world, &size);
    for (int i = 1; i <= 100; i++) {
        int sum = 0;
        OF(Allreduce)(&i, &sum, 1, number, sum_of, world);
        bad += sum != i * size;
    }
    OF(Finalize)();
    if (rank == 0 && bad == 0)
        puts("right");
    return bad != 0;
}
