/* SPDX-License-Identifier: BSD-3-Clause */
/* complete.c - see complete.h. */
#include "race/complete.h"

#include <time.h>

#include "comm/failure.h"
#include "base/log.h"

void cco_race_complete(const cco_comm *state, int rc)
{
    if (rc == MPI_SUCCESS)
        return;
    if (state->failure.error == MPI_SUCCESS)
        cco_fatal("CRESTA_RACE: the MPI's collective on communicator '%s' failed", state->name);
    if (!cco_comm_tells_failure(state)) /* another rank says so, and ends the job */
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    if (state->failure.lost >= 0)
        cco_fatal("CRESTA_RACE: rank %d of communicator '%s' has failed; rank %d found out",
                  state->failure.lost, state->name, state->rank);
    cco_fatal("CRESTA_RACE: a process of communicator '%s' has failed", state->name);
}
