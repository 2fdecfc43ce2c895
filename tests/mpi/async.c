/* SPDX-License-Identifier: BSD-3-Clause */
/* async.c - the progress thread: what it moves, when it sleeps, when it is there at all.
 *
 *     async IMPL,... LEVEL EXPECTED [past]
 *
 * LEVEL is what the program asks MPI_Init_thread for, 0 to 3 (-1: it calls MPI_Init); EXPECTED is
 * "thread", "memory" (it does not call the MPI) or "none": what CRESTA_ASYNC makes of that; "past"
 * ends by PMPI_Finalize. */
#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "begun.h"
#include "testing/testing.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { MANY = 40, INTS = 5000, THREADS = 3, MOST = 200 * WHOLE_COLLS };

static int rank, size;
static const char *impl; /* as a rule */
static MPI_Comm world;
static bool helped, calls_mpi; /* the progress thread: there is one; it calls the MPI */

static bool read_line(const char *path, const char *head, char *line, int room)
{
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file != NULL && !found && fgets(line, room, file) != NULL)
        found = strncmp(line, head, strlen(head)) == 0;
    if (file != NULL)
        fclose(file);
    return found;
}

/* The progress thread, as /proc names it; false if there is none. */
static bool find_progress_thread(char name[32])
{
    DIR *tasks = opendir("/proc/self/task");
    bool found = false;
    for (struct dirent *task; !found && (task = readdir(tasks)) != NULL;) {
        char path[300], line[100];
        snprintf(path, sizeof path, "/proc/self/task/%.20s/status", task->d_name);
        found = read_line(path, "Name:\tcrestacoll\n", line, sizeof line);
        snprintf(name, 32, "%.20s", task->d_name);
    }
    closedir(tasks);
    return found;
}

static bool has_progress_thread(void)
{
    char name[32];
    return find_progress_thread(name);
}

/* What /proc says of it; false if it says nothing. */
static bool ask_progress_thread(const char *file, const char *head, char *line, int room)
{
    char name[32], path[300];
    if (!find_progress_thread(name))
        return false;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/%s", name, file);
    return read_line(path, head, line, room);
}

/* How often it has gone to sleep; -1 if /proc does not say it. */
static long count_sleeps(void)
{
    static const char head[] = "voluntary_ctxt_switches:";
    char line[200];
    return ask_progress_thread("status", head, line, sizeof line) ? atol(line + strlen(head)) : -1;
}

/* Does it wait for a condition, in the last of so many looks in a row at a wait?  Most C libraries
 * take another operation to wait for a lock, which anybody may hold for a while. */
static bool waits_to_be_woken(const char *call, int *looks)
{
    unsigned long operation = 0;
    long number = -1;
    const bool waits = sscanf(call, "%ld %*x %lx", &number, &operation) == 2 && number == SYS_futex;
    *looks = waits ? *looks + 1 : 0;
    return waits && ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET || *looks > 100);
}

