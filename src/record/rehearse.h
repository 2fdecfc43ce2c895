/* SPDX-License-Identifier: BSD-3-Clause */
/* rehearse.h - the rehearsal of a schedule (sched/message_levels.h) on real ranks. */
#ifndef CCO_REHEARSE_H
#define CCO_REHEARSE_H

#include "comm/channel.h"
#include "base/watch.h"
#include "sched/message_levels.h"

/* Finds the levels of the messages of a schedule.  Both ends of each message exchange two numbers,
 * on two tags of the channel from `tag` on; collective over those ranks that have messages.
 * MPI_ERR_TRUNCATE if the ends of one do not agree on its size, MPI_ERR_NO_MEM (then others may
 * wait), the MPI's, or that of a process that has failed (wait/awaited.h). */
int cco_rehearse(cco_message_levels *levels, const cco_sched *s, const cco_channel *channel,
                 cco_watch *watch, int tag);

#endif
