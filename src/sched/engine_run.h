/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_run.h - an engine from the start of its schedule to the end. */
#ifndef CCO_ENGINE_RUN_H
#define CCO_ENGINE_RUN_H

#include "sched/engine.h"

/* Starts and tests to the end, waiting politely (base/pause.h).  Returns MPI_SUCCESS, or the class
 * of the error that ended the schedule. */
int cco_engine_run(cco_engine *e, const cco_binding *binding);

/* cco_engine_run without cco_transport.run. */
int cco_engine_run_any(cco_engine *e, const cco_binding *binding);

/* The second half of that, after cco_engine_pass: notes which round it is, of which `end` is the
 * last task; and waits for it, and for those behind it. */
struct task;
void cco_engine_stay(cco_engine *e, const struct task *end);
int cco_engine_wait(cco_engine *e);

#endif
