/* SPDX-License-Identifier: BSD-3-Clause */
/* reproduce.c - makes the call of a reproducer, by MPI_x: a plain MPI program, which `crestacoll
 * reproduce FILE` starts with the library preloaded and CRESTA_VALIDATE set. */
#include <stdio.h>
#include <stdlib.h>

#include "file.h"
#include "native/neighbor_reduce.h"

static const cco_natives mpi = {
#define CCO_NATIVE(name, own, theirs, parameters, arguments) .name = theirs,
#include "native/natives.inc"
#undef CCO_NATIVE
};

/* What calls.c names: no file has one of these, since a file tells no topology. */
int cco_neighbor_reduce(const cco_call *call)
{
    (void)call;
    reproduce_stop("reproduce", "a neighbourhood reduction cannot be made again from a file");
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

int main(int argc, char **argv)
{
    cco_call call;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2)
        reproduce_stop("reproduce", "usage: crestacoll-reproduce FILE");
    reproduce_read(&call, argv[1], rank, size, MPI_COMM_WORLD);
    const int rc = cco_native_blocking(&mpi, &call);
    MPI_Finalize();
    return rc == MPI_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
