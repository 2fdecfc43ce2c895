/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_where.h - where an engine is, for a roll-call (core/whereabouts.h). */
#ifndef CCO_ENGINE_WHERE_H
#define CCO_ENGINE_WHERE_H

#include "sched/engine.h"

/* It is not at its end, and its rank is about to wait: which round is open, and one of those whose
 * messages it lacks. */
void cco_engine_tell_where(const cco_engine *e);

#endif
