/* SPDX-License-Identifier: BSD-3-Clause */
/* psdns.h - what the files of crestacoll-harness share: ALGs, ways to do the all-to-alls of rows
 * and columns of a grid of ranks and the computation beside them.
 *
 * Source: R. Fiedler: Overlapping All-to-All Communication and Computation using non-Blocking MPI
 * and Coarray Fortran, Cray, 2013 (the harness of PSDNS). */
#ifndef PSDNS_H
#define PSDNS_H

#include "../bench.h"

#include "transport/rma/window.h"

enum { PSDNS_ROW, PSDNS_COL, PSDNS_SIDES };

/* Where the buffers are; never two of these at a time. */
enum psdns_store { PSDNS_ARRAYS, PSDNS_COARRAYS, PSDNS_WINDOWS, PSDNS_STORES };

/* This rank's row or column. */
struct psdns_side {
    MPI_Comm comm; /* CRESTA_Barrier is `nonblock` there */
    int rank, size;
    int *members;               /* ranks of MPI_COMM_WORLD */
    int *order;                 /* ranks of `comm` as they come, shuffled, on each in another way */
    double units;               /* of computation in one all-to-all */
    unsigned char *send, *recv; /* a block for each member */
    cco_window window;          /* of PSDNS_WINDOWS: what `send` is in */
    MPI_Request *begun;         /* room for two for each member */
};

struct psdns {
    struct bench_options o;
    struct bench_world w;
    int rows, columns;
    int rows_within_hosts;
    double units_per_us;      /* while all ranks compute */
    const char *caf;          /* why there are no coarrays, or NULL */
    size_t bytes;             /* of a block, at the moment */
    double worked;            /* seconds of computation since this was set to 0 */
    unsigned char *memory[2]; /* of PSDNS_ARRAYS */
    struct psdns_side side[PSDNS_SIDES];
};

struct psdns_alg;
/* One all-to-all and its computation; an MPI error class. */
typedef int psdns_exchange(struct psdns *h, const struct psdns_alg *a, int side);

struct psdns_alg {
    const char *name; /* as asked for */
    const char *impl; /* what CRESTA_Alltoall or its begin does; NULL: neither is called */
    enum psdns_store store;
    psdns_exchange *exchange;
    int overlaps;               /* xxN: the computation comes before the end */
    int inlined;                /* Csx: a piece of it for each block */
    MPI_Comm comm[PSDNS_SIDES]; /* of `impl` */
    int verdict;                /* of psdns_check, for this size */
    int iters, warmups;
    double seconds_left;                            /* of its share of the time, on rank 0 */
    double *total[PSDNS_SIDES], *comp[PSDNS_SIDES]; /* seconds of each iteration */
};

/* algs.c */
const char *psdns_alg_open(struct psdns *h, struct psdns_alg *a, const char *name);
void psdns_alg_close(struct psdns_alg *a);

/* schedules.c: blocks in random order, by calls of the MPI. */
psdns_exchange psdns_by_messages, psdns_by_window;

/* stores.c: NULL, or on all ranks why there is no such memory. */
const char *psdns_store_open(struct psdns *h, enum psdns_store store);
void psdns_store_close(struct psdns *h, enum psdns_store store);
/* One iteration whose outcome is compared with what has to come out, over after the all-to-all that
 * takes longer than so many seconds; an enum bench_verdict or PSDNS_TOO_SLOW.  Collective. */
enum { PSDNS_TOO_SLOW = BENCH_REFUSED + 1 };
int psdns_check(struct psdns *h, const struct psdns_alg *a, int seed, double seconds);

/* grid.c */
const char *psdns_grid_open(struct psdns *h);
void psdns_grid_close(struct psdns *h);

/* measure.c */
double psdns_rate(const struct psdns *h);
void psdns_choose_work(struct psdns *h, const struct psdns_alg *blocking, double seconds);
void psdns_round(struct psdns *h, struct psdns_alg *a, int most, double until);

/* work.c: `share` of what belongs to one all-to-all. */
void psdns_work(struct psdns *h, int side, double share);

#endif
