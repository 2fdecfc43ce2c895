/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - crestacoll-threads: how many collectives of threads a job completes in a second, and
 * what locks they take.
 *
 *     mpirun -n 2 crestacoll-threads [WAY,... [THREADS,... [COLLECTIVE [BYTES [TURNS [MS]]]]]]
 *
 * A WAY is `mpi`, an implementation of crestacoll, or one of these after `begin:`, whose calls are
 * begun and ended at once.  Each thread has a communicator of its own for each way.  In a turn the
 * threads of a rank make a number of calls together that does not depend on how many they are, and
 * takes one thread MS milliseconds; ways and numbers of threads take turns.  One JSON line for
 * each: calls a second of all threads, the ratio to those of the first number of threads in the
 * same turn, and what a call costs in locks (taken; found taken by another thread) and in switches
 * to other threads, counted in a turn of their own.  `crestacoll threads` runs it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "quantile.h"
#include "threads.h"

enum { CALLS_MOST = 1 << 24, NUMBERS = 8 };

static struct way ways[WAYS_MOST];
static int numbers[NUMBERS]; /* of threads */
static int n_ways, n_numbers, turns = 31, rank;
static const char *collective = "allreduce";
static int bytes = 8, turn_ms = 20;

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* All ranks call this. The job ends without MPI_Abort, which could stop rank 0 before it has
 * spoken. */
static _Noreturn void refuse(const char *what, const char *given)
{
    if (rank == 0)
        fprintf(stderr, "crestacoll-threads: expected %s, not '%s'\n", what, given);
    MPI_Finalize();
    exit(2);
}

/* So many calls that a turn of one thread takes a while. */
static int enough(struct way *way)
{
    int calls = 64, all = 0;
    for (;; calls *= 2) {
        const double us = threads_turn(way, 1, calls);
        int more = us < 1e3 * turn_ms && calls < CALLS_MOST;
        PMPI_Allreduce(&more, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (!all)
            return calls;
    }
}

/* Until the last rank is ready. */
static double slowest(double us)
{
    double all;
    PMPI_Allreduce(&us, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void print(const struct way *way, int threads, double *rate, double *ratio,
                  const struct counts *c, double calls)
{
    printf("{\"impl\": \"%s\", \"collective\": \"%s\", \"bytes\": %d, \"threads\": %d, "
           "\"calls_per_second\": {\"median\": %.0f, \"p10\": %.0f, \"p90\": %.0f}, "
           "\"of_one_thread\": {\"median\": %.3f, \"p10\": %.3f, \"p90\": %.3f}, ",
           way->name, collective, bytes, threads, bench_quantile(rate, turns, 0.5),
           bench_quantile(rate, turns, 0.1), bench_quantile(rate, turns, 0.9),
           bench_quantile(ratio, turns, 0.5), bench_quantile(ratio, turns, 0.1),
           bench_quantile(ratio, turns, 0.9));
    printf("\"locks_per_call\": {\"crestacoll\": %.3f, \"other\": %.3f}, "
           "\"lock_waits_per_call\": {\"crestacoll\": %.4f, \"other\": %.4f}, "
           "\"switches_per_call\": %.4f, \"counted_calls\": %.0f}\n",
           c->taken[OURS] / calls, c->taken[OTHERS] / calls, c->waited[OURS] / calls,
           c->waited[OTHERS] / calls, c->switches / calls, calls);
    fflush(stdout);
}

/* What the calls of a turn cost in locks, on rank 0. */
static struct counts count(struct way *way, int threads)
{
    struct rusage before, after;
    struct counts c;
    PMPI_Barrier(MPI_COMM_WORLD);
    getrusage(RUSAGE_SELF, &before);
    locks_count(1);
    way->counted = 1;
    threads_turn(way, threads, way->calls);
    way->counted = 0;
    c = locks_count(0);
    getrusage(RUSAGE_SELF, &after);
    c.switches = (double)(after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw);
    return c;
}

static void measure(void)
{
    static double us[WAYS_MOST][NUMBERS][TURNS_MOST];
    double rate[TURNS_MOST], ratio[TURNS_MOST];
    for (int w = 0; w < n_ways; w++)
        ways[w].calls = enough(&ways[w]);
    for (int i = -1; i < turns; i++) /* the first one warms up */
        for (int n = 0; n < n_numbers; n++)
            for (int w = 0; w < n_ways; w++) {
                PMPI_Barrier(MPI_COMM_WORLD);
                us[w][n][i < 0 ? 0 : i] = slowest(
                    threads_turn(&ways[w], numbers[n], ways[w].calls));
            }
    for (int w = 0; w < n_ways; w++)
        for (int n = 0; n < n_numbers; n++) {
            const struct counts c = count(&ways[w], numbers[n]);
            for (int i = 0; i < turns; i++) {
                rate[i] = 1e6 * ways[w].calls / us[w][n][i];
                ratio[i] = us[w][0][i] / us[w][n][i];
            }
            if (rank == 0)
                print(&ways[w], numbers[n], rate, ratio, &c, ways[w].calls);
        }
}

static void read_ways(char *list)
{
    for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
        if (n_ways == WAYS_MOST)
            refuse("fewer ways", name);
        ways[n_ways++].name = name;
    }
}

/* The first number is what the others are compared with. */
static void read_numbers(char *list)
{
    for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
        const int n = atoi(word);
        if (n < 1 || n > THREADS_MOST || n_numbers == NUMBERS)
            refuse("numbers of threads from 1 to 16", word);
        numbers[n_numbers++] = n;
    }
}

static void read(int argc, char **argv)
{
    static char all[] = "mpi,shm,p2p", some[] = "1,2,4,8";
    read_ways(argc > 1 ? argv[1] : all);
    read_numbers(argc > 2 ? argv[2] : some);
    collective = argc > 3 ? argv[3] : collective;
    bytes = argc > 4 ? atoi(argv[4]) : bytes;
    turns = argc > 5 ? atoi(argv[5]) : turns;
    turn_ms = argc > 6 ? atoi(argv[6]) : turn_ms;
    if (bytes < 8 || bytes > BYTES_MOST || bytes % 8 != 0)
        refuse("a multiple of 8 bytes up to 65536", argv[4]);
    if (turns < 1 || turns > TURNS_MOST)
        refuse("1 to 1000 turns", argv[5]);
    if (turn_ms < 1 || turn_ms > 10000)
        refuse("turns of 1 to 10000 milliseconds", argv[6]);
}

int main(int argc, char **argv)
{
    int level, most = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (level < MPI_THREAD_MULTIPLE)
        refuse("an MPI with MPI_THREAD_MULTIPLE", "this one");
    read(argc, argv);
    for (int n = 0; n < n_numbers; n++)
        most = numbers[n] > most ? numbers[n] : most;
    for (int w = 0; w < n_ways; w++)
        if (!threads_open(&ways[w], collective, bytes, most))
            refuse("an implementation, and allreduce, alltoall, bcast or barrier", ways[w].name);
    threads_start(most);
    measure();
    threads_stop(most);
    for (int w = 0; w < n_ways; w++)
        threads_close(&ways[w], most);
    MPI_Finalize();
    return 0;
}
