/* SPDX-License-Identifier: BSD-3-Clause */
/* validated.c - CRESTA_VALIDATE in a linked program with an algorithm that is wrong in one element
 * (wrong_element.c): how many calls differ, says the summary.
 *
 *     validated FILE   that of CRESTA_VALIDATE_SUMMARY; calls of WRONG_BYTES bytes are wrong */
#include <crestacoll.h>
#include <mpi.h>
#include <stdlib.h>

#include "testing/testing.h"

enum { N = 100, CALLS = 3 };

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

/* Right calls in between, in place and with an operation of the program. */
static void call(int rank)
{
    static double in[2 * N], out[2 * N];
    MPI_Op own;
    MPI_Op_create(add, 1, &own);
    for (int i = 0; i < 2 * N; i++)
        in[i] = out[i] = 1.0 / (1 + i + rank);
    CRESTA_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* wrong on rank 1 */
    CRESTA_Allreduce(MPI_IN_PLACE, in, 2 * N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CRESTA_Allreduce(in, out, 2 * N, MPI_DOUBLE, own, MPI_COMM_WORLD);
    CRESTA_Bcast(in, N, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Op_free(&own);
}

static void check_summary(const char *path)
{
    char text[1024] = "";
    unsigned long long calls = 0, differ = 0;
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0, "%s", path);
    sscanf(text, "{\"schema\": \"crestacoll-validate-1\", \"calls\": %llu, \"differ\": %llu",
           &calls, &differ);
    CHECK(calls == 4 * CALLS && differ == CALLS, "%s", text);
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < CALLS; i++)
        call(rank);
    MPI_Finalize();
    if (rank == 0)
        check_summary(argv[argc - 1]);
    return testing_end("validated");
}
