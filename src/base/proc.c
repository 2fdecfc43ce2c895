/* SPDX-License-Identifier: BSD-3-Clause */
/* proc.c - see proc.h. */
#define _GNU_SOURCE
#include "base/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/node_key.h"
#include "base/world.h"

#if !defined(SYS_pidfd_open)
#define SYS_pidfd_open 434 /* on every architecture */
#endif

/* A process that was looked at. */
typedef struct known {
    cco_proc life;
    int file; /* its pidfd; -1: there is none */
    bool over;
    struct known *next;
} known;

static bool adding; /* a thread adds a process */
static known *all;
static int files; /* pidfds that are open */
static cco_neighbor *neighbors;
static int neighbors_count;

/* What the kernel shows of a process. */
typedef struct shown {
    long long process;
    char state;
    unsigned long long begun;
} shown;

/* False if it shows nothing, which says nothing: another /proc may be mounted, or hide it. */
static bool read_stat(const char *path, shown *process)
{
    char text[1024];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* its name may have anything in it */
    return at != NULL && sscanf(text, "%lld", &process->process) == 1 &&
           sscanf(at + 1,
                  " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
                  " %llu",
                  &process->state, &process->begun) == 2;
}

/* Not known where /proc is that of another name space of processes. */
cco_proc cco_proc_mine(void)
{
    shown mine;
    const bool known = read_stat("/proc/self/stat", &mine) && mine.process == getpid();
    return known ? (cco_proc){mine.process, mine.begun} : (cco_proc){0, 0};
}

static bool read_other(const cco_proc *life, shown *other)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)life->process);
    return read_stat(path, other);
}

/* Its number means another process now.  That one began later, by more than what emulators of
 * processors, which tell their own start, may be apart from the kernel. */
static bool is_another(const cco_proc *life, const shown *other)
{
    const long second = sysconf(_SC_CLK_TCK);
    return life->begun != 0 && other->begun > life->begun + (second > 0 ? (uint64_t)second : 100);
}

static bool is_another_now(const cco_proc *life)
{
    shown other;
    return read_other(life, &other) && is_another(life, &other);
}

/* Without a pidfd. */
static bool has_ended(const cco_proc *life)
{
    shown other;
    if (kill((pid_t)life->process, 0) != 0 && errno == ESRCH)
        return true;
    return read_other(life, &other) &&
           (other.state == 'Z' || other.state == 'X' || is_another(life, &other));
}

bool cco_proc_reaped(const cco_proc *life)
{
    shown other;
    return !read_other(life, &other) || is_another(life, &other) ||
           (other.state != 'Z' && other.state != 'X');
}

/* As few open files of the program's as need be.  -1: none. */
static int open_pidfd(const cco_proc *life)
{
    enum { MOST = 64 };
    const bool room = __atomic_load_n(&files, __ATOMIC_RELAXED) < MOST;
    const int file = room ? (int)syscall(SYS_pidfd_open, (pid_t)life->process, 0) : -1;
    if (file >= 0)
        __atomic_add_fetch(&files, 1, __ATOMIC_RELAXED);
    return file;
}

static known *proc_find(const cco_proc *life)
{
    known *k = __atomic_load_n(&all, __ATOMIC_ACQUIRE);
    while (k != NULL && (k->life.process != life->process || k->life.begun != life->begun))
        k = k->next;
    return k;
}

/* By one thread at a time.  Entries stay for ever. */
static known *proc_add(const cco_proc *life)
{
    known *k = proc_find(life);
    if (k != NULL || (k = malloc(sizeof *k)) == NULL)
        return k;
    *k = (known){*life, open_pidfd(life), false, all};
    k->over = k->file >= 0 && is_another_now(life); /* the pidfd would tell of that one */
    __atomic_store_n(&all, k, __ATOMIC_RELEASE);
    return k;
}

/* Another thread may close the pidfd meanwhile, and another file have its number: then the process
 * has ended whatever this one finds. */
static bool ends_now(const known *k)
{
    struct pollfd end = {.fd = __atomic_load_n(&k->file, __ATOMIC_RELAXED), .events = POLLIN};
    return end.fd >= 0 ? poll(&end, 1, 0) > 0 && (end.revents & POLLIN) != 0 : has_ended(&k->life);
}

/* Writes nothing while it runs: several threads look at one process. */
static bool proc_look(known *k)
{
    if (!__atomic_load_n(&k->over, __ATOMIC_RELAXED) && !ends_now(k))
        return false;
    __atomic_store_n(&k->over, true, __ATOMIC_RELAXED);
    const int file = __atomic_exchange_n(&k->file, -1, __ATOMIC_RELAXED);
    if (file >= 0) {
        close(file);
        __atomic_sub_fetch(&files, 1, __ATOMIC_RELAXED);
    }
    return true;
}

bool cco_proc_ended(const cco_proc *life)
{
    known *k = life->process != 0 ? proc_find(life) : NULL;
    if (k == NULL && life->process != 0 && !__atomic_exchange_n(&adding, true, __ATOMIC_ACQUIRE)) {
        k = proc_add(life); /* where another thread adds one, this one looks later: no lock */
        __atomic_store_n(&adding, false, __ATOMIC_RELEASE);
    }
    return k != NULL && proc_look(k);
}

cco_neighbor cco_life_neighbor(void)
{
    int world = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    return (cco_neighbor){cco_node_key(), world, cco_proc_mine()};
}

void cco_lives_take(cco_neighbor *list, int count)
{
    neighbors = list;
    neighbors_count = count;
}

const cco_proc *cco_proc_of(MPI_Comm comm, int rank)
{
    const uint64_t here = cco_node_key();
    if (neighbors == NULL || here == 0)
        return NULL;
    const int there = cco_world_rank_of(comm, rank);
    for (int i = 0; i < neighbors_count; i++)
        if (neighbors[i].rank == there && neighbors[i].node == here)
            return &neighbors[i].life;
    return NULL;
}

int cco_procs_ended(MPI_Comm comm, int *ranks, int most)
{
    const uint64_t here = cco_node_key();
    MPI_Group group, world;
    int n = 0;
    if (neighbors == NULL || here == 0 || !cco_has_world() ||
        PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return 0;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        for (int i = 0; i < neighbors_count && n < most; i++) {
            const cco_neighbor *it = &neighbors[i];
            const int there = (int)it->rank;
            int rank = MPI_UNDEFINED;
            if (it->node == here && cco_proc_ended(&it->life))
                PMPI_Group_translate_ranks(world, 1, &there, group, &rank);
            if (rank != MPI_UNDEFINED)
                ranks[n++] = rank;
        }
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    return n;
}
