/* SPDX-License-Identifier: BSD-3-Clause */
/* attributes.c - copy functions of the program's attributes are called for the duplicates of the
 * program, and for nothing else: not where we need a communicator or a type of our own.
 *
 *     attributes IMPL,... */
#include "crestacoll.h"

#include <cresta_sp_coll.h>

#include "testing/testing.h"

enum { COUNT = 3, SIZES = 3 };

static const int sizes[SIZES] = {1, 500, 50000};
static int value;       /* what all attributes point to */
static MPI_Comm origin; /* without any */

/* Seen in MPI_Finalize too, where no check counts any more. */
static int called(const char *what)
{
    fprintf(stderr, "FAIL rank %d: the copy function of a %s is called in: %s\n", testing_rank,
            what, testing_label);
    _exit(3);
}

static int copy_comm(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return called("communicator");
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return called("type");
}

static void give_attribute(MPI_Comm comm)
{
    static int key = MPI_KEYVAL_INVALID;
    if (key == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(copy_comm, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &value);
}

/* The second of three ints, found one int in front of the address that is given. */
static MPI_Datatype sparse_type(void)
{
    static int key = MPI_KEYVAL_INVALID;
    const int size = (int)sizeof(int);
    MPI_Datatype one, type;
    if (key == MPI_KEYVAL_INVALID)
        MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_create_hindexed(1, (const int[]){1}, (const MPI_Aint[]){-size}, MPI_INT, &one);
    MPI_Type_create_resized(one, -2 * size, 3 * size, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&one);
    MPI_Type_set_attr(type, key, &value);
    return type;
}

/* The type is freed while the call is under way. */
static void begin_and_end(MPI_Comm comm, int n)
{
    int rank, size;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *send = malloc((size_t)(3 * n * size) * sizeof *send);
    int *recv = calloc((size_t)(3 * n * size), sizeof *recv);
    MPI_Datatype type = sparse_type();
    for (int i = 0; i < 3 * n * size; i++)
        send[i] = 1000 * rank + i;
    snprintf(testing_label, sizeof testing_label, "a begun alltoall of %d", n);
    CRESTA_Alltoall_begin(send + 2, n, type, recv + 2, n, type, comm, &request);
    MPI_Type_free(&type);
    CRESTA_Coll_end(1, &request);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < 3 * n; i++) {
            const int at = 3 * n * from + i;
            const int sent = i % 3 == 1 ? 1000 * from + 3 * n * rank + i : 0;
            CHECK(recv[at] == sent, "int %d is %d, not %d", at, recv[at], sent);
        }
    free(send);
    free(recv);
}

static void call_all(MPI_Comm comm, int n)
{
    int *in = calloc((size_t)n, sizeof *in), *out = calloc((size_t)n, sizeof *out);
    snprintf(testing_label, sizeof testing_label, "blocking calls of %d", n);
    CRESTA_Bcast(in, n, MPI_INT, 0, comm);
    CRESTA_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    CRESTA_Barrier(comm);
    free(in);
    free(out);
}

static void run(const char *impl)
{
    MPI_Comm comms[COUNT] = {MPI_COMM_WORLD};
    char spec[64];
    MPI_Comm_dup(origin, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -testing_rank, &comms[2]);
    snprintf(spec, sizeof spec, "*=%s", impl);
    for (int i = 0; i < COUNT; i++) {
        give_attribute(comms[i]);
        CRESTA_Set_impl(comms[i], spec);
        for (int k = 0; k < SIZES; k++) {
            call_all(comms[i], sizes[k]);
            begin_and_end(comms[i], sizes[k]);
        }
    }
    MPI_Comm_free(&comms[2]); /* the other ends in MPI_Finalize */
}

int main(int argc, char **argv)
{
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &origin);
    testing_each(argc > 1 ? argv[1] : "p2p", run);
    MPI_Comm_free(&origin);
    snprintf(testing_label, sizeof testing_label, "MPI_Finalize");
    const int failed = testing_end("attributes");
    MPI_Finalize();
    return failed;
}
