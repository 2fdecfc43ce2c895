/* SPDX-License-Identifier: BSD-3-Clause */
/* call_shape.h - what of a call's arguments means something on this rank, on any communicator. */
#ifndef CCO_CALL_SHAPE_H
#define CCO_CALL_SHAPE_H

#include "call/call.h"
#include "call/degrees.h"

typedef struct cco_call_shape {
    bool inter;
    int rank, group;  /* this rank, and how many there are on its side */
    int peers;        /* blocks of a buffer: ranks of the communicator, or of the other side; */
    cco_degrees near; /* of a neighborhood collective these instead */
} cco_call_shape;

/* Blocks of an array of counts that describes what is sent, or received. */
int cco_call_shape_blocks(const cco_call *call, const cco_call_shape *shape, bool sent);

/* Asks the MPI, whose error it returns: that of an invalid communicator is reported by then. */
int cco_call_shape_of(const cco_call *call, cco_call_shape *shape);

/* True if this rank is the root of a rooted call. */
bool cco_call_shape_root(const cco_call *call, const cco_call_shape *shape);

#endif
