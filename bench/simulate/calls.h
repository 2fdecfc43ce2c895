/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - makes the programs of a call, on all communicators that it is made on. */
#ifndef SIMULATE_CALLS_H
#define SIMULATE_CALLS_H

#include "job.h"

/* False, and why is on standard error. */
bool calls_make(job *j, phase *f, job_call *c);

#endif
