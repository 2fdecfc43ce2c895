/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - when the counting of a process began and ended. */
#ifndef CCO_CALLS_JOB_H
#define CCO_CALLS_JOB_H

#include "base/clock.h"

typedef struct cco_calls_job {
    cco_clock_mark begin, end; /* begin: 0 if MPI_Init passed us by */
    uint64_t suspended;        /* ticks, by MPI_Pcontrol(0) */
} cco_calls_job;

/* In MPI_Init, before anything else. */
void cco_calls_init(void);

/* After it. */
void cco_calls_initialized(int rc);

/* In MPI_Finalize; from where, and the frame of the wrapper; after it. */
void cco_calls_finalize(const void *site, const char *frame);
void cco_calls_finalized(int rc);

/* MPI_Pcontrol. */
void cco_calls_control(int level);

/* In MPI_Finalize, when all ranks are there: its time until now is counted, and nothing more. */
const cco_calls_job *cco_calls_job_end(void);

#endif
