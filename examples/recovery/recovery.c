/* SPDX-License-Identifier: BSD-3-Clause */
/* recovery.c - a program that goes on after a process has failed: Jacobi's method for the
 * temperature of a square plate, whose upper edge is hot.
 *
 *     mpirun --with-ft ulfm -n 4 recovery [--steps N] [--size N] [--every N] [--kill SEED]
 *
 * Each rank has some rows.  Every 20 steps it copies them into memory of its neighbour, the
 * checkpoint.  When a collective returns an error, the ranks that are left call CRESTA_Comm_repair,
 * put the plate together from the last checkpoint that is complete, divide its rows anew, and go
 * on.  At the end rank 0 compares with a plate that it computes alone: every digit is the same.
 *
 * --kill SEED ends one process, at some moment of the first half second, by SIGKILL.  Without
 * Open MPI 5 and --with-ft ulfm the job ends with that process. */
#include <crestacoll.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Rows of the plate, from `first` on. */
typedef struct rows {
    int first, count;
    double *points;
} rows;

/* A checkpoint as one rank has it: its own rows, and those of the rank before it. */
typedef struct checkpoint {
    int step;
    rows mine, theirs;
} checkpoint;

enum { SLOTS = 2 /* a checkpoint is written beside the last one that is complete */ };

typedef struct solver {
    MPI_Comm comm;
    int rank, size, n, steps, every;
    int step;
    rows now, next;        /* with a row of the neighbours above and below */
    int written, complete; /* checkpoints: the last one that began, and that all ranks have */
    checkpoint slots[SLOTS];
    int *sendcounts, *senddispls, *recvcounts, *recvdispls;
} solver;

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static int first_row(const solver *s, int rank)
{
    return (int)((long)s->n * rank / s->size);
}

static void set_edge(const solver *s, rows *part)
{
    for (int j = 0; part->first == 0 && j < s->n; j++)
        part->points[j] = 1.0; /* above the first row */
}

/* Rows for this rank, in a communicator that may be a new one. */
static void divide(solver *s)
{
    MPI_Comm_rank(s->comm, &s->rank);
    MPI_Comm_size(s->comm, &s->size);
    rows *parts[] = {&s->now, &s->next};
    for (int i = 0; i < 2; i++) {
        free(parts[i]->points);
        parts[i]->first = first_row(s, s->rank);
        parts[i]->count = first_row(s, s->rank + 1) - parts[i]->first;
        parts[i]->points = allocate((size_t)(parts[i]->count + 2) * (size_t)s->n * sizeof(double));
        set_edge(s, parts[i]);
    }
    memset(s->sendcounts, 0, (size_t)s->size * sizeof(int));
    memset(s->recvcounts, 0, (size_t)s->size * sizeof(int));
}

/* The rows next to the neighbours'; a sparse alltoallv. */
static int exchange(solver *s)
{
    const int n = s->n, up = s->rank - 1, down = s->rank + 1;
    memset(s->sendcounts, 0, (size_t)s->size * sizeof(int));
    if (up >= 0) {
        s->sendcounts[up] = n;
        s->senddispls[up] = n;
        s->recvdispls[up] = 0;
    }
    if (down < s->size) {
        s->sendcounts[down] = n;
        s->senddispls[down] = s->now.count * n;
        s->recvdispls[down] = (s->now.count + 1) * n;
    }
    /* Sent from `next`, which the step is about to overwrite: buffers must not overlap. */
    memcpy(s->next.points, s->now.points, (size_t)(s->now.count + 2) * (size_t)n * sizeof(double));
    return CRESTA_Alltoallv(s->next.points, s->sendcounts, s->senddispls, MPI_DOUBLE, s->now.points,
                            s->sendcounts, s->recvdispls, MPI_DOUBLE, s->comm);
}

static double relax(const double *now, double *next, int count, int n)
{
    double change = 0;
    for (int i = 1; i <= count; i++) {
        const double *at = now + (size_t)i * (size_t)n;
        double *to = next + (size_t)i * (size_t)n;
        for (int j = 0; j < n; j++) {
            const double left = j > 0 ? at[j - 1] : 0, right = j < n - 1 ? at[j + 1] : 0;
            to[j] = 0.25 * (left + right + at[j - n] + at[j + n]);
            change += (to[j] - at[j]) * (to[j] - at[j]);
        }
    }
    return change;
}

static int advance(solver *s)
{
    double change, all;
    int rc = exchange(s);
    if (rc != MPI_SUCCESS)
        return rc;
    change = relax(s->now.points, s->next.points, s->now.count, s->n);
    const rows old = s->now;
    s->now = s->next;
    s->next = old;
    rc = CRESTA_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, s->comm);
    if (rc == MPI_SUCCESS)
        s->step++;
    return rc;
}

