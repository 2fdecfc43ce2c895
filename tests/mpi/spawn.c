/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.c - a spawned world of two: collectives across, and on the merged intracommunicator.
 *
 *     spawn IMPL          one or more ranks; starts two copies of itself
 * Exit code 77: the MPI itself cannot spawn here.
 */
#include "call.h"
#include "testing/testing.h"

enum { CHILDREN = 2, SKIP = 77 };

/* In pieces: all ranks must cut alike, whether their own world outnumbers its cores or not. */
static void in_pieces(MPI_Comm merged, int rank, int size)
{
    enum { MANY = 400000 };
    static unsigned char bytes[MANY];
    for (int root = 0; root < size; root++) {
        int wrong = 0;
        for (int i = 0; i < MANY; i++)
            bytes[i] = (unsigned char)(rank == root ? 7 * i + i / 1000 + root : 0);
        CRESTA_Bcast(bytes, MANY, MPI_BYTE, root, merged);
        for (int i = 0; i < MANY; i++)
            wrong += bytes[i] != (unsigned char)(7 * i + i / 1000 + root);
        CHECK(wrong == 0, "%d bytes of a bcast from rank %d are wrong", wrong, root);
    }
}

/* So large that shm?copy=auto asks how far the cores are.  `comm` has two ranks. */
static void large(MPI_Comm comm, const char *spec)
{
    enum { BLOCK = 160 << 10, STEP = 97 };
    static int in[2 * BLOCK], out[2 * BLOCK];
    int rank;
    MPI_Comm_rank(comm, &rank);
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "%s", spec);
    for (int call = 0; call < 3; call++) {
        for (int i = 0; i < 2 * BLOCK; i++)
            in[i] = 2 * i + rank + call;
        CRESTA_Alltoall(in, BLOCK, MPI_INT, out, BLOCK, MPI_INT, comm);
        for (int i = 0; i < BLOCK; i += STEP)
            for (int from = 0; from < 2; from++)
                CHECK(out[from * BLOCK + i] == 2 * (rank * BLOCK + i) + from + call,
                      "call %d: element %d from %d", call, i, from);
    }
}

/* One rank knows the distance from its own world, the other knows none. */
static void of_two_worlds(MPI_Comm merged, const char *spec)
{
    MPI_Comm pair;
    int rank, size;
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    MPI_Comm_split(merged, rank < size - CHILDREN - 1 || rank == size - 1, rank, &pair);
    MPI_Comm_size(pair, &size);
    if (size == 2)
        large(pair, spec);
    MPI_Comm_free(&pair);
}

static void together(MPI_Comm across, int child, const char *spec)
{
    MPI_Comm merged;
    int rank, size, sum = 0, words[2] = {0, 0};
    CHECK(MPI_Intercomm_merge(across, child, &merged) == MPI_SUCCESS, "merge");
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    CHECK(CRESTA_Set_impl(merged, spec) == MPI_SUCCESS, "%s", spec);
    for (int i = 0; i < 3; i++) {
        const int one = 1 + i;
        CHECK(CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged) == MPI_SUCCESS,
              "allreduce");
        CHECK(sum == one * size, "sum %d", sum);
    }
    if (rank == size - 1)
        words[0] = 3, words[1] = 4;
    CRESTA_Bcast(words, 2, MPI_INT, size - 1, merged);
    CHECK(words[0] == 3 && words[1] == 4, "bcast %d %d", words[0], words[1]);
    in_pieces(merged, rank, size);
    if (strstr(spec, "copy=") != NULL)
        of_two_worlds(merged, spec);
    CRESTA_Barrier(merged);
    MPI_Comm_free(&merged);
}

int main(int argc, char **argv)
{
#if defined(I_MPI_VERSION)
    (void)argc, (void)argv;
    printf("skipped: MPI_Comm_spawn of Intel MPI ends by a segmentation fault\n");
    return SKIP;
#endif
    MPI_Comm parent, across;
    char spec[128];
    testing_watchdog(50);
    snprintf(spec, sizeof spec, "*=%s", argc > 1 ? argv[1] : "mpi");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        int sum = 0, one = 1;
        CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == CHILDREN, "the children's world: %d", sum);
        if (strstr(spec, "copy=") != NULL)
            large(MPI_COMM_WORLD, spec);
        together(parent, 1, spec);
        MPI_Comm_disconnect(&parent);
    } else {
        char *arguments[] = {argc > 1 ? argv[1] : "mpi", NULL};
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        const int rc = PMPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, 0,
                                       MPI_COMM_WORLD, &across, MPI_ERRCODES_IGNORE);
        if (rc != MPI_SUCCESS) {
            char why[MPI_MAX_ERROR_STRING];
            int length;
            MPI_Error_string(rc, why, &length);
            printf("left out: this MPI cannot spawn here: %s\n", why);
            MPI_Finalize();
            return SKIP;
        }
        together(across, 0, spec);
        MPI_Comm_disconnect(&across);
    }
    MPI_Finalize();
    return testing_end(parent == MPI_COMM_NULL ? "spawn" : "spawned");
}
