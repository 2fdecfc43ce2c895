/* SPDX-License-Identifier: BSD-3-Clause */
/* hooked.h - which transport schedules run over, and what CRESTA_DEBUG puts around it. */
#ifndef CCO_HOOKED_H
#define CCO_HOOKED_H

#include "plan/scheduled.h"

/* Schedules run over a transport from now on, through a hook if CRESTA_DEBUG says so.  `unlike`:
 * what it meets. */
void cco_scheduled_over(cco_scheduled *own, const cco_transport *transport, void *shared,
                        cco_unlike *unlike, cco_comm *state);

#endif
