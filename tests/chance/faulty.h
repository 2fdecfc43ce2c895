/* SPDX-License-Identifier: BSD-3-Clause */
/* faulty.h - calls that the MPI refuses on every rank, and error handlers that see them. */
#ifndef CHANCE_FAULTY_H
#define CHANCE_FAULTY_H

#include "chance.h"

/* Such a call on the slot; the record takes its class. */
void faulty_call(struct slot *slot, dice d, int record);

#endif
