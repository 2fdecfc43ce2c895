/* SPDX-License-Identifier: BSD-3-Clause */
/* complete.h - waits of a race for collectives of the MPI. */
#ifndef CCO_RACE_COMPLETE_H
#define CCO_RACE_COMPLETE_H

#include "core/comm.h"

/* Completes a request that has begun, if `rc` says so.  Without one of its processes a race cannot
 * go on, since ranks would come to run different implementations: such an error ends the job, with
 * a message. */
void cco_race_complete(cco_comm *state, int rc, MPI_Request *request);

#endif
