/* SPDX-License-Identifier: BSD-3-Clause */
/* validated_begun.c - CRESTA_VALIDATE and begun calls, in a linked program with an algorithm that
 * is wrong in one element (wrong_element.c): how many differ, says the summary.
 *
 *     validated_begun FILE   that of CRESTA_VALIDATE_SUMMARY; calls of WRONG_BYTES bytes are wrong
 *
 * Ranks end calls in other orders, change the buffers as soon as they may, test before another rank
 * has begun, and free types and communicators. */
#include <crestacoll.h>
#include <cresta_sp_coll.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "testing/testing.h"

enum { N = 100, CALLS = 5, BEGUN = 6 };

typedef struct buffers {
    double in[4 * N], out[4 * N];
} buffers;

static void fill(buffers *b, int number, int rank)
{
    for (int i = 0; i < 4 * N; i++)
        b->in[i] = b->out[i] = 1.0 / (1 + i + rank + number);
}

/* An end that may be the first of all ranks, or of one that tests at once. */
static void end(int how, MPI_Request *request)
{
    int over = 0;
    if (how == 0)
        CRESTA_Coll_end(1, request);
    else if (how == 1)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    for (; how == 2 && !over;)
        MPI_Test(request, &over, MPI_STATUS_IGNORE);
}

/* One call is wrong on rank 1: the first. */
static void calls(int rank, MPI_Comm comm)
{
    static buffers b[BEGUN];
    MPI_Request requests[BEGUN];
    MPI_Datatype twos;
    int data = rank, flag;
    for (int i = 0; i < BEGUN; i++)
        fill(&b[i], i, rank);
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &twos);
    MPI_Type_commit(&twos);
    CRESTA_Bcast_begin(b[3].in, 2 * N, MPI_DOUBLE, 0, comm, &requests[3]);
    if (rank == 0) { /* its test may succeed before the other has begun, which waits for this */
        MPI_Test(&requests[3], &flag, MPI_STATUS_IGNORE);
        MPI_Send(&data, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CRESTA_Allreduce_begin(b[0].in, b[0].out, N, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
    CRESTA_Allreduce_begin(MPI_IN_PLACE, b[1].out, 2 * N, MPI_DOUBLE, MPI_SUM, comm, &requests[1]);
    CRESTA_Allgather_begin(b[2].in, N, MPI_DOUBLE, b[2].out, N, MPI_DOUBLE, comm, &requests[2]);
    CRESTA_Reduce_begin(b[4].in, b[4].out, 3 * N, MPI_DOUBLE, MPI_MAX, 1, comm, &requests[4]);
    CRESTA_Bcast_begin(b[5].in, 1, twos, 1, comm, &requests[5]);
    MPI_Type_free(&twos);
    for (int i = 0; i < BEGUN; i++) {
        const int which = rank % 2 == 0 ? i : BEGUN - 1 - i;
        if (requests[which] != MPI_REQUEST_NULL)
            end((rank + i) % 3, &requests[which]);
        memset(&b[which], 0, sizeof b[which]);
    }
}

static void check_summary(const char *path)
{
    char text[1024] = "";
    unsigned long long all = 0, differ = 0, checked = 0;
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0, "%s", path);
    sscanf(text, "{\"schema\": \"crestacoll-validate-1\", \"calls\": %llu, \"differ\": %llu", &all,
           &differ);
    const char *at = strstr(text, "\"checked\": ");
    CHECK(at != NULL && sscanf(at, "\"checked\": %llu", &checked) == 1, "%s", text);
    CHECK(all == 2 * BEGUN * CALLS + 2, "%s", text);
    CHECK(checked == all && differ == 2 * CALLS, "%s", text);
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv)
{
    int rank, provided;
    double one = 1, sum;
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int c = 0; c < 2; c++) {
        CRESTA_Comm_prepare(comms[c]);
        CRESTA_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comms[c]);
    }
    for (int i = 0; i < CALLS; i++)
        for (int c = 0; c < 2; c++)
            calls(rank, comms[c]);
    MPI_Comm_free(&comms[1]); /* checks may be under way */
    MPI_Finalize();
    if (rank == 0)
        check_summary(argv[argc - 1]);
    return testing_end("validated-begun");
}