static void keep_rows(rows *kept, int first, int count, int n)
{
    free(kept->points);
    *kept = (rows){first, count, allocate((size_t)count * (size_t)n * sizeof(double))};
}

/* Copies the rows of each rank into memory of the next one.  Who leaves the barrier knows that all
 * ranks have theirs. */
static int write_checkpoint(solver *s)
{
    const int next = (s->rank + 1) % s->size, before = (s->rank + s->size - 1) % s->size;
    checkpoint *c = &s->slots[++s->written % SLOTS];
    const int theirs = first_row(s, before);
    c->step = s->step;
    keep_rows(&c->mine, s->now.first, s->now.count, s->n);
    keep_rows(&c->theirs, theirs, first_row(s, before + 1) - theirs, s->n);
    memcpy(c->mine.points, s->now.points + s->n,
           (size_t)c->mine.count * (size_t)s->n * sizeof(double));
    memset(s->sendcounts, 0, (size_t)s->size * sizeof(int));
    memset(s->recvcounts, 0, (size_t)s->size * sizeof(int));
    s->sendcounts[next] = c->mine.count * s->n;
    s->senddispls[next] = 0;
    s->recvcounts[before] = c->theirs.count * s->n;
    s->recvdispls[before] = 0;
    int rc = CRESTA_Alltoallv(c->mine.points, s->sendcounts, s->senddispls, MPI_DOUBLE,
                              c->theirs.points, s->recvcounts, s->recvdispls, MPI_DOUBLE, s->comm);
    if (rc == MPI_SUCCESS)
        rc = CRESTA_Barrier(s->comm);
    if (rc == MPI_SUCCESS)
        s->complete = s->written;
    return rc;
}

static void add_rows(const solver *s, const rows *part, double *plate, int *copies)
{
    for (int i = 0; i < part->count; i++) {
        copies[part->first + i]++;
        for (int j = 0; j < s->n; j++)
            plate[(size_t)(part->first + i) * (size_t)s->n + (size_t)j] +=
                part->points[(size_t)i * (size_t)s->n + (size_t)j];
    }
}

/* The plate from what all ranks have of a checkpoint: of most rows two equal copies, whose sum is
 * exact, of those of the process that failed one. */
static int assemble(solver *s, const checkpoint *c, double *plate)
{
    const size_t points = (size_t)s->n * (size_t)s->n;
    int *copies = allocate((size_t)s->n * sizeof *copies), lost = 0;
    add_rows(s, &c->mine, plate, copies);
    add_rows(s, &c->theirs, plate, copies);
    int rc = CRESTA_Allreduce(MPI_IN_PLACE, plate, (int)points, MPI_DOUBLE, MPI_SUM, s->comm);
    if (rc == MPI_SUCCESS)
        rc = CRESTA_Allreduce(MPI_IN_PLACE, copies, s->n, MPI_INT, MPI_SUM, s->comm);
    for (size_t i = 0; rc == MPI_SUCCESS && i < points; i++) {
        const int n = copies[i / (size_t)s->n];
        lost = lost || n == 0;
        plate[i] /= n > 0 ? n : 1;
    }
    free(copies);
    if (lost && s->rank == 0)
        fprintf(stderr, "recovery: two neighbours have failed, and with them their rows\n");
    if (lost)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return rc;
}

/* The last checkpoint that any rank knows to be complete is complete on all of them. */
static int restore(solver *s)
{
    int last = s->complete;
    int rc = CRESTA_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, s->comm);
    if (rc != MPI_SUCCESS)
        return rc;
    s->written = s->complete = last;
    if (last == 0) { /* there is none yet: from the beginning */
        divide(s);
        s->step = 0;
        return write_checkpoint(s);
    }
    const checkpoint *c = &s->slots[last % SLOTS];
    double *plate = allocate((size_t)s->n * (size_t)s->n * sizeof *plate);
    rc = assemble(s, c, plate);
    if (rc == MPI_SUCCESS) {
        divide(s);
        s->step = c->step;
        memcpy(s->now.points + s->n, plate + (size_t)s->now.first * (size_t)s->n,
               (size_t)s->now.count * (size_t)s->n * sizeof *plate);
        rc = write_checkpoint(s);
    }
    free(plate);
    return rc;
}

