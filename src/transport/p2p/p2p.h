/* SPDX-License-Identifier: BSD-3-Clause */
/* p2p.h - steps as the MPI's own sends and receives, non-blocking (MPI 4.0, section 3.7). */
#ifndef CCO_P2P_H
#define CCO_P2P_H

#include "comm/channel.h"
#include "call/unlike.h"
#include "base/watch.h"
#include "sched/transport.h"

/* What the transfers of a communicator share. */
typedef struct cco_p2p {
    cco_channel *channel;
    cco_watch *watch; /* of its ranks; NULL: nobody looks after them */
    int tag;          /* of the next schedule of this call; that of the one after it is the next */
    cco_unlike *unlike; /* the first rank that made another call; NULL: tags say nothing of calls */
} cco_p2p;

extern const cco_transport cco_transport_p2p;

#endif