static void doze(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* While nothing is under way it does not wake at all: sooner or later it waits to be woken, and not
 * for a time to pass.  It has not slept any more after that. */
static void sleeps_when_idle(void)
{
    char call[200];
    int looks = 0;
    snprintf(testing_label, sizeof testing_label,
             "nothing is under way, but the progress thread sleeps");
    MPI_Barrier(MPI_COMM_WORLD);
    if (!ask_progress_thread("syscall", "", call, sizeof call)) /* which not every kernel tells */
        return;
    while (!waits_to_be_woken(call, &looks)) {
        doze(1);
        if (!ask_progress_thread("syscall", "", call, sizeof call))
            return;
    }
    const long before = count_sleeps();
    doze(20);
    const long after = count_sleeps();
    CHECK(after == before && after > 0, "woke %ld times", after - before);
}

/* Nobody calls the MPI between begin and end: a single test, at last, finds it complete.  How long
 * it takes is the machine's affair; if nothing moves it, the watchdog says so. */
static void moves_in_background(enum coll coll, int n)
{
    struct begun f;
    int done = 0;
    snprintf(testing_label, sizeof testing_label, "%s in the background, %d ints", coll_names[coll],
             n);
    for (long milliseconds = 2; !done; milliseconds = (2 * milliseconds) % 1000) {
        begun_start(&f, coll, world, n, 0, n, false);
        doze(milliseconds);
        if (calls_mpi)
            PMPI_Request_get_status(f.request, &done, MPI_STATUS_IGNORE);
        else
            MPI_Request_get_status(f.request, &done, MPI_STATUS_IGNORE);
        CRESTA_Coll_end(1, &f.request);
        begun_check(&f);
        MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
}

/* Requests that ended past the interposer.  The library learns of that when the MPI gives the
 * handle again, and the progress thread polls until then. */
static MPI_Request passed[MOST];
static int passed_count;

/* AddressSanitizer does not give freed memory again for long, and handles of Open MPI are addresses
 * of such memory: there no request ends past the interposer. */
#if defined(__SANITIZE_ADDRESS__) && defined(OMPI_MAJOR_VERSION)
enum { COME_AGAIN = 0 };
#else
enum { COME_AGAIN = 1 };
#endif

static void begin(struct begun *f, enum coll coll, int n, int root, long number)
{
    begun_start(f, coll, world, n, root, number, false);
    for (int i = 0; i < passed_count; i++)
        if (passed[i] == f->request)
            passed[i--] = passed[--passed_count];
}

static bool any_passed(void)
{
    int any = passed_count > 0;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

/* Begins until the MPI has given each of these handles again: that may take as many begins as it
 * has handles that are free, since MPICH 5 does not begin with the last that became free. */
static void take_back(void)
{
    static struct begun calls[MOST];
    int count = 0;
    snprintf(testing_label, sizeof testing_label, "handles of requests that ended elsewhere");
    while (count < MOST && any_passed())
        for (int i = 0; i < 2 * WHOLE_COLLS; i++, count++)
            begin(&calls[count], (enum coll)(i / 2), 3, i % 2 ? size - 1 : 0, count);
    for (int i = 0; i < count; i++) {
        CRESTA_Coll_end(1, &calls[i].request);
        begun_check(&calls[i]);
    }
    CHECK(passed_count == 0, "%d handles did not come again in %d begins", passed_count, count);
}

/* Blocks in the MPI until the other rank has sent a word. */
static void await_word(int way, int from)
{
    int word = -1;
    MPI_Request request;
    switch (way % 3) {
    case 0:
        MPI_Recv(&word, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Irecv(&word, 1, MPI_INT, from, 2, MPI_COMM_WORLD, &request);
        PMPI_Wait(&request, MPI_STATUS_IGNORE); /* past the interposer */
        break;
    default:
        MPI_Probe(from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&word, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(word == from, "word %d from %d", word, from);
}

/* One rank waits in the MPI for another that ends first; the other image swaps them. */
static void mixed_order(enum coll coll, int n, int way, int first, int second)
{
    struct begun f;
    snprintf(testing_label, sizeof testing_label, "%s of %d ints, rank %d waits for %d, way %d",
             coll_names[coll], n, first, second, way);
    begin(&f, coll, n, first, way);
    if (rank == first)
        await_word(way, second);
    if (way % 2) {
        CRESTA_Coll_end(1, &f.request);
    } else if (calls_mpi && COME_AGAIN) { /* completed by the progress thread alone */
        passed[passed_count++] = f.request;
        PMPI_Wait(&f.request, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&f.request, MPI_STATUS_IGNORE);
    }
    if (rank == second)
        MPI_Send(&rank, 1, MPI_INT, first, 2, MPI_COMM_WORLD);
    begun_check(&f);
}

static void mixed_orders(void)
{
    for (int coll = 0; coll < WHOLE_COLLS && size > 1; coll++)
        for (int way = 0; way < 6; way++) {
            const int n = way < 3 ? 3 : INTS;
            mixed_order((enum coll)coll, n, way, 0, size - 1);
            mixed_order((enum coll)coll, n, way, size - 1, 0);
        }
}

static void many_at_once(void)
{
    static struct begun calls[MANY];
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) {
        begun_start(&calls[i], (enum coll)(i % WHOLE_COLLS), world, i * 7, i, i, false);
        requests[i] = calls[i].request;
    }
    snprintf(testing_label, sizeof testing_label, "%d at once", MANY);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) {
        calls[i].request = requests[i];
        begun_check(&calls[i]);
    }
}

/* Open MPI does not bear this with calls of its own. */
static void free_in_flight(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        struct begun f;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        CRESTA_Set_impl(comm, impl);
        snprintf(testing_label, sizeof testing_label, "communicator freed in flight");
        begun_start(&f, (enum coll)(i % WHOLE_COLLS), comm, INTS, 0, i, false);
        MPI_Comm_free(&comm);
        CRESTA_Coll_end(1, &f.request);
        begun_check(&f);
    }
}

static void *thread_main(void *data)
{
    MPI_Comm comm = *(MPI_Comm *)data;
    for (int i = 0; i < 100; i++) {
        struct begun a, b;
        begun_start(&a, (enum coll)(i % WHOLE_COLLS), comm, i, i, i, false);
        begun_start(&b, COLL_Allreduce, comm, i, 0, i, false);
        CRESTA_Coll_end(1, &b.request);
        MPI_Wait(&a.request, MPI_STATUS_IGNORE);
        begun_check(&a);
        begun_check(&b);
    }
    return NULL;
}

/* Threads with a communicator each. */
static void several_threads(void)
{
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        CRESTA_Set_impl(comms[i], impl);
    }
    snprintf(testing_label, sizeof testing_label, "several threads");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_main, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
}

/* Every collective runs as a schedule of ours: not every one has every algorithm. */
static bool is_ours(void)
{
    return size > 1 && strchr(impl, ':') == NULL && strstr(impl, "=mpi") == NULL &&
           strstr(impl, "=nonblock") == NULL && strstr(impl, "=persist") == NULL;
}

static void with_progress_thread(void)
{
    CHECK(has_progress_thread(), "there is no progress thread");
    sleeps_when_idle();
    for (int i = 0; i < WHOLE_COLLS; i++)
        if (calls_mpi || is_ours())
            moves_in_background((enum coll)i, 10);
    if (calls_mpi || is_ours())
        moves_in_background(COLL_Alltoall, 100000);
    many_at_once();
    if (is_ours())
        free_in_flight();
    if (calls_mpi)
        several_threads();
    sleeps_when_idle();
}

static void begin_and_end(void)
{
    struct begun f;
    begun_start(&f, COLL_Allreduce, world, 3, 0, 1, false);
    CRESTA_Coll_end(1, &f.request);
    begun_check(&f);
}

static void run(const char *name)
{
    char spec[64];
    snprintf(spec, sizeof spec, "*=%s", name);
    impl = spec;
    MPI_Comm_dup(MPI_COMM_WORLD, &world); /* ends in MPI_Finalize */
    CRESTA_Set_impl(world, spec);
    begin_and_end();
    if (helped)
        with_progress_thread();
    else
        CHECK(!has_progress_thread(), "there is a progress thread");
    mixed_orders();
    take_back();
    begin_and_end();
}

int main(int argc, char **argv)
{
    const int level = argc > 2 ? atoi(argv[2]) : -1;
    int provided;
    helped = argc > 3 && strcmp(argv[3], "none") != 0;
    calls_mpi = helped && strcmp(argv[3], "thread") == 0;
    testing_watchdog(55);
    if (level < 0)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_each(argc > 1 ? argv[1] : "p2p", run);
    if (argc > 4) /* past the interposer */
        PMPI_Finalize();
    else
        MPI_Finalize();
    snprintf(testing_label, sizeof testing_label, "the progress thread is left");
    while (has_progress_thread()) /* the kernel needs a moment to forget it */
        doze(1);
    return testing_end("async");
}
