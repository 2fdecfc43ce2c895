/* SPDX-License-Identifier: BSD-3-Clause */
/* overhead_profile.c - what a profile with samples of waiting adds to allreduces of 8 bytes that
 * follow each other.
 *
 * Blocks of calls of one job go without and with a profile in the order off, on, on, off: either
 * comes first as often, and neighbours that do not differ, on and on, off and off, show how much
 * blocks differ anyway.  Times are those of rank 0. */
#include "overhead.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OFF, ON, BESIDE = 4 /* blocks of a turn */ };
static const int order[BESIDE] = {OFF, ON, ON, OFF};

static int (*start)(void);
static int (*stop)(char **json);

static void run(int calls)
{
    double in = 1, out = 0;
    for (int i = 0; i < calls; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* How many calls a profile says were timed: it has one record. */
static double timed_of(const char *json)
{
    static const char key[] = "\"timed\": ";
    const char *found = json != NULL ? strstr(json, key) : NULL;
    return found != NULL ? atof(found + strlen(key)) : 0;
}

/* Microseconds of a call; `timed` becomes the part of the calls that a profile timed.  The first
 * calls fill caches, and see that calls follow each other. */
static double block(int on, int before, int calls, double *timed)
{
    struct timespec a, b;
    char *json = NULL;
    if (on && start() != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    run(before);
    clock_gettime(CLOCK_MONOTONIC, &a);
    run(calls);
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (on)
        stop(&json);
    *timed = timed_of(json) / (before + calls);
    free(json);
    return (1e6 * (double)(b.tv_sec - a.tv_sec) + 1e-3 * (double)(b.tv_nsec - a.tv_nsec)) / calls;
}

/* Blocks `first` and `second` places after the start of turns, divided. */
static void print_ratios(const char *name, const double *us, int count, int first, int second,
                         int more)
{
    double *ratios = malloc((size_t)count * sizeof *ratios);
    int n = 0;
    for (int i = 0; ratios != NULL && i + BESIDE <= count; i += BESIDE) {
        if (i + second < count)
            ratios[n++] = us[i + second] / us[i + first];
        if (more)
            ratios[n++] = us[i + 2] / us[i + 3];
    }
    printf(", ");
    overhead_print(name, ratios, n);
    free(ratios);
}

static void print_blocks(const char *name, const double *values, int count, int of)
{
    double *some = malloc((size_t)count * sizeof *some);
    int n = 0;
    for (int i = 0; some != NULL && i < count; i++)
        if (order[i % BESIDE] == of)
            some[n++] = values[i];
    printf(", ");
    overhead_print(name, some, n);
    free(some);
}

void overhead_profile(int turns, int calls)
{
    enum { ALONG = 4000, AGAIN = 300 };
    const int count = BESIDE * turns;
    int rank, ranks;
    double *us = malloc(2 * (size_t)count * sizeof *us), *timed = us != NULL ? us + count : NULL;
    *(void **)&start = dlsym(RTLD_DEFAULT, "cresta_profile_start");
    *(void **)&stop = dlsym(RTLD_DEFAULT, "cresta_profile_stop");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (us == NULL || start == NULL || stop == NULL) {
        fprintf(stderr, "crestacoll-overhead: the preload library of crestacoll is not there\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < BESIDE; i++)
        block(order[i], ALONG, calls, timed);
    for (int i = 0; i < count; i++)
        us[i] = block(order[i % BESIDE], AGAIN, calls, &timed[i]);
    if (rank == 0) {
        printf("{\"ranks\": %d, \"turns\": %d, \"calls\": %d", ranks, turns, calls);
        print_blocks("off_us", us, count, OFF);
        print_blocks("on_us", us, count, ON);
        print_blocks("timed", timed, count, ON);
        print_ratios("on_by_off", us, count, 0, 1, 1);
        print_ratios("off_by_off", us, count, 3, 4, 0);
        print_ratios("on_by_on", us, count, 1, 2, 0);
        printf("}\n");
    }
    free(us);
}
