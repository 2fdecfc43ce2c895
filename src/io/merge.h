/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.h - what all ranks have counted of MPI-IO becomes one record of bounded size. */
#ifndef CCO_IO_MERGE_H
#define CCO_IO_MERGE_H

#include <stdint.h>

#include "io/record.h"

/* Sums over all ranks; `us_most`: of one rank; `ranks`: those that called. */
typedef struct cco_io_total {
    uint64_t calls, bytes, ranks;
    double us, us_most;
} cco_io_total;

/* Sums over all ranks, in each bin. */
typedef struct cco_io_line {
    double calls[CCO_BINS], bytes[CCO_BINS], us[CCO_BINS], ranks[CCO_BINS];
} cco_io_line;

/* Independent calls in a window of time, and the ranks that made any. */
typedef struct cco_io_together {
    uint64_t calls, bytes, ranks;
} cco_io_together;

typedef struct cco_io_file_sum {
    char name[CCO_IO_NAME];
    int processes; /* 0: no file */
    cco_io_total of[CCO_IO_PARTS];
    cco_io_together apart[CCO_IO_DIRECTIONS][CCO_IO_WINDOWS];
} cco_io_file_sum;

typedef struct cco_io_sum {
    double bin_us;
    int bins; /* in use */
    int ranks;
    cco_io_total of[CCO_IO_PARTS];
    cco_io_line line[CCO_IO_PARTS];
    cco_io_total other[CCO_IO_PARTS]; /* of files that have no place */
    int files;
    cco_io_file_sum file[CCO_IO_FILES]; /* in order */
} cco_io_sum;

/* The record of one rank in bins of `bin_us`, which are not shorter than its own; its ticks have
 * `tick_us`. */
void cco_io_resample(const cco_io_record *record, double tick_us, double bin_us, cco_io_sum *sum);

/* Adds the sum of other ranks. */
void cco_io_absorb(cco_io_sum *into, const cco_io_sum *sum);

/* Collective: the sum of all ranks on rank 0, NULL on others, or if the MPI fails.  The caller
 * frees it.  `wall_us`: what this rank has counted until now. */
cco_io_sum *cco_io_merge(MPI_Comm comm, cco_io_record *record, double tick_us, double wall_us);

#endif
