/* SPDX-License-Identifier: BSD-3-Clause */
/* off.c - for tests/python/test_library_off.py: says what the process has besides what the program
 * itself asked the MPI for: calls by PMPI_x, which the program's own definitions count, keyvals,
 * threads, descriptors, shared memory.  With LINKED it calls CRESTA_x. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>
#if defined(LINKED)
#include <crestacoll.h>
#define CALL(x) CRESTA_##x
#else
#define CALL(x) MPI_##x
#endif

static int calls;

/* PMPI_x, counted.  The executable's definition goes before that of the MPI. */
#define COUNTED(x, parameters, arguments)                                                          \
    int PMPI_##x parameters                                                                        \
    {                                                                                              \
        int(*next) parameters;                                                                     \
        *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #x);                                            \
        calls++;                                                                                   \
        return next arguments;                                                                     \
    }
COUNTED(Comm_create_keyval,
        (MPI_Comm_copy_attr_function * c, MPI_Comm_delete_attr_function *d, int *k, void *e),
        (c, d, k, e))
COUNTED(Comm_set_attr, (MPI_Comm c, int k, void *v), (c, k, v))
COUNTED(Comm_get_attr, (MPI_Comm c, int k, void *v, int *f), (c, k, v, f))
COUNTED(Comm_dup, (MPI_Comm c, MPI_Comm *n), (c, n))
COUNTED(Comm_split, (MPI_Comm c, int a, int b, MPI_Comm *n), (c, a, b, n))
COUNTED(Comm_rank, (MPI_Comm c, int *r), (c, r))
COUNTED(Comm_size, (MPI_Comm c, int *r), (c, r))
COUNTED(Isend, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r),
        (b, n, t, d, g, c, r))
COUNTED(Irecv, (void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r),
        (b, n, t, d, g, c, r))
COUNTED(Ibarrier, (MPI_Comm c, MPI_Request *r), (c, r))
COUNTED(Iallreduce,
        (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *r),
        (a, b, n, t, o, c, r))
COUNTED(Query_thread, (int *l), (l))
COUNTED(Test, (MPI_Request * r, int *f, MPI_Status *s), (r, f, s))
COUNTED(Iprobe, (int a, int b, MPI_Comm c, int *f, MPI_Status *s), (a, b, c, f, s))

static int entries(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    while (directory != NULL && readdir(directory) != NULL)
        count++;
    if (directory != NULL)
        closedir(directory);
    return count;
}

static int shared_maps(void)
{
    char line[4096], mode[8];
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        count += sscanf(line, "%*s %7s", mode) == 1 && strchr(mode, 's') != NULL;
    if (file != NULL)
        fclose(file);
    return count;
}

/* A window, messages, and each way to wait for them. */
static int others(int rank, int size)
{
    int *base, one = 1, before = -1, got = -1, next = (rank + 1) % size;
    MPI_Win win;
    MPI_Request request;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, rank, 0, MPI_SUM, win);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return (got + 1) % size != rank;
}

static int collectives(int size)
{
    int bad = 0;
    for (int i = 1; i < 50; i++) {
        int sum = 0, all[64] = {0}, out[64] = {0};
        CALL(Allreduce)(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CALL(Bcast)(all, 64, MPI_INT, 0, MPI_COMM_WORLD);
        CALL(Barrier)(MPI_COMM_WORLD);
        CALL(Alltoall)(all, 4, MPI_INT, out, 4, MPI_INT, MPI_COMM_WORLD);
        bad += sum != i * size;
    }
    return bad;
}

int main(int argc, char **argv)
{
    int rank, size, key;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#if defined(LINKED)
    CRESTA_Set_impl(MPI_COMM_WORLD, "*=p2p");
    CRESTA_Comm_prepare(MPI_COMM_WORLD);
#endif
    int bad = collectives(size) + others(rank, size);
    const int called = calls, threads = entries("/proc/self/task"), maps = shared_maps();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
#if defined(LINKED) /* what no MPI has works all the same */
    int last = size, sum = 0;
    CRESTA_Recording recording;
    CRESTA_Record_begin(MPI_COMM_WORLD);
    CRESTA_Allreduce(&last, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    bad += CRESTA_Record_end(&recording) != MPI_SUCCESS;
    sum = 0;
    bad += CRESTA_Replay_start(recording) != MPI_SUCCESS;
    bad += CRESTA_Replay_end(recording) != MPI_SUCCESS || sum != size * size;
    CRESTA_Recording_free(&recording);
#endif
    if (rank == 0)
        printf("off: keyval %d, calls %d, threads %d, descriptors %d, shared maps %d\n", key,
               called, threads, entries("/proc/self/fd"), maps);
    MPI_Finalize();
    return bad != 0;
}
