/* SPDX-License-Identifier: BSD-3-Clause */
/* lane.h - one way over one-sided memory: streams through an area, and schedules that run on them.
 * What models `os` and `caf` share. */
#ifndef CCO_LANE_H
#define CCO_LANE_H

#include "model/scheduled.h"
#include "transport/stream/stream.h"

typedef struct cco_lane {
    cco_scheduled scheduled;
    cco_stream stream;
} cco_lane;

/* The rings with which the blocks of a call go in one piece, if a share of `most` bytes has room
 * for them; collective over the state's private communicator. */
size_t cco_lane_ring(const cco_comm *state, const cco_call *call, size_t most);

/* Runs calls over an area from now on, as one end of a lane may do several times; stops the job
 * when memory runs out. */
void cco_lane_open(cco_lane *lane, cco_area *area, bool gets, cco_comm *state);

/* The area is no longer used. */
void cco_lane_close(cco_lane *lane);

/* Frees what a closed lane keeps for its next calls. */
void cco_lane_empty(cco_lane *lane);

#endif
