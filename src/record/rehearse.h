/* SPDX-License-Identifier: BSD-3-Clause */
/* rehearse.h - the rehearsal of a schedule (sched/message_levels.h) on real ranks. */
#ifndef CCO_REHEARSE_H
#define CCO_REHEARSE_H

#include "core/mpi_compat.h"
#include "sched/message_levels.h"

/* Finds the levels of the messages of a schedule.  Both ends of each message exchange two numbers,
 * on two tags from `tag` on; collective over those ranks that have messages.  MPI_ERR_TRUNCATE if
 * the ends of one do not agree on its size, MPI_ERR_NO_MEM (then others may wait), or the MPI's. */
int cco_rehearse(cco_message_levels *levels, const cco_sched *s, MPI_Comm comm, int tag);

#endif
