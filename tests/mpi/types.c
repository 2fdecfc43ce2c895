/* SPDX-License-Identifier: BSD-3-Clause */
/* types.c - unusual types that are valid: of MPI_Type_create_f90_*, alone and inside others; of
 * size zero, where the other side says that there are no elements; none where the count is 0.
 *
 *     types IMPL,...          linked: with begins too
 *     types_plain IMPL,...    under the preload library, communicators of these names
 */
#include <stdbool.h>

#include "choose.h"

#if defined(PLAIN_MPI)
#define CALL(name) MPI_##name
#else
#define CALL(name) CRESTA_##name
#endif

enum { MOST = 8 };

#if defined(I_MPI_VERSION) /* its own MPI_Gatherv does not return: docs/mpi-defects.md */
enum { HANGS_GATHERV = 1 };
#else
enum { HANGS_GATHERV = 0 };
#endif

static int rank, size;
static MPI_Comm comm;

static void f90(MPI_Datatype type)
{
    double data[4], one = 1, sum = 0;
    MPI_Datatype two, strided;
    snprintf(testing_label, sizeof testing_label, "types of MPI_Type_create_f90_real");
    MPI_Type_contiguous(2, type, &two);
    MPI_Type_commit(&two);
    MPI_Type_vector(2, 1, 2, two, &strided);
    MPI_Type_commit(&strided);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++)
            data[k] = 10 * rank + k;
        CALL(Bcast)(data, 2, two, 0, comm);
        CHECK(data[0] == 0 && data[3] == 3, "%g %g", data[0], data[3]);
        data[0] = rank;
        CALL(Bcast)(data, 1, type, size - 1, comm);
        CHECK(data[0] == size - 1, "%g", data[0]);
        double wide[6] = {rank, rank, -1, -1, rank, rank};
        CALL(Bcast)(wide, 1, strided, 0, comm);
        CHECK(wide[0] == 0 && wide[2] == -1 && wide[5] == 0, "%g %g %g", wide[0], wide[2], wide[5]);
        CALL(Allreduce)(&one, &sum, 1, type, MPI_SUM, comm);
        CHECK(sum == size, "sum %g", sum);
    }
    MPI_Type_free(&two);
    MPI_Type_free(&strided);
}

/* To itself only.  Open MPI takes no null type. */
static void null_types(void)
{
#if !defined(OPEN_MPI)
    int counts[MOST] = {0}, displs[MOST] = {0}, mine = rank, got = -1;
    MPI_Datatype types[MOST];
    snprintf(testing_label, sizeof testing_label, "no type where the count is 0");
    for (int i = 0; i < size; i++)
        types[i] = MPI_DATATYPE_NULL;
    counts[rank] = 1;
    types[rank] = MPI_INT;
    CALL(Alltoallw)(&mine, counts, displs, types, &got, counts, displs, types, comm);
    CHECK(got == rank, "got %d", got);
    CALL(Alltoallw)(MPI_IN_PLACE, NULL, NULL, NULL, &got, counts, displs, types, comm);
    CHECK(got == rank, "got %d in place", got);
#if !defined(PLAIN_MPI)
    MPI_Request request;
    got = -1;
    CRESTA_Alltoallw_begin(&mine, counts, displs, types, &got, counts, displs, types, comm,
                           &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == rank, "got %d by a begin", got);
#endif
#endif
}

/* One element of no size from everybody to everybody, which the other side calls none, but for one
 * number to itself; or the other way round. */
static void empty(MPI_Datatype none, int way)
{
    int one[MOST], zero[MOST] = {0}, displs[MOST] = {0}, mine = rank, got = -1;
    MPI_Datatype empties[MOST], ints[MOST];
    for (int i = 0; i < size; i++) {
        one[i] = 1;
        empties[i] = i == rank ? MPI_INT : none;
        ints[i] = MPI_INT;
    }
    zero[rank] = 1;
    const int *s = way ? zero : one, *r = way ? one : zero;
    const MPI_Datatype *st = way ? ints : empties, *rt = way ? empties : ints;
    snprintf(testing_label, sizeof testing_label, "alltoallw of nothing, %d", way);
    CALL(Alltoallw)(&mine, s, displs, st, &got, r, displs, rt, comm);
    CHECK(got == rank, "got %d", got);
    zero[rank] = 0;
    snprintf(testing_label, sizeof testing_label, "alltoallv of nothing, %d", way);
    CALL(Alltoallv)
    (&mine, s, displs, way ? MPI_INT : none, &got, r, displs, way ? none : MPI_INT, comm);
#if !defined(PLAIN_MPI)
    MPI_Request request;
    snprintf(testing_label, sizeof testing_label, "begun alltoallv of nothing, %d", way);
    CRESTA_Alltoallv_begin(&mine, s, displs, way ? MPI_INT : none, &got, r, displs,
                           way ? none : MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    zero[rank] = 1;
    got = -1;
    snprintf(testing_label, sizeof testing_label, "begun alltoallw of nothing, %d", way);
    CRESTA_Alltoallw_begin(&mine, s, displs, st, &got, r, displs, rt, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == rank, "got %d by a begin", got);
#endif
}

/* Where everybody gives to one, or one to everybody.  (The other way round some MPIs wait for ever
 * in their own blocking calls.) */
static void empty_rooted(MPI_Datatype none, bool of_mpi)
{
    int zero[MOST] = {0}, one[MOST], displs[MOST] = {0}, mine = rank, got = -1;
    for (int i = 0; i < size; i++)
        one[i] = 1;
    snprintf(testing_label, sizeof testing_label, "gathers and scatters of nothing");
    if (!(HANGS_GATHERV && of_mpi))
        CALL(Gatherv)(&mine, 1, none, &got, zero, displs, MPI_INT, 0, comm);
    CALL(Scatterv)(&mine, one, displs, none, &got, 0, MPI_INT, 0, comm);
    CALL(Allgatherv)(&mine, 1, none, &got, zero, displs, MPI_INT, comm);
    CALL(Gather)(&mine, 1, none, &got, 0, MPI_INT, 0, comm);
    CALL(Scatter)(&mine, 1, none, &got, 0, MPI_INT, 0, comm);
    CALL(Allgather)(&mine, 1, none, &got, 0, MPI_INT, comm);
    CALL(Alltoall)(&mine, 1, none, &got, 0, MPI_INT, comm);
    CHECK(got == -1, "got %d", got);
}

static void run(const char *impl)
{
    MPI_Datatype real, none;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm, impl);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    f90(real);
    null_types();
    for (int way = 0; way < 2; way++)
        empty(none, way);
    empty_rooted(none, strcmp(impl, "mpi") == 0);
    MPI_Type_free(&none);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    testing_watchdog(30);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_each(argc > 1 ? argv[1] : "p2p", run);
    MPI_Finalize();
    return testing_end("types");
}
