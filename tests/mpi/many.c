/* SPDX-License-Identifier: BSD-3-Clause */
/* many.c - model shm with more ranks on a node than share flat calls: results, the order of
 * operands, the same bits everywhere and every time, begun calls, communicators that come and go;
 * and how much memory a rank's share is.
 *
 *     many [IMPL]
 *
 * With IMPL, rank 0 prints what memory and set-up were.
 */
#include <crestacoll.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>

#include "testing/testing.h"

enum {
    MOST = 2 << 20, /* bytes of a rank: what all its segments are, and what they came to in pages */
    LARGE = 20000,
};

/* x -> a x + b: compositions do not commute. */
typedef struct map {
    uint32_t a, b;
} map;

static int rank, size;
static char impl[64] = "*=shm";
static double set_up[3]; /* s: of slot rings, of streams, of all ranks' processors in both */

static map map_of(int r, int i)
{
    return (map){(uint32_t)(2 * r + 2 * i + 3), (uint32_t)(r + 7 * i)};
}

static map compose(map f, map g)
{
    return (map){f.a * g.a, f.a * g.b + f.b};
}

/* On MPI_UINT64_T, a map each. */
static void compose_all(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const map *f = in;
    map *g = inout;
    (void)type;
    for (int i = 0; i < *n; i++)
        g[i] = compose(f[i], g[i]);
}

static MPI_Comm new_comm(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(CRESTA_Set_impl(comm, impl) == MPI_SUCCESS, "rule");
    CHECK(CRESTA_Comm_prepare(comm) == MPI_SUCCESS, "prepare");
    return comm;
}

