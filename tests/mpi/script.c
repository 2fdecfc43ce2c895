/* SPDX-License-Identifier: BSD-3-Clause */
/* script.c - does what its arguments say, in order; tests/python drives the library's choice with
 * it.
 *
 *     script STEP...
 *
 * past           as the first step: MPI_Init does not pass through the library
 * dup            a duplicate of the current communicator becomes the current one
 * split          odd and even ranks
 * world, self    the current communicator from now on
 * name=NAME      name it; name+=NAME appends the rank, so that names differ
 * set=SPEC       CRESTA_Set_impl on it; set@R=SPEC on rank R only, "" elsewhere; prints
 *                "set: CLASS"
 * return         MPI_ERRORS_RETURN on it
 * pcontrol=N     MPI_Pcontrol(N)
 * allreduce=BYTES, bcast, alltoall, allgather, gatherv likewise; barrier=0; iallreduce=BYTES
 * begin=BYTES    a split-phase allreduce
 * sum=BYTES      an allreduce of doubles; isum=BYTES of integers; startsum=BYTES non-blocking,
 *                keptsum=BYTES persistent, of doubles
 * ordered=BYTES  an allreduce with an operation that does not commute
 * derived=BYTES  the same on elements of a derived type
 * reduce_scatter=BYTES, in equal parts
 */
#include <cresta_sp_coll.h>
#include <crestacoll.h>
#include <mpi.h>

#include "testing/testing.h"

enum { LARGEST = 1 << 21 };

static char in[LARGEST], out[LARGEST];
static MPI_Comm comm;
static int rank, size;

static void current(MPI_Comm now)
{
    comm = now;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
}

static void set(const char *spec)
{
    int class = MPI_SUCCESS, here;
    const int rc = CRESTA_Set_impl(comm, spec);
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    MPI_Comm_rank(MPI_COMM_WORLD, &here);
    if (here == 0)
        printf("set: %s\n", class == MPI_SUCCESS   ? "success"
                            : class == MPI_ERR_ARG ? "MPI_ERR_ARG"
                                                   : "another class");
}

static void gatherv(int n)
{
    int counts[64], displs[64];
    for (int r = 0; r < size; r++)
        counts[r] = n, displs[r] = r * n;
    CRESTA_Gatherv(in, n, MPI_BYTE, out, counts, displs, MPI_BYTE, 0, comm);
}

/* The operand of the first rank, which each rank's data are. */
static void left(void *from, void *into, int *n, MPI_Datatype *type)
{
    (void)type;
    memcpy(into, from, (size_t)*n);
}

static void ordered(int n, MPI_Datatype type)
{
    MPI_Op op;
    MPI_Op_create(left, 0, &op);
    memset(in, rank + 1, (size_t)n);
    CRESTA_Allreduce(in, out, n, type, op, comm);
    CHECK(out[0] == 1 && out[n - 1] == 1, "the operand of rank %d", out[0] - 1);
    MPI_Op_free(&op);
}

static void scatter(int n)
{
    int counts[64];
    for (int r = 0; r < size; r++)
        counts[r] = n / size;
    memset(in, 1 << rank, (size_t)n);
    CRESTA_Reduce_scatter(in, out, counts, MPI_BYTE, MPI_BOR, comm);
}

static void derived(int n)
{
    MPI_Datatype type;
    MPI_Type_dup(MPI_BYTE, &type);
    MPI_Type_commit(&type);
    ordered(n, type);
    MPI_Type_free(&type);
}

/* An allreduce of doubles that is started; errors are the communicator's. */
static void start_sum(int n, int persistent)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = n / (int)sizeof(double);
    if (!persistent)
        CRESTA_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm, &request);
#ifdef CRESTA_HAVE_PERSISTENT
    else
        CRESTA_Allreduce_init(in, out, count, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &request);
