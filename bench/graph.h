/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.h - topologies that a text names, without an MPI: "torus:D", a torus of D dimensions, with
 * the neighbours of MPI_Cart_create; "stencil:D", the same with all ranks around each; "random:K",
 * in which each rank sends to K others, the same in every job; "spikes:K", in which a cell of each
 * rank has K connections to ranks at random, and a rank gets one message however many it has. */
#ifndef BENCH_GRAPH_H
#define BENCH_GRAPH_H

#include "comm/neighbors.h"

/* The neighbours of each rank, which the caller frees; NULL: there is no such topology, or no
 * memory. */
cco_neighbors *graph_make(const char *text, int size);
void graph_free(cco_neighbors *near, int size);

#endif
