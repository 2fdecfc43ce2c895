/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.c - what shm does when there is no memory to share, or little, and what it leaves behind.
 *
 *     limits refused WHAT WHEN   WHAT of refuse.h in all ranks, WHEN: before or after MPI_Init, or
 *                                late: when all is in use; or RANK: after MPI_Init, in this rank
 *                                only.  WHAT=copy: of shm?copy=single, descriptors: of os
 *     limits full                /dev/shm has no room after MPI_Init
 *     limits many N BYTES        N communicators, with so much shared memory for each process
 *     limits forever             until somebody ends it; CRESTA_IMPL may name another one than shm
 */
#include <cresta_sp_coll.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#include "refuse.h"
#include "testing/testing.h"

enum { RANKS = 4, SMALL = 4, MIDDLE = 1000, LARGE = 25 << 10, HUGE = 256 << 10, SKIPPED = 77 };

static int in[RANKS * HUGE], out[RANKS * HUGE], rank, size;

static int skip(const char *why)
{
    printf("skipped: %s\n", why);
    return SKIPPED;
}

/* --- results that are known ------------------------------------------------------------- */

static int value(int of, int i)
{
    return 7 * of + 3 * i + 1;
}

/* The sum of ranks 0 to `ranks` - 1. */
static int sum(int ranks, int i)
{
    return 7 * ranks * (ranks - 1) / 2 + ranks * (3 * i + 1);
}

static void give(int n, int of)
{
    for (int i = 0; i < n; i++)
        in[i] = value(of, i), out[i] = -1;
}

static void reductions(MPI_Comm comm, int n, int root)
{
    int wrong[4] = {0};
    give(n, rank);
    CRESTA_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        wrong[0] += out[i] != sum(size, i);
    give(n, rank);
    CRESTA_Reduce(in, out, n, MPI_INT, MPI_SUM, root, comm);
    for (int i = 0; rank == root && i < n; i++)
        wrong[1] += out[i] != sum(size, i);
    give(n, rank);
    CRESTA_Scan(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        wrong[2] += out[i] != sum(rank + 1, i);
    give(n * size, rank);
    CRESTA_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        wrong[3] += out[i] != sum(size, rank * n + i);
    CHECK(!wrong[0] && !wrong[1] && !wrong[2] && !wrong[3],
          "%d ints: wrong are %d of allreduce, %d of reduce, %d of scan, %d of reduce_scatter", n,
          wrong[0], wrong[1], wrong[2], wrong[3]);
}

static void movements(MPI_Comm comm, int n, int root)
{
    int wrong[5] = {0};
    give(n, root);
    if (rank != root)
        memset(in, 0, sizeof *in * (size_t)n);
    CRESTA_Bcast(in, n, MPI_INT, root, comm);
    for (int i = 0; i < n; i++)
        wrong[0] += in[i] != value(root, i);
    give(n, rank);
    CRESTA_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm);
    for (int i = 0; i < n * size; i++)
        wrong[1] += out[i] != value(i / n, i % n);
    give(n, rank);
    CRESTA_Gather(in, n, MPI_INT, out, n, MPI_INT, root, comm);
    for (int i = 0; rank == root && i < n * size; i++)
        wrong[2] += out[i] != value(i / n, i % n);
    give(n * size, root);
    CRESTA_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, comm);
    for (int i = 0; i < n; i++)
        wrong[3] += out[i] != value(root, rank * n + i);
    give(n * size, rank);
    CRESTA_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm);
    for (int i = 0; i < n * size; i++)
        wrong[4] += out[i] != value(i / n, rank * n + i % n);
    CHECK(!wrong[0] && !wrong[1] && !wrong[2] && !wrong[3] && !wrong[4],
          "%d ints: wrong are %d of bcast, %d of allgather, %d of gather, %d of scatter, %d of "
          "alltoall",
          n, wrong[0], wrong[1], wrong[2], wrong[3], wrong[4]);
}

static void exercise(MPI_Comm comm, int n)
{
    static int turn;
    const int root = turn++ % size;
    CRESTA_Barrier(comm);
    movements(comm, n, root);
    reductions(comm, n, root);
}

/* --- what this process has -------------------------------------------------------------- */

static FILE *opened(const char *name)
{
    FILE *file = fopen(name, "r");
    if (file == NULL) {
        perror(name);
        exit(1);
    }
    return file;
}