static double used(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Lets others have the core, which MPI_Barrier may not. */
static void meet(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        sched_yield();
}

/* The first call of each kind, which makes the memory. */
static void first_calls(MPI_Comm comm)
{
    int one = 1, sum = 0;
    int *to = calloc(2 * (size_t)size, sizeof *to);
    double times[3];
    for (int i = 0; i < size; i++)
        to[i] = 1000 * rank + i;
    meet();
    const double start = MPI_Wtime(), used_before = used();
    CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    times[0] = MPI_Wtime() - start;
    CRESTA_Alltoall(to, 1, MPI_INT, to + size, 1, MPI_INT, comm);
    times[1] = MPI_Wtime() - start - times[0];
    times[2] = used() - used_before;
    meet();
    CHECK(sum == size, "sum %d", sum);
    for (int i = 0; i < size; i++)
        CHECK(to[size + i] == 1000 * i + rank, "alltoall from %d: %d", i, to[size + i]);
    MPI_Reduce(times, set_up, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(times + 2, set_up + 2, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    free(to);
}

static void reductions(MPI_Comm comm, int n)
{
    MPI_Op op;
    map *in = malloc((size_t)n * sizeof *in), *out = malloc((size_t)n * sizeof *out);
    const int root = size - 2;
    MPI_Op_create(compose_all, 0, &op);
    for (int i = 0; i < n; i++)
        in[i] = map_of(rank, i);
    CRESTA_Allreduce(in, out, n, MPI_UINT64_T, op, comm);
    for (int i = 0; i < n; i += 1 + n / 3) {
        map all = map_of(0, i);
        for (int r = 1; r < size; r++)
            all = compose(all, map_of(r, i));
        CHECK(out[i].a == all.a && out[i].b == all.b, "allreduce of %d, element %d", n, i);
        in[i] = map_of(rank, i);
    }
    CRESTA_Reduce(rank == root ? MPI_IN_PLACE : in, in, n, MPI_UINT64_T, op, root, comm);
    for (int i = 0; i < n && rank == root; i += 1 + n / 3)
        CHECK(in[i].a == out[i].a && in[i].b == out[i].b, "reduce of %d, element %d", n, i);
    MPI_Op_free(&op);
    free(in);
    free(out);
}

/* Sums that depend on their order. */
static void same_bits(MPI_Comm comm, int n)
{
    double *in = malloc((size_t)n * sizeof *in), *out = malloc((size_t)n * sizeof *out);
    double *again = malloc((size_t)n * sizeof *again);
    for (int i = 0; i < n; i++)
        in[i] = 1.0 / (1 + rank + i % 97);
    CRESTA_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(again, in, (size_t)n * sizeof *again);
    CRESTA_Allreduce(MPI_IN_PLACE, again, n, MPI_DOUBLE, MPI_SUM, comm);
    CHECK(memcmp(out, again, (size_t)n * sizeof *out) == 0, "%d: other bits the second time", n);
    memcpy(again, out, (size_t)n * sizeof *again);
    CRESTA_Bcast(again, n, MPI_DOUBLE, size / 2, comm);
    CHECK(memcmp(out, again, (size_t)n * sizeof *out) == 0, "%d: other bits than elsewhere", n);
    free(in);
    free(out);
    free(again);
}

static void begun(MPI_Comm comm)
{
    MPI_Request request;
    int one = rank, most = -1;
    CRESTA_Iallreduce(&one, &most, 1, MPI_INT, MPI_MAX, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(most == size - 1, "most %d", most);
}

/* Bytes of our segments that this process maps; `*pages`: what of that is in memory, each page
 * divided by those who have touched it. */
static double segments(double *pages)
{
    char line[512];
    double all = 0;
    int ours = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    *pages = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned long from, to, kib;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            ours = strstr(line, "memfd:crestacoll") != NULL;
            all += ours ? (double)(to - from) : 0;
        } else if (ours && sscanf(line, "Pss: %lu kB", &kib) == 1) {
            *pages += 1024.0 * (double)kib;
        }
    }
    if (file != NULL)
        fclose(file);
    return all;
}

/* A line of /proc/self/status, in KiB. */
static double status_of(const char *name)
{
    char line[512];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoul(line + strlen(name) + 1, NULL, 10);
    if (file != NULL)
        fclose(file);
    return (double)kib;
}

static void check_memory(int report, const double *before)
{
    double pages, most[3];
    const double mine = segments(&pages) / size;
    const double grown[3] = {status_of("RssAnon") - before[0], status_of("VmPTE") - before[1],
                             pages / 1024};
    CHECK(strcmp(impl, "*=shm") != 0 || mine > 0, "no segment");
    CHECK(mine <= MOST && pages <= MOST, "%.0f bytes of segments, %.0f of pages", mine, pages);
    MPI_Reduce(grown, most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (report && rank == 0)
        printf("%d ranks, %s: first allreduce %.3f s, alltoall %.3f s, %.3f s of processors;"
               " KiB of a rank: %.0f of segments; at most %.0f of their pages, %.0f more of its"
               " own, %.0f more of page tables\n",
               size, impl, set_up[0], set_up[1], set_up[2], mine / 1024, most[2], most[0], most[1]);
}

int main(int argc, char **argv)
{
    const int report = argc > 1;
    if (report)
        snprintf(impl, sizeof impl, "*=%s", argv[1]);
    testing_watchdog(250);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm comm = new_comm();
    const double before[2] = {status_of("RssAnon"), status_of("VmPTE")};
    first_calls(comm);
    reductions(comm, 1);
    reductions(comm, 1);
    reductions(comm, 500);
    reductions(comm, LARGE);
    same_bits(comm, 1);
    same_bits(comm, 1000);
    same_bits(comm, LARGE);
    begun(comm);
    check_memory(report, before);
    MPI_Comm other = new_comm();
    first_calls(other);
    if (report && rank == 0)
        printf("another communicator: %.3f s, %.3f s, %.3f s\n", set_up[0], set_up[1], set_up[2]);
    same_bits(other, 100);
    MPI_Comm_free(&comm);
    same_bits(other, 2);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return testing_end("many");
}
