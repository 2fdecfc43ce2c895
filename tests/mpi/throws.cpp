/* SPDX-License-Identifier: BSD-3-Clause */
/* throws.cpp - error handlers that throw an exception: it passes through crestacoll and the MPI to
 * the program, and afterwards everything goes on.
 *
 *     throws IMPL... */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <cresta_sp_coll.h>
#include <cstdio>
#include <mpi.h>
#include <string>

struct error {
    int code;
};

static void thrower(MPI_Comm *, int *code, ...)
{
    throw error{*code};
}

static void wrong(int which, MPI_Comm comm)
{
    int in = 1, out = 0;
    if (which == 0)
        CRESTA_Bcast(&in, -1, MPI_INT, 0, comm);
    else if (which == 1)
        CRESTA_Allreduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, comm);
    else if (which == 2)
        CRESTA_Allgather(&in, 1, MPI_INT, &out, 1, MPI_DATATYPE_NULL, comm);
    else
        CRESTA_Alltoall(&in, -1, MPI_INT, &out, -1, MPI_INT, comm);
}

static bool throws(int which, MPI_Comm comm)
{
    try {
        wrong(which, comm);
    } catch (const error &e) {
        return e.code != MPI_SUCCESS;
    }
    return false;
}

static int run(const char *impl)
{
    const std::string spec = std::string("*=") + impl;
    int size, bad = 0;
    MPI_Comm own, other;
    MPI_Errhandler made;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    CRESTA_Set_impl(own, spec.c_str());
    CRESTA_Set_impl(other, spec.c_str());
    MPI_Comm_create_errhandler(thrower, &made);
    MPI_Comm_set_errhandler(own, made);
    MPI_Errhandler_free(&made);
    for (int i = 0; i < 20; i++) {
        int one = 1, sum = -1;
        bad += !throws(i % 4, own);
        CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
        bad += sum != size;
    }
    MPI_Comm_free(&own);
    MPI_Comm_free(&other);
    std::printf("throws, %s: %s\n", impl, bad ? "FAIL" : "passed");
    return bad;
}

int main(int argc, char **argv)
{
    int bad = 0;
    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++)
        bad += run(argv[i]);
    MPI_Finalize();
    return bad != 0 || argc < 2;
}
