/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_shim.c - a profiling tool that is not crestacoll's, for tests: it counts and times
 * functions of the MPI by clock_gettime, and writes the sums of its rank to CALLS_SHIM.<rank> in
 * MPI_Finalize: function, calls, microseconds.  The first line is the time from the begin of
 * MPI_Init. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct shim_sum {
    const char *name;
    long calls;
    double us;
    struct shim_sum *next;
} shim_sum;

static shim_sum *all;
static double begin;
static int inside; /* calls of this rank's only thread that are open */

static double shim_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void shim_add(shim_sum *sum, const char *name, double us)
{
    if (sum->name == NULL) {
        sum->name = name;
        sum->next = all;
        all = sum;
    }
    sum->calls++;
    sum->us += us;
}

#define SHIM(x, parameters, arguments)                                                             \
    int MPI_##x parameters                                                                         \
    {                                                                                              \
        static shim_sum sum;                                                                       \
        const double start = shim_now();                                                           \
        inside++;                                                                                  \
        const int rc = PMPI_##x arguments;                                                         \
        if (--inside == 0)                                                                         \
            shim_add(&sum, "MPI_" #x, shim_now() - start);                                         \
        return rc;                                                                                 \
    }
#define SENDS(x)                                                                                   \
    SHIM(x, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),                   \
         (b, n, t, to, tag, c))
#define BEGINS(x)                                                                                  \
    SHIM(x, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *q),   \
         (b, n, t, to, tag, c, q))
#define ON_WINDOW(x) SHIM(x, (int a, MPI_Win w), (a, w))

SENDS(Send)
SENDS(Ssend)
SENDS(Bsend)
BEGINS(Isend)
BEGINS(Send_init)
SHIM(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
     (b, n, t, from, tag, c, s))
SHIM(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *q),
     (b, n, t, from, tag, c, q))
SHIM(Sendrecv,
     (const void *b, int n, MPI_Datatype t, int to, int tag, void *b2, int n2, MPI_Datatype t2,
      int from, int tag2, MPI_Comm c, MPI_Status *s),
     (b, n, t, to, tag, b2, n2, t2, from, tag2, c, s))
SHIM(Probe, (int from, int tag, MPI_Comm c, MPI_Status *s), (from, tag, c, s))
SHIM(Iprobe, (int from, int tag, MPI_Comm c, int *f, MPI_Status *s), (from, tag, c, f, s))
SHIM(Start, (MPI_Request * q), (q))
SHIM(Wait, (MPI_Request * q, MPI_Status *s), (q, s))
SHIM(Waitall, (int n, MPI_Request q[], MPI_Status *s), (n, q, s))
SHIM(Test, (MPI_Request * q, int *f, MPI_Status *s), (q, f, s))
SHIM(Barrier, (MPI_Comm c), (c))
SHIM(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
SHIM(Allreduce, (const void *b, void *b2, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
     (b, b2, n, t, o, c))
SHIM(Iallreduce,
     (const void *b, void *b2, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *q),
     (b, b2, n, t, o, c, q))
SHIM(Comm_dup, (MPI_Comm c, MPI_Comm *made), (c, made))
SHIM(Comm_free, (MPI_Comm * c), (c))
SHIM(Win_create, (void *b, MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, MPI_Win *w),
     (b, n, unit, i, c, w))
SHIM(Put,
     (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int n2, MPI_Datatype t2,
      MPI_Win w),
     (b, n, t, to, at, n2, t2, w))
ON_WINDOW(Win_fence)
SHIM(Win_free, (MPI_Win * w), (w))
SHIM(File_open, (MPI_Comm c, const char *name, int mode, MPI_Info i, MPI_File *f),
     (c, name, mode, i, f))
SHIM(File_write_at,
     (MPI_File f, MPI_Offset at, const void *b, int n, MPI_Datatype t, MPI_Status *s),
     (f, at, b, n, t, s))
SHIM(File_close, (MPI_File * f), (f))

int MPI_Init(int *argc, char ***argv)
{
    static shim_sum sum;
    begin = shim_now();
    inside++;
    const int rc = PMPI_Init(argc, argv);
    inside--;
    shim_add(&sum, "MPI_Init", shim_now() - begin);
    return rc;
}

int MPI_Finalize(void)
{
    char path[4096];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s.%d", getenv("CALLS_SHIM"), rank);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "run 1 %.3f\n", shim_now() - begin);
        for (const shim_sum *s = all; s != NULL; s = s->next)
            fprintf(file, "%s %ld %.3f\n", s->name, s->calls, s->us);
        fclose(file);
    }
    return PMPI_Finalize();
}