/* Bytes of segments, their number in *n. */
static size_t mapped(int *n)
{
    char line[512];
    size_t bytes = 0, from, to;
    FILE *maps = opened("/proc/self/maps");
    *n = 0;
    while (fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "memfd:crestacoll") != NULL && sscanf(line, "%zx-%zx", &from, &to) == 2)
            bytes += to - from, ++*n;
    fclose(maps);
    return bytes;
}

/* Bytes of shared memory that this process has touched. */
static size_t touched(void)
{
    char line[256];
    size_t kilobytes = 0;
    FILE *status = opened("/proc/self/status");
    while (fgets(line, sizeof line, status) != NULL)
        sscanf(line, "RssShmem: %zu", &kilobytes);
    fclose(status);
    return kilobytes << 10;
}

static int entries(const char *folder)
{
    int n = 0;
    DIR *open = opendir(folder);
    while (open != NULL && readdir(open) != NULL)
        n++;
    if (open != NULL)
        closedir(open);
    return n;
}

/* --- the commands ----------------------------------------------------------------------- */

static void check_segments(int expected)
{
    int segments;
    mapped(&segments);
    CHECK(segments == expected, "%d segments, not %d", segments, expected);
}

static void all_sizes(MPI_Comm comm)
{
    static const int counts[] = {SMALL, MIDDLE, LARGE, SMALL};
    for (int i = 0; i < LEN(counts); i++)
        exercise(comm, counts[i]);
}

static bool refuses_here(const char *when)
{
    if (strcmp(when, "after") == 0 || strcmp(when, "late") == 0)
        return true;
    return strcmp(when, "before") != 0 && atoi(when) == rank;
}

/* What is refused late finds a communicator with its first slot rings, which stay in use. */
static int refused(const char *what, const char *when)
{
    MPI_Comm later;
    const bool early = strcmp(when, "before") == 0,
               files = strcmp(what, "descriptors") != 0, /* to look for segments by */
        memory = strcmp(what, "copy") == 0 || strcmp(what, "peace") == 0;
    if (strcmp(when, "late") == 0)
        all_sizes(MPI_COMM_WORLD);
    else if (!early)
        exercise(MPI_COMM_WORLD, SMALL);
    if (refuses_here(when) && !refuse(what))
        MPI_Abort(MPI_COMM_WORLD, SKIPPED);
    all_sizes(MPI_COMM_WORLD);
    if (files)
        check_segments(memory ? 2 : !early);
    MPI_Comm_dup(MPI_COMM_WORLD, &later);
    all_sizes(later);
    if (files)
        check_segments(memory ? 4 : !early);
    MPI_Comm_free(&later);
    return 0;
}

/* Only where little fits. */
static int full(void)
{
    static char block[1 << 20];
    struct statvfs room;
    int file = -1;
    if (statvfs("/dev/shm", &room) != 0 || room.f_blocks * room.f_frsize > 256 << 20)
        return skip("/dev/shm is large");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        file = open("/dev/shm/filler", O_CREAT | O_EXCL | O_WRONLY, 0600);
        unlink("/dev/shm/filler");
        for (size_t n = sizeof block; n > 0; n /= 2)
            while (write(file, block, n) > 0)
                continue;
        CHECK(statvfs("/dev/shm", &room) == 0 && room.f_bfree == 0, "%ld blocks are free",
              (long)room.f_bfree);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    all_sizes(MPI_COMM_WORLD);
    check_segments(2);
    return 0;
}

enum {
    SHARE = 16 << 10, /* of a process in the first part of a communicator, at most */
    MORE = 1 << 20,   /* in the second */
    POOLED = 8,       /* segments that wait for a communicator, at most */
/* What the MPI may touch of its own shared memory in the meantime. */
#if defined(I_MPI_VERSION) /* 28 KiB for each communicator of a rank */
    OF_MPI = 4 << 20,
#else
    OF_MPI = 1 << 20,
#endif
};

/* The first part of a communicator takes little, the second comes as long as the bound allows. */
static void fill_communicators(MPI_Comm *comms, int n, size_t most, size_t before)
{
    const size_t ranks = (size_t)size, small = (size_t)n * SHARE < most ? (size_t)n * SHARE : most;
    int segments;
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        exercise(comms[i], SMALL);
    }
    size_t bytes = mapped(&segments);
    const bool pooled = segments == n + 1; /* the first's second part, while there is room */
    CHECK(bytes <= (small + (pooled ? MORE : 0)) * ranks && bytes <= most * ranks &&
              (most < (size_t)n * SHARE || segments == n || pooled),
          "%zu bytes in %d segments after small calls", bytes, segments);
    CHECK(touched() <= before + small * ranks + OF_MPI, "%zu bytes, %zu before", touched(), before);
    for (int i = 0; i < n; i++) {
        exercise(comms[i], LARGE);
        exercise(comms[i], SMALL);
    }
    bytes = mapped(&segments);
    CHECK(bytes <= most * ranks && (most < small + MORE || segments > n),
          "%zu bytes in %d segments after large calls", bytes, segments);
    CHECK(touched() <= before + most * ranks + OF_MPI, "%zu bytes, %zu before", touched(), before);
}

