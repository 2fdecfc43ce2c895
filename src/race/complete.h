/* SPDX-License-Identifier: BSD-3-Clause */
/* complete.h - what ranks agree on in a race. */
#ifndef CCO_RACE_COMPLETE_H
#define CCO_RACE_COMPLETE_H

#include "comm/comm.h"

/* What a collective of mpi/service.h has returned.  Without one of its processes a race cannot go
 * on, since ranks would come to run different implementations: an error ends the job, with a
 * message. */
void cco_race_complete(const cco_comm *state, int rc);

#endif
