/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes_many.c - communicators over several nodes (CRESTA_NODES), more than have room in shared
 * memory: each is used, by blocking and by begun calls, all stay within the bound, and nothing is
 * left when every rank has freed them in an order of its own.
 *
 *     nodes_many N BYTES      N communicators, with so much shared memory for each process
 */
#include <cresta_sp_coll.h>
#include <crestacoll.h>

#include <dirent.h>

#include "testing/testing.h"

enum {
    MOST = 2000,
    NODE = 2 /* ranks of a node, at most */,
    AT_ONCE = 16,
    LARGE = 3000 /* ints: in pieces, between nodes too */
};

static int rank, size;
static size_t most; /* bytes of a process */
static MPI_Comm comms[MOST];

/* Bytes of segments that this process has mapped, their number in *n. */
static size_t mapped(int *n)
{
    char line[512];
    size_t bytes = 0, from, to;
    FILE *maps = fopen("/proc/self/maps", "r");
    for (*n = 0; maps != NULL && fgets(line, sizeof line, maps) != NULL;)
        if (strstr(line, "memfd:crestacoll") != NULL && sscanf(line, "%zx-%zx", &from, &to) == 2)
            bytes += to - from, ++*n;
    if (maps != NULL)
        fclose(maps);
    return bytes;
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

/* A process maps its own share of each segment and those of its node.  Some of `n` communicators
 * have one. */
static void check_memory(int n, const char *when)
{
    int segments, all;
    const size_t bytes = mapped(&segments);
    CHECK(bytes <= NODE * most, "%zu bytes in %d segments %s", bytes, segments, when);
    MPI_Allreduce(&segments, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(0 < all && all < n, "%d segments of %d communicators %s", all, n, when);
}

static void use(MPI_Comm comm, int turn)
{
    static int in[LARGE], out[LARGE];
    const int n = turn % 10 == 0 ? LARGE : 3;
    int wrong = 0;
    for (int i = 0; i < n; i++)
        in[i] = rank + turn + i, out[i] = -1;
    CRESTA_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        wrong += out[i] != size * (size - 1) / 2 + size * (turn + i);
    CRESTA_Bcast(out, n, MPI_INT, turn % size, comm);
    CHECK(wrong == 0, "%d of %d ints are wrong in turn %d", wrong, n, turn);
}

/* Calls on some communicators at once, which end in another order. */
static void begin_and_end(int n, int first)
{
    MPI_Request requests[AT_ONCE];
    int in[AT_ONCE], out[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        in[i] = rank + i;
        CRESTA_Allreduce_begin(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comms[(first + i) % n],
                               &requests[i]);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        const int one = (5 * i + rank) % AT_ONCE;
        CRESTA_Coll_end(1, &requests[one]);
        CHECK(out[one] == size * (size - 1) / 2 + size * one, "%d from communicator %d", out[one],
              first + one);
    }
}

/* Each rank has an order of its own. */
static void free_all(int n)
{
    const int steps[] = {1, 7, 11, 13}, step = steps[rank % LEN(steps)];
    for (int i = 0, at = rank; i < n; i++, at += step) {
        while (comms[at % n] == MPI_COMM_NULL)
            at++;
        MPI_Comm_free(&comms[at % n]);
    }
}

static void many(int n)
{
    int segments;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]); /* what the MPI itself opens for good */
    for (int i = 0; i < 2; i++) {
        use(comms[0], i);
        begin_and_end(1, 0);
    }
    MPI_Comm_free(&comms[0]);
    const int files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        use(comms[i], i);
    }
    check_memory(n, "after blocking calls");
    for (int i = 0; i < n; i += AT_ONCE) {
        begin_and_end(n, i);
        use(comms[n - 1 - i], i);
    }
    check_memory(n, "after begun calls");
    for (int i = 0; i < n; i++)
        use(comms[i], n + i);
    free_all(n);
    MPI_Barrier(MPI_COMM_WORLD);
    mapped(&segments);
    CHECK(segments == 0, "%d segments are left", segments);
    const int now = entries("/proc/self/fd"), pidfds = size - 1; /* of long waits (base/proc.h) */
    CHECK(now >= files && now <= files + pidfds, "%d files, %d before", now, files);
    CHECK(entries("/proc/self/task") == threads, "%d threads, %d before",
          entries("/proc/self/task"), threads);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]); /* the room can be used again */
    use(comms[0], 0);
    check_memory(MOST, "with a new communicator");
    MPI_Comm_free(&comms[0]);
}

int main(int argc, char **argv)
{
    int level;
    testing_watchdog(60);
    if (argc != 3 || atoi(argv[1]) > MOST)
        return 2;
    most = (size_t)atoll(argv[2]);
    setenv("CRESTA_SHM_MEMORY", argv[2], 1);
    setenv("CRESTA_IMPL", "*=hier", 1);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    many(atoi(argv[1]));
    MPI_Finalize();
    return testing_end("nodes_many");
}