/* What was freed may be used again. */
static void check_given_back(size_t most)
{
    MPI_Comm comm;
    int before, now;
    mapped(&before);
    CHECK(before <= POOLED, "%d segments are left", before);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all_sizes(comm);
    mapped(&now);
    CHECK(now <= POOLED + 1 && (most < SHARE + MORE || now >= 2), "%d segments of one", now);
    MPI_Comm_free(&comm);
}

static int many(int n, size_t most)
{
    MPI_Comm *comms = malloc((size_t)n * sizeof(MPI_Comm)), first;
    MPI_Comm_dup(MPI_COMM_WORLD, &first); /* what the MPI itself opens for good */
    all_sizes(first);
    MPI_Comm_free(&first);
    const int files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    const size_t before = touched();
    fill_communicators(comms, n, most, before);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&comms[i]);
    check_given_back(most);
    CHECK(touched() <= before + POOLED * MORE * (size_t)size + OF_MPI,
          "%zu bytes are left, %zu before", touched(), before);
    const int now = entries("/proc/self/fd"), pidfds = size - 1; /* of long waits (base/proc.h) */
    CHECK(now >= files && now <= files + pidfds, "%d files, %d before", now, files);
    CHECK(entries("/proc/self/task") == threads, "%d threads, %d before",
          entries("/proc/self/task"), threads);
    free(comms);
    return 0;
}

/* With the progress thread thread at work. */
static void split(MPI_Comm comm)
{
    static int from[HUGE], to[HUGE];
    MPI_Request request;
    CRESTA_Allreduce_begin(from, to, HUGE, MPI_INT, MPI_SUM, comm, &request);
    exercise(comm, SMALL);
    CRESTA_Coll_end(1, &request);
}

static _Noreturn void forever(void)
{
    for (int k = 0;; k++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        exercise(comm, SMALL);
        exercise(comm, 16 << 10);
        exercise(comm, HUGE);
        split(comm);
        MPI_Comm_free(&comm);
        for (int i = 0; i < 1000; i++)
            exercise(MPI_COMM_WORLD, SMALL);
        if (k == 0 && rank == 0)
            puts("going");
        fflush(stdout);
    }
}

static int command(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (!CHECK(size <= RANKS, "%d ranks, room for %d", size, RANKS))
        return 1;
    if (strcmp(name, "refused") == 0 && argc == 4)
        return refused(argv[2], argv[3]);
    if (strcmp(name, "full") == 0)
        return full();
    if (strcmp(name, "many") == 0 && argc == 4)
        return many(atoi(argv[2]), (size_t)atoll(argv[3]));
    if (strcmp(name, "forever") == 0)
        forever();
    CHECK(0, "no such command");
    return 1;
}

int main(int argc, char **argv)
{
    testing_watchdog(50);
    const int ends = argc != 2 || strcmp(argv[1], "forever") != 0;
    const char *what = argc == 4 ? argv[2] : "", *impl = "*=shm";
    if (strcmp(what, "copy") == 0)
        impl = "*=shm?copy=single";
    if (strcmp(what, "descriptors") == 0)
        impl = "*=os";
    setenv("CRESTA_IMPL", impl, ends);
    if (ends) /* no memory for begins: what blocking calls take counts */
        setenv("CRESTA_ASYNC", "off", 1);
    if (argc == 4 && strcmp(argv[1], "many") == 0)
        setenv("CRESTA_SHM_MEMORY", argv[3], 1);
    if (argc == 4 && strcmp(argv[1], "refused") == 0 && strcmp(argv[3], "before") == 0 &&
        !refuse(argv[2]))
        return skip("this kernel refuses nothing here");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    snprintf(testing_label, sizeof testing_label, "%s %s", argc > 1 ? argv[1] : "",
             argc > 2 ? argv[2] : "");
    const int rc = command(argc, argv);
    MPI_Finalize();
    const int failed = testing_end("limits");
    return failed ? failed : rc;
}