/* After an error.  One more process may fail meanwhile. */
static void recover(solver *s)
{
    int rc;
    do {
        MPI_Comm left;
        const double start = MPI_Wtime();
        rc = CRESTA_Comm_repair(s->comm, &left);
        if (rc != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Comm_free(&s->comm);
        s->comm = left;
        MPI_Comm_rank(s->comm, &s->rank);
        MPI_Comm_size(s->comm, &s->size);
        if (s->rank == 0)
            printf("repaired: %d ranks are left, %.2f ms\n", s->size, 1e3 * (MPI_Wtime() - start));
        rc = restore(s);
    } while (rc != MPI_SUCCESS);
}

/* Whether all ranks have come to the end: the same answer on all of them, also if a process fails
 * meanwhile. */
static bool all_done(solver *s, int rc)
{
    int done = rc == MPI_SUCCESS;
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
    if (MPIX_Comm_agree(s->comm, &done) != MPI_SUCCESS)
        return false;
#endif
    return done;
}

static void run(solver *s)
{
    int rc = write_checkpoint(s);
    for (;;) {
        while (rc == MPI_SUCCESS && s->step < s->steps) {
            rc = advance(s);
            if (rc == MPI_SUCCESS && s->step % s->every == 0)
                rc = write_checkpoint(s);
        }
        if (all_done(s, rc))
            return;
        recover(s);
        rc = MPI_SUCCESS;
    }
}

/* The plate that one process computes. */
static double *compute_alone(const solver *s)
{
    const size_t n = (size_t)s->n;
    double *now = allocate((n + 2) * n * sizeof *now), *next = allocate((n + 2) * n * sizeof *now);
    for (size_t j = 0; j < n; j++)
        now[j] = next[j] = 1.0;
    for (int i = 0; i < s->steps; i++) {
        relax(now, next, s->n, s->n);
        double *old = now;
        now = next;
        next = old;
    }
    free(next);
    return now;
}

/* Nobody is killed any more: of a process that has given its part others see no failure, and the
 * one to be killed may be the one that prints. */
static int check(solver *s)
{
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 0}}, NULL);
    const size_t n = (size_t)s->n;
    double *alone = compute_alone(s);
    int wrong = 0, all = 0;
    for (int i = 1; i <= s->now.count; i++)
        wrong += memcmp(s->now.points + (size_t)i * n, alone + (size_t)(s->now.first + i) * n,
                        n * sizeof *alone) != 0;
    free(alone);
    CRESTA_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, s->comm);
    if (s->rank == 0)
        printf("recovery: %d steps, %d ranks at the end, %s\n", s->steps, s->size,
               all == 0 ? "the right answer" : "WRONG");
    return all != 0;
}

static void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void plan_death(const solver *s, unsigned seed)
{
    srand(seed);
    const int victim = rand() % s->size, us = 1000 + rand() % 499000;
    if (s->rank != victim || s->size < 2)
        return;
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, us}}, NULL);
}

static void read_arguments(solver *s, int argc, char **argv, unsigned *seed, bool *kills)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const int value = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--steps") == 0)
            s->steps = value;
        else if (strcmp(argv[i], "--size") == 0)
            s->n = value;
        else if (strcmp(argv[i], "--every") == 0)
            s->every = value;
        else if (strcmp(argv[i], "--kill") == 0)
            *seed = (unsigned)value;
        *kills = *kills || strcmp(argv[i], "--kill") == 0;
    }
}

static void release(solver *s)
{
    free(s->now.points);
    free(s->next.points);
    for (int i = 0; i < SLOTS; i++) {
        free(s->slots[i].mine.points);
        free(s->slots[i].theirs.points);
    }
    free(s->sendcounts);
    free(s->senddispls);
    free(s->recvcounts);
    free(s->recvdispls);
    MPI_Comm_free(&s->comm);
}

int main(int argc, char **argv)
{
    solver s = {.n = 96, .steps = 2000, .every = 20};
    unsigned seed = 0;
    bool kills = false;
    MPI_Init(&argc, &argv);
    read_arguments(&s, argc, argv, &seed, &kills);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
    MPI_Comm_size(s.comm, &s.size);
    if (s.n < s.size || s.steps < 1 || s.every < 1) {
        fprintf(stderr, "usage: recovery [--steps N] [--size N] [--every N] [--kill SEED]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int **arrays[] = {&s.sendcounts, &s.senddispls, &s.recvcounts, &s.recvdispls};
    for (int i = 0; i < 4; i++)
        *arrays[i] = allocate((size_t)s.size * sizeof(int));
    divide(&s);
    if (kills)
        plan_death(&s, seed);
    run(&s);
    const int wrong = check(&s);
    release(&s);
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
    MPIX_Comm_failure_ack(MPI_COMM_WORLD); /* so that MPI_Finalize does not wait */
#endif
    MPI_Finalize();
    return wrong;
}
