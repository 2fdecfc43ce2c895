/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_run.h - an engine from the start of its schedule to the end. */
#ifndef CCO_ENGINE_RUN_H
#define CCO_ENGINE_RUN_H

#include "sched/engine.h"

/* Starts and tests to the end, waiting politely (core/pause.h).  Returns MPI_SUCCESS, or the class
 * of the error that ended the schedule. */
int cco_engine_run(cco_engine *e, const cco_binding *binding);

#endif