#endif
    if (persistent && request != MPI_REQUEST_NULL)
        MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (persistent && request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

/* Collectives by name; false if there is none. */
static int collective(const char *name, int n)
{
    MPI_Request request;
    if (strcmp(name, "begin") == 0) {
        CRESTA_Allreduce_begin(in, out, n, MPI_BYTE, MPI_BOR, comm, &request);
        CRESTA_Coll_end(1, &request);
    } else if (strcmp(name, "sum") == 0)
        CRESTA_Allreduce(in, out, n / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, comm);
    else if (strcmp(name, "startsum") == 0 || strcmp(name, "keptsum") == 0)
        start_sum(n, name[0] == 'k');
    else if (strcmp(name, "isum") == 0)
        CRESTA_Allreduce(in, out, n / (int)sizeof(int), MPI_INT, MPI_SUM, comm);
    else if (strcmp(name, "allreduce") == 0)
        CRESTA_Allreduce(in, out, n, MPI_BYTE, MPI_BOR, comm);
    else if (strcmp(name, "ordered") == 0)
        ordered(n, MPI_BYTE);
    else if (strcmp(name, "derived") == 0)
        derived(n);
    else if (strcmp(name, "reduce_scatter") == 0) {
        scatter(n);
        CHECK(out[0] == (1 << size) - 1, "the sum %d", out[0]);
    } else if (strcmp(name, "bcast") == 0)
        CRESTA_Bcast(in, n, MPI_BYTE, 0, comm);
    else if (strcmp(name, "alltoall") == 0)
        CRESTA_Alltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, comm);
    else if (strcmp(name, "allgather") == 0)
        CRESTA_Allgather(in, n, MPI_BYTE, out, n, MPI_BYTE, comm);
    else if (strcmp(name, "gatherv") == 0)
        gatherv(n);
    else if (strcmp(name, "barrier") == 0)
        CRESTA_Barrier(comm);
    else if (strcmp(name, "iallreduce") == 0) {
        CRESTA_Iallreduce(in, out, n, MPI_BYTE, MPI_BOR, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else
        return 0;
    return 1;
}

static int on_communicator(const char *step)
{
    MPI_Comm made;
    if (strcmp(step, "dup") == 0)
        MPI_Comm_dup(comm, &made);
    else if (strcmp(step, "split") == 0)
        MPI_Comm_split(comm, rank % 2, rank, &made);
    else if (strcmp(step, "world") == 0)
        made = MPI_COMM_WORLD;
    else if (strcmp(step, "self") == 0)
        made = MPI_COMM_SELF;
    else
        return 0;
    current(made);
    return 1;
}

static int do_step(const char *step)
{
    char name[64];
    const char *value = strchr(step, '=');
    if (on_communicator(step))
        return 1;
    if (strcmp(step, "return") == 0)
        return MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) == MPI_SUCCESS;
    if (!value++)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)(value - 1 - step), step);
    if (strcmp(name, "name") == 0)
        return MPI_Comm_set_name(comm, value) == MPI_SUCCESS;
    if (strcmp(name, "name+") == 0) {
        char text[64];
        snprintf(text, sizeof text, "%s%d", value, rank);
        return MPI_Comm_set_name(comm, text) == MPI_SUCCESS;
    }
    if (strcmp(name, "set") == 0)
        return set(value), 1;
    if (strncmp(name, "set@", 4) == 0)
        return set(atoi(name + 4) == rank ? value : ""), 1;
    if (strcmp(name, "pcontrol") == 0)
        return MPI_Pcontrol(atoi(value)), 1;
    return collective(name, atoi(value));
}

int main(int argc, char **argv)
{
    testing_watchdog(50);
    const int past = argc > 1 && strcmp(argv[1], "past") == 0;
    if (past)
        PMPI_Init(&argc, &argv);
    else
        MPI_Init(&argc, &argv);
    current(MPI_COMM_WORLD);
    testing_rank = rank;
    for (int i = 1 + past; i < argc; i++) {
        snprintf(testing_label, sizeof testing_label, "step %s", argv[i]);
        CHECK(do_step(argv[i]), "no such step: %s", argv[i]);
    }
    MPI_Finalize();
    return testing_end("script");
}
