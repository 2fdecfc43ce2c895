/* SPDX-License-Identifier: BSD-3-Clause */
/* transit.h - messages on their way: sent, met by a receive, through interfaces, and there. */
#ifndef SIMULATE_TRANSIT_H
#define SIMULATE_TRANSIT_H

#include "stage.h"

/* A rank sends `n` bytes to a peer, or posts a receive for one, at its time. */
void transit_send(stage *s, uint32_t r, int peer, double n);
void transit_receive(stage *s, uint32_t r, int peer);

/* A message comes to the next interface. */
void transit_hop(stage *s, uint32_t number);

#endif
