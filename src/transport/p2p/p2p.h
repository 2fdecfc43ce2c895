/* SPDX-License-Identifier: BSD-3-Clause */
/* p2p.h - steps as the MPI's own sends and receives, non-blocking (MPI 4.0, section 3.7). */
#ifndef CCO_P2P_H
#define CCO_P2P_H

#include "core/channel.h"
#include "sched/transport.h"

/* What the transfers of a communicator share. */
typedef struct cco_p2p {
    MPI_Comm comm; /* private: nothing else passes there; errors on it are returned */
    int first;     /* tag; */
    int last;      /* so many more, a power of two less 1: schedules take them in turn */
    int tag;       /* of the schedule that started last, after the first: the same on all ranks */
    bool *broken;  /* set where a message may be on its way that nobody takes */
} cco_p2p;

/* What those of blocking calls share. */
cco_p2p cco_p2p_over(cco_channel *channel);

extern const cco_transport cco_transport_p2p;

#endif
