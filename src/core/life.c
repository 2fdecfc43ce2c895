/* SPDX-License-Identifier: BSD-3-Clause */
/* life.c - see life.h. */
#define _GNU_SOURCE
#include "core/life.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/log.h"
#include "core/node_key.h"
#include "core/wait.h"

#if !defined(SYS_pidfd_open)
#define SYS_pidfd_open 434 /* on every architecture */
#endif

/* A process that was looked at. */
typedef struct known {
    cco_life life;
    int file; /* its pidfd; -1: there is none */
    bool over;
    struct known *next;
} known;

/* A rank of this node. */
typedef struct neighbour {
    uint64_t node;
    int64_t rank;
    cco_life life;
} neighbour;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known *all;
static neighbour *neighbours;
static int neighbours_count;

/* State and start of a process as the kernel shows them; false if it shows nothing. */
static bool read_stat(int64_t process, char *state, uint64_t *begun)
{
    char path[48], text[1024];
    unsigned long long start = 0;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* its name may have anything in it */
    if (at == NULL || sscanf(at + 1,
                             " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
                             " %*s %*s %llu",
                             state, &start) != 2)
        return false;
    *begun = start;
    return true;
}

cco_life cco_life_mine(void)
{
    cco_life life = {getpid(), 0};
    char state;
    if (!read_stat(life.process, &state, &life.begun))
        life.begun = 0;
    return life;
}

/* With the number of another process, or the mark of one that has ended. */
static bool proc_says_over(const cco_life *life)
{
    uint64_t begun;
    char state;
    errno = 0;
    if (!read_stat(life->process, &state, &begun))
        return errno == ENOENT || errno == ESRCH;
    return state == 'Z' || state == 'X' || (life->begun != 0 && begun != life->begun);
}

/* With the lock. */
static known *find(const cco_life *life)
{
    known *k = all;
    while (k != NULL && (k->life.process != life->process || k->life.begun != life->begun))
        k = k->next;
    if (k != NULL || (k = malloc(sizeof *k)) == NULL)
        return k;
    *k = (known){*life, (int)syscall(SYS_pidfd_open, (pid_t)life->process, 0), false, all};
    k->over = (k->file < 0 && errno == ESRCH) || proc_says_over(life); /* of the one that we have */
    all = k;
    return k;
}

static bool look(known *k)
{
    struct pollfd end = {.fd = k->file, .events = POLLIN};
    if (!k->over)
        k->over = k->file >= 0 ? poll(&end, 1, 0) > 0 && (end.revents & POLLIN) != 0
                               : proc_says_over(&k->life);
    if (k->over && k->file >= 0) {
        close(k->file);
        k->file = -1;
    }
    return k->over;
}

bool cco_life_over(const cco_life *life)
{
    if (life->process == 0)
        return false;
    pthread_mutex_lock(&lock);
    known *k = find(life);
    const bool over = k != NULL && look(k);
    pthread_mutex_unlock(&lock);
    return over;
}

/* Each has its own among zeros: an allreduce takes fewer messages than some allgathers. */
void cco_lives_gather(MPI_Comm node)
{
    int rank, size, world = 0;
    MPI_Request request;
    PMPI_Comm_rank(node, &rank);
    PMPI_Comm_size(node, &size);
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    neighbour *list = calloc((size_t)size, sizeof *list);
    if (list == NULL)
        cco_fatal("no memory for the processes of a node");
    list[rank] = (neighbour){cco_node_key(), world, cco_life_mine()};
    const int words = size * (int)(sizeof *list / sizeof(uint64_t));
    if (PMPI_Iallreduce(MPI_IN_PLACE, list, words, MPI_UINT64_T, MPI_BOR, node, &request) !=
            MPI_SUCCESS ||
        cco_wait(&request) != MPI_SUCCESS) {
        free(list);
        return;
    }
    neighbours = list;
    neighbours_count = size;
}

static int world_rank(MPI_Comm comm, int rank)
{
    MPI_Group group, world;
    int there = MPI_UNDEFINED;
    if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return there;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        PMPI_Group_translate_ranks(group, 1, &rank, world, &there);
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    return there;
}

const cco_life *cco_life_of(MPI_Comm comm, int rank)
{
    const uint64_t here = cco_node_key();
    if (neighbours == NULL || here == 0)
        return NULL;
    const int there = world_rank(comm, rank);
    for (int i = 0; i < neighbours_count; i++)
        if (neighbours[i].rank == there && neighbours[i].node == here)
            return &neighbours[i].life;
    return NULL;
}
