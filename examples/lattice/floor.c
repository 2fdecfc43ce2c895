/* SPDX-License-Identifier: BSD-3-Clause */
/* floor.c - what two ranks on two hosts need for the messages of a step of the lattice (lattice.c,
 * N = 2), and cannot go below: one message each way, over the MPI and over a TCP socket.
 *
 *     lattice-floor [STEPS, 1000]
 *
 * The ways take turns in an order at random, each after a barrier.  Prints the time of the slowest
 * rank in the median, with the 10th and 90th percentile, and divided by that of the MPI's
 * MPI_Neighbor_alltoall. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crestacoll.h"

enum { EDGES = 8, BLOCK = 384, MERGED = 2 * BLOCK };
enum { MPI, P2P, MESSAGE, SOCKET, WAYS };

static const char *const names[WAYS] = {"MPI", "p2p", "Isend, Irecv", "socket"};
static char given[EDGES * BLOCK], taken[EDGES * BLOCK];
static int rank, connection;
static MPI_Comm torus[2]; /* of the first two ways */

static void need(int holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The address of the host's last network interface. */
static struct sockaddr_in own_address(void)
{
    struct sockaddr_in own = {.sin_family = AF_INET};
    struct ifaddrs *all;
    need(getifaddrs(&all) == 0, "getifaddrs");
    for (struct ifaddrs *a = all; a != NULL; a = a->ifa_next)
        if (a->ifa_addr != NULL && a->ifa_addr->sa_family == AF_INET &&
            !(a->ifa_flags & IFF_LOOPBACK))
            own.sin_addr = ((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr;
    freeifaddrs(all);
    return own;
}

static void join(void)
{
    struct sockaddr_in at = own_address();
    socklen_t length = sizeof at;
    const int one = 1, end = socket(AF_INET, SOCK_STREAM, 0);
    if (rank == 0) {
        need(bind(end, (struct sockaddr *)&at, length) == 0 && listen(end, 1) == 0, "listen");
        getsockname(end, (struct sockaddr *)&at, &length);
    }
    MPI_Bcast(&at, sizeof at, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank > 0)
        need(connect(end, (struct sockaddr *)&at, length) == 0, "connect");
    connection = rank == 0 ? accept(end, NULL, NULL) : end;
    need(connection >= 0, "accept");
    if (rank == 0)
        close(end);
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(connection, F_SETFL, O_NONBLOCK);
}

static void over_socket(void)
{
    struct pollfd ready = {connection, POLLIN, 0};
    need(send(connection, given, MERGED, 0) == MERGED, "send");
    for (ssize_t got = 0; got < MERGED;) {
        if (poll(&ready, 1, 0) < 1)
            continue;
        const ssize_t n = recv(connection, taken + got, (size_t)(MERGED - got), 0);
        need(n > 0 || (n < 0 && errno == EAGAIN), "recv");
        got += n > 0 ? n : 0;
    }
}

static void over_mpi(void)
{
    MPI_Request requests[2];
    MPI_Irecv(taken, MERGED, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(given, MERGED, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static double once(int way)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (way == SOCKET)
        over_socket();
    else if (way == MESSAGE)
        over_mpi();
    else
        CRESTA_Neighbor_alltoall(given, BLOCK, MPI_BYTE, taken, BLOCK, MPI_BYTE, torus[way]);
    return 1e6 * (MPI_Wtime() - start);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All ranks draw the same order. */
static void shuffle(int order[WAYS])
{
    for (int i = WAYS - 1; i > 0; i--) {
        const int other = rand() % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

static void measure(double *us, int steps)
{
    int order[WAYS] = {MPI, P2P, MESSAGE, SOCKET};
    for (int i = -3; i < steps; i++) { /* the first ones set up */
        shuffle(order);
        for (int k = 0; k < WAYS; k++) {
            const double took = once(order[k]);
            if (i >= 0)
                us[order[k] * steps + i] = took;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, us, WAYS * steps, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (int way = 0; way < WAYS; way++)
        qsort(us + way * steps, (size_t)steps, sizeof *us, ascending);
}

int main(int argc, char **argv)
{
    const int sizes[4] = {2, 1, 1, 1}, periodic[4] = {1, 1, 1, 1};
    const int steps = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 1000;
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    need(size == 2, "lattice-floor runs on two ranks");
    for (int way = MPI; way <= P2P; way++) {
        MPI_Cart_create(MPI_COMM_WORLD, 4, sizes, periodic, 0, &torus[way]);
        CRESTA_Set_impl(torus[way], way == MPI ? "neighbor_*=mpi" : "neighbor_*=p2p");
    }
    join();
    double *us = calloc((size_t)(WAYS * steps), sizeof *us);
    need(us != NULL, "calloc");
    measure(us, steps);
    for (int way = 0; way < WAYS && rank == 0; way++) {
        const double *t = us + way * steps;
        printf("%-13s %8.2f us  (%.2f to %.2f) %6.2f\n", names[way], t[steps / 2], t[steps / 10],
               t[9 * (steps / 10)], t[steps / 2] / us[steps / 2]);
    }
    free(us);
    close(connection);
    for (int way = MPI; way <= P2P; way++)
        MPI_Comm_free(&torus[way]);
    MPI_Finalize();
    return 0;
}
