/* SPDX-License-Identifier: BSD-3-Clause */
/* places.h - where ranks are, as seen from this one. */
#ifndef CCO_CALLS_PLACES_H
#define CCO_CALLS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/calls.h"
#include "calls/useful.h"

/* Whether the ranks of the job are on several nodes. */
extern bool cco_calls_several_nodes CCO_CALLS_HIDDEN;

/* Where a rank of a communicator is, if the job has several nodes (calls/places.c). */
uint8_t cco_calls_place(MPI_Comm comm, int rank);
static inline uint8_t cco_calls_distance_of(MPI_Comm comm, int rank)
{
    return cco_calls_several_nodes ? cco_calls_place(comm, rank) : CCO_CALLS_ON_NODE;
}
static inline uint8_t cco_calls_distance_of_window(void)
{
    return cco_calls_several_nodes ? CCO_CALLS_NOT_KNOWN : CCO_CALLS_ON_NODE;
}

/* In MPI_Init, on all ranks: the node of each rank of MPI_COMM_WORLD, as a number. */
void cco_calls_places_begin(const uint64_t *nodes, int ranks);

/* Then: where this process is. */
cco_useful_place cco_calls_place_here(void);

#endif
