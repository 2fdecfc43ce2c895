/* SPDX-License-Identifier: BSD-3-Clause */
/* hangs.c - programs that are wrong and hang, for roll-calls and CRESTA_DEBUG=match.
 *
 *     hangs CASE [good]
 *
 * The last rank is the one that differs; with `good` it does what the others do, and the program
 * ends.  Everybody makes one allreduce before, and one after, but where the case is the first call.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include "testing/testing.h"

/* In plain MPI, for the preload library; or linked. */
#if defined(PLAIN_MPI)
#define CALL(x) MPI_##x
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define CALL_INIT(x) MPIX_##x
#else
#define CALL_INIT(x) MPI_##x
#endif
#else
#include <crestacoll.h>
#define CALL(x) CRESTA_##x
#define CALL_INIT(x) CRESTA_##x
#endif

enum { MANY = 1 << 20 }; /* bytes that no MPI sends before somebody receives them */

static char in[MANY], out[MANY];
static int rank, size, differs;
static MPI_Comm row; /* of the same ranks */

static void collective(void)
{
    if (differs)
        CALL(Bcast)(in, MANY, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
        CALL(Reduce)(in, out, MANY / 8, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void root(void)
{
    CALL(Bcast)(in, MANY, MPI_BYTE, differs ? size - 1 : 0, MPI_COMM_WORLD);
}

static void communicator(void)
{
    CALL(Barrier)(differs ? row : MPI_COMM_WORLD);
}

static void late(void)
{
    while (differs)
        pause();
    CALL(Barrier)(MPI_COMM_WORLD);
}

/* A call that no entry of crestacoll's has. */
static void window(void)
{
    MPI_Win win;
    while (differs)
        pause();
    MPI_Win_create(in, MANY, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
}

/* For black boxes: jobs that end before MPI_Finalize. */
static void aborts(void)
{
    if (differs)
        MPI_Abort(MPI_COMM_WORLD, 3);
    CALL(Barrier)(MPI_COMM_WORLD);
}

static void crashes(void)
{
    if (differs)
        raise(SIGSEGV);
    CALL(Barrier)(MPI_COMM_WORLD);
}

/* From 300 places. */
static void many(void)
{
#define TEN(x) x x x x x x x x x x
#define THIRTY(x) TEN(x) TEN(x) TEN(x)
    THIRTY(TEN(CALL(Barrier)(row);))
    CALL(Reduce)(in, out, 1, MPI_LONG, MPI_SUM, size - 1, row); /* they have left all barriers */
    if (differs)
        _exit(0);
    CALL(Barrier)(MPI_COMM_WORLD);
}

static void leaves(void)
{
    if (differs)
        _exit(0);
    CALL(Barrier)(MPI_COMM_WORLD);
}

static void receive(void)
{
    if (differs)
        MPI_Recv(in, 1, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CALL(Barrier)(MPI_COMM_WORLD);
}

static void circle(void)
{
    if (size > 1 && testing_label[0] != 'g')
        MPI_Recv(in, 1, MPI_BYTE, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void request(void)
{
    MPI_Request begun = MPI_REQUEST_NULL;
    if (differs)
        CALL(Ibarrier)(MPI_COMM_WORLD, &begun);
    else if (testing_label[0] != 'g')
        CALL(Iallreduce)(in, out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &begun);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    CALL(Barrier)(MPI_COMM_WORLD);
}

static void begun(void)
{
    MPI_Request begun = MPI_REQUEST_NULL;
    if (differs)
        MPI_Irecv(in, 1, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &begun);
    else
        CALL(Ibarrier)(MPI_COMM_WORLD, &begun);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
}

static void op(void)
{
    int one = 1, all;
    CALL(Allreduce)(&one, &all, 1, MPI_INT, differs ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}

static void bytes(void)
{
    CALL(Allreduce)(in, out, differs ? 3 : 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* The last rank expects one more of rank 0. */
static void counts(void)
{
    int sent[64], taken[64], at[64];
    for (int i = 0; i < size; i++) {
        sent[i] = 1;
        taken[i] = 1 + (differs && i == 0);
        at[i] = 2 * i;
    }
    CALL(Alltoallv)(in, sent, at, MPI_INT, out, taken, at, MPI_INT, MPI_COMM_WORLD);
}

static void finalize(void)
{
    if (!differs)
        CALL(Barrier)(MPI_COMM_WORLD);
}

/* The first collective of all. */
static void first(void)
{
    if (differs)
        MPI_Recv(in, 1, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        CALL(Bcast)(in, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Nothing blocks in a collective. */
static void first_begun(void)
{
    MPI_Request begun = MPI_REQUEST_NULL;
    CALL(Ibcast)(in, 1, MPI_BYTE, differs ? size - 1 : 0, MPI_COMM_WORLD, &begun);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
}

/* On a communicator that the program has made. */
static void first_made(void)
{
    MPI_Request begun = MPI_REQUEST_NULL;
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
    MPI_Comm_set_name(made, "made");
    CALL(Ibcast)(in, MANY, MPI_BYTE, differs ? size - 1 : 0, made, &begun);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
}

/* On a communicator that is made by a call that waits for nobody, of one made so. */
static void first_idup(void)
{
    MPI_Request begun = MPI_REQUEST_NULL;
    MPI_Comm before, made;
    MPI_Comm_idup(MPI_COMM_WORLD, &before, &begun);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    MPI_Comm_idup(before, &made, &begun);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    MPI_Comm_free(&before);
    MPI_Comm_set_name(made, "made");
    CALL(Ibcast)(in, MANY, MPI_BYTE, differs ? size - 1 : 0, made, &begun);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
}

/* A message that no MPI waits for, on a communicator that is freed before the ranks meet again. */
static void first_small(void)
{
    MPI_Request begun = MPI_REQUEST_NULL;
    MPI_Comm made;
    const int sizes[] = {size}, periods[] = {0};
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &made);
    MPI_Comm_set_name(made, "made");
    CALL(Ibcast)(in, 1, MPI_BYTE, testing_label[0] == 'g' ? 0 : rank, made, &begun);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
}

/* One rank begins what the others wait for. */
static void first_mixed(void)
{
    MPI_Request begun = MPI_REQUEST_NULL;
    MPI_Comm made;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made);
    MPI_Comm_set_name(made, "made");
    if (differs)
        CALL(Ibcast)(in, MANY, MPI_BYTE, 0, made, &begun);
    else
        CALL(Bcast)(in, MANY, MPI_BYTE, 0, made);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
}

static int sends; /* of the library */

int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    static int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    if (real == NULL) {
        void *found = dlsym(RTLD_NEXT, "PMPI_Isend");
        memcpy(&real, &found, sizeof real);
    }
    sends++;
    return real(buffer, count, type, to, tag, comm, request);
}

static void use(const char *way, MPI_Comm made)
{
    MPI_Request begun = MPI_REQUEST_NULL;
    int place;
    MPI_Comm_rank(made, &place);
    sends = 0;
    CALL(Ibcast)(in, 1, MPI_BYTE, 0, made, &begun);
    CHECK(place == 0 || sends > 0, "%s: rank 0 does not hear of the first call", way);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
}

#define USE(x, ...)                                                                                \
    do {                                                                                           \
        MPI_Comm made = MPI_COMM_NULL;                                                             \
        MPI_##x(__VA_ARGS__, &made);                                                               \
        use(#x, made);                                                                             \
    } while (0)

/* On all that makes an intracommunicator.  For CRESTA_DEBUG=match. */
static void first_each(void)
{
    const int sizes[] = {size}, no[] = {0}, yes[] = {1};
    const int one[] = {1}, left = (rank + size - 1) % size, right = (rank + 1) % size;
    int ends[64], edges[64];
    MPI_Comm halves, between, grid;
    MPI_Group group;
    for (int i = 0; i < size; i++) {
        ends[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    USE(Comm_dup, MPI_COMM_WORLD);
    USE(Comm_dup_with_info, MPI_COMM_WORLD, MPI_INFO_NULL);
    USE(Comm_split, MPI_COMM_WORLD, 0, rank);
    USE(Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL);
    USE(Comm_create, MPI_COMM_WORLD, group);
    USE(Comm_create_group, MPI_COMM_WORLD, group, 7);
    USE(Cart_create, MPI_COMM_WORLD, 1, sizes, no, 0);
    USE(Graph_create, MPI_COMM_WORLD, size, ends, edges, 0);
    USE(Dist_graph_create, MPI_COMM_WORLD, 1, &rank, one, &right, one, MPI_INFO_NULL, 0);
    USE(Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &left, one, 1, &right, one, MPI_INFO_NULL,
        0);
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, no, 0, &grid);
    USE(Cart_sub, grid, yes);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &halves);
    MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 8, &between);
    USE(Intercomm_merge, between, 0);
    MPI_Comm_free(&between);
    MPI_Comm_free(&halves);
    MPI_Comm_free(&grid);
    MPI_Group_free(&group);
}

static void first_kept(void)
{
#if defined(PLAIN_MPI) || defined(CRESTA_HAVE_PERSISTENT)
    MPI_Request kept;
    CALL_INIT(Bcast_init)
    (in, 1, MPI_BYTE, differs ? size - 1 : 0, MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
    MPI_Start(&kept);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
    MPI_Request_free(&kept);
#endif
}

/* Those of this process that tell of it; the MPIs have others. */
static int telling_threads(void)
{
    int found = 0;
    char path[300], name[32] = "";
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        found += file != NULL && fscanf(file, "%31s", name) == 1 &&
                 strcmp(name, "crestacoll-hang") == 0;
        if (file != NULL)
            fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
    return found;
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"collective", collective},
             {"root", root},
             {"communicator", communicator},
             {"late", late},
             {"window", window},
             {"aborts", aborts},
             {"crashes", crashes},
             {"leaves", leaves},
             {"many", many},
             {"receive", receive},
             {"circle", circle},
             {"request", request},
             {"begun", begun},
             {"op", op},
             {"bytes", bytes},
             {"counts", counts},
             {"finalize", finalize},
             {"first", first},
             {"first_begun", first_begun},
             {"first_made", first_made},
             {"first_idup", first_idup},
             {"first_small", first_small},
             {"first_mixed", first_mixed},
             {"first_each", first_each},
             {"first_kept", first_kept}};

int main(int argc, char **argv)
{
    int one = 1, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &row);
    MPI_Comm_set_name(row, "row");
    const int good = argc > 2;
    differs = rank == size - 1 && !good;
    snprintf(testing_label, sizeof testing_label, "%s", good ? "good" : "bad");
    const int is_first = argc > 1 && strncmp(argv[1], "first", 5) == 0;
    if (!is_first) {
        CALL(Allreduce)(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CALL(Barrier)(row);
    }
    for (int i = 0; i < LEN(cases); i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    if (is_first)
        all = size;
    else if (strcmp(argv[1], "finalize") != 0)
        CALL(Allreduce)(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == size, "%d", all);
    MPI_Comm_free(&row);
    const char *value = getenv("CRESTA_WATCHDOG");
    CHECK(telling_threads() == (value != NULL), "before the end");
    MPI_Finalize();
    CHECK(telling_threads() == 0, "after the end");
    return testing_end("hangs");
}
