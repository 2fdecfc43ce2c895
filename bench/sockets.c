/* SPDX-License-Identifier: BSD-3-Clause */
/* sockets.c - see sockets.h. */
#define _GNU_SOURCE
#include "sockets.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SENDS, RECEIVES, BOTH };

/* A thread, and what it is to move. */
static struct lane {
    pthread_t thread;
    sem_t go, done;
    char *at;
    size_t n;
    int failed;
} lanes[BOTH];

static int rank, wire = -1, stops;

/* An address of this host that others know. */
static int find_address(struct in_addr *address)
{
    struct ifaddrs *all;
    int found = 0;
    if (getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *a = all; a != NULL && !found; a = a->ifa_next) {
        found = a->ifa_addr != NULL && a->ifa_addr->sa_family == AF_INET &&
                !(a->ifa_flags & IFF_LOOPBACK) && a->ifa_flags & IFF_UP;
        if (found)
            *address = ((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr;
    }
    freeifaddrs(all);
    return found;
}

/* The socket that rank 0 listens on, its address known to both ranks; -1 without success. */
static int listen_here(const struct bench_world *w, struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    int door = -1;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    if (rank == 0 && find_address(&address->sin_addr)) {
        door = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(door, (struct sockaddr *)address, length) != 0 || listen(door, 1) != 0 ||
            getsockname(door, (struct sockaddr *)address, &length) != 0) {
            close(door);
            door = -1;
        }
    }
    MPI_Bcast(address, sizeof *address, MPI_BYTE, 0, w->control);
    return door;
}

static void connect_ranks(const struct bench_world *w)
{
    struct sockaddr_in address;
    const int door = listen_here(w, &address), one = 1;
    if (address.sin_port == 0)
        return;
    if (rank == 0) {
        wire = accept(door, NULL, NULL);
        close(door);
    } else {
        wire = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(wire, (struct sockaddr *)&address, sizeof address) != 0) {
            close(wire);
            wire = -1;
        }
    }
    if (wire >= 0)
        setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static int move(struct lane *l, int sends)
{
    while (l->n > 0) {
        const ssize_t n = sends ? send(wire, l->at, l->n, MSG_NOSIGNAL)
                                : recv(wire, l->at, l->n, 0);
        if (n <= 0)
            return 1;
        l->at += n;
        l->n -= (size_t)n;
    }
    return 0;
}

static void *work(void *which)
{
    struct lane *l = which;
    for (;;) {
        sem_wait(&l->go);
        if (stops)
            return NULL;
        l->failed = move(l, l == &lanes[SENDS]);
        sem_post(&l->done);
    }
}

const char *bench_sockets_open(const struct bench_world *w)
{
    rank = w->rank;
    if (w->size != 2)
        return "it is for two ranks";
    connect_ranks(w);
    int failed = wire < 0;
    for (int i = 0; i < BOTH && !failed; i++) {
        sem_init(&lanes[i].go, 0, 0);
        sem_init(&lanes[i].done, 0, 0);
        failed = pthread_create(&lanes[i].thread, NULL, work, &lanes[i]) != 0;
    }
    bench_max(w, &failed, 1, MPI_INT);
    return failed ? "the ranks could not be connected" : NULL;
}

void bench_sockets_close(void)
{
    if (wire < 0)
        return;
    stops = 1;
    for (int i = 0; i < BOTH; i++) {
        sem_post(&lanes[i].go);
        pthread_join(lanes[i].thread, NULL);
    }
    close(wire);
}

static void start(int which, char *at, size_t n)
{
    lanes[which].at = at;
    lanes[which].n = n;
    sem_post(&lanes[which].go);
}

static int alltoall_begin(const void *from, int count, MPI_Datatype type, void *to, int got,
                          MPI_Datatype its, MPI_Comm comm)
{
    int width;
    (void)got, (void)its, (void)comm;
    MPI_Type_size(type, &width);
    const size_t n = (size_t)count * (size_t)width, mine = (size_t)rank * n, other = n - mine;
    start(SENDS, (char *)from + other, n);
    start(RECEIVES, (char *)to + other, n);
    memcpy((char *)to + mine, (const char *)from + mine, n);
    return MPI_SUCCESS;
}

int bench_sockets_end(void)
{
    for (int i = 0; i < BOTH; i++)
        sem_wait(&lanes[i].done);
    return lanes[SENDS].failed || lanes[RECEIVES].failed ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int alltoall(const void *from, int count, MPI_Datatype type, void *to, int got,
                    MPI_Datatype its, MPI_Comm comm)
{
    alltoall_begin(from, count, type, to, got, its, comm);
    return bench_sockets_end();
}

const struct bench_calls bench_sockets_begin = {.alltoall = alltoall_begin};
const struct bench_calls bench_sockets_whole = {.alltoall = alltoall};
