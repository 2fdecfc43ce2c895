/* SPDX-License-Identifier: BSD-3-Clause */
/* watcher.c - a profiling tool that wraps all it can: every collective in every form, messages,
 * waits, communicators.  Rank 0 says in MPI_Finalize how often each was called, and any rank that
 * a call came before MPI_Init.  With -DCHAIN it goes on to the next MPI_x instead of PMPI_x. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_compat.h"

#ifdef CHAIN
static void (*next(const char *name))(void)
{
    void (*function)(void);
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(&function, &found, sizeof function);
    return function;
}
#define TEXT(name) #name
#define GO_ON(own, theirs) ((__typeof__(&own))next(TEXT(theirs)))
#else
#define GO_ON(own, theirs) own
#endif

/* name, (parameters), (arguments) */
#define OTHERS(X)                                                                                  \
    X(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),                   \
      (b, n, t, to, tag, c))                                                                       \
    X(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),        \
      (b, n, t, from, tag, c, s))                                                                  \
    X(Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),  \
      (b, n, t, to, tag, c, r))                                                                    \
    X(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),      \
      (b, n, t, from, tag, c, r))                                                                  \
    X(Start, (MPI_Request * r), (r))                                                               \
    X(Request_free, (MPI_Request * r), (r))                                                        \
    X(Iprobe, (int from, int tag, MPI_Comm c, int *f, MPI_Status *s), (from, tag, c, f, s))        \
    X(Wait, (MPI_Request * r, MPI_Status * s), (r, s))                                             \
    X(Test, (MPI_Request * r, int *f, MPI_Status *s), (r, f, s))                                   \
    X(Waitall, (int n, MPI_Request r[], MPI_Status *s), (n, r, s))                                 \
    X(Testall, (int n, MPI_Request r[], int *f, MPI_Status *s), (n, r, f, s))                      \
    X(Waitany, (int n, MPI_Request r[], int *i, MPI_Status *s), (n, r, i, s))                      \
    X(Testany, (int n, MPI_Request r[], int *i, int *f, MPI_Status *s), (n, r, i, f, s))           \
    X(Waitsome, (int n, MPI_Request r[], int *o, int i[], MPI_Status *s), (n, r, o, i, s))         \
    X(Testsome, (int n, MPI_Request r[], int *o, int i[], MPI_Status *s), (n, r, o, i, s))         \
    X(Comm_rank, (MPI_Comm c, int *r), (c, r))                                                     \
    X(Comm_size, (MPI_Comm c, int *n), (c, n))                                                     \
    X(Comm_dup, (MPI_Comm c, MPI_Comm * n), (c, n))                                                \
    X(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *n), (c, color, key, n))               \
    X(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm * n), (c, g, n))                             \
    X(Comm_free, (MPI_Comm * c), (c))                                                              \
    X(Comm_set_attr, (MPI_Comm c, int key, void *v), (c, key, v))                                  \
    X(Comm_get_attr, (MPI_Comm c, int key, void *v, int *f), (c, key, v, f))

enum {
#define CCO_NATIVE(name, own, theirs, parameters, arguments) AT_##name,
#include "native/natives.inc"
#undef CCO_NATIVE
#define AT(name, parameters, arguments) AT_##name,
    OTHERS(AT) KINDS
};

static const char *const names[] = {
#define CCO_NATIVE(name, own, theirs, parameters, arguments) #name,
#include "native/natives.inc"
#undef CCO_NATIVE
#define NAME(name, parameters, arguments) #name,
    OTHERS(NAME)};

static long *counts; /* made in MPI_Init: as in textbooks, a call before it is a fault */

static void note(int kind)
{
    if (counts == NULL) {
        fprintf(stderr, "watcher: %s comes before MPI_Init\n", names[kind]);
        abort();
    }
    counts[kind]++;
}

#define CCO_NATIVE(name, own, theirs, parameters, arguments)                                       \
    CCO_EXPORT int theirs parameters                                                               \
    {                                                                                              \
        note(AT_##name);                                                                           \
        return GO_ON(own, theirs) arguments;                                                       \
    }
#include "native/natives.inc"
#define WRAP(name, parameters, arguments)                                                          \
    CCO_NATIVE(name, PMPI_##name, MPI_##name, parameters, arguments)
OTHERS(WRAP)

static void begin(void)
{
    if (counts != NULL)
        abort(); /* twice */
    counts = calloc(KINDS, sizeof *counts);
}

CCO_EXPORT int MPI_Init(int *argc, char ***argv)
{
    const int rc = GO_ON(PMPI_Init, MPI_Init)(argc, argv);
    begin();
    if (getenv("WATCHER_CALLS") != NULL) /* as tools do that compare clocks, by public names */
        MPI_Barrier(MPI_COMM_WORLD);
    return rc;
}

CCO_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int rc = GO_ON(PMPI_Init_thread, MPI_Init_thread)(argc, argv, required, provided);
    begin();
    return rc;
}

CCO_EXPORT int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < KINDS && rank == 0; i++)
        if (counts[i] != 0)
            printf("watched: %s %ld\n", names[i], counts[i]);
    fflush(stdout);
    return GO_ON(PMPI_Finalize, MPI_Finalize)();
}
