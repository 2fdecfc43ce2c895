/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_lists.h - the neighbours of a rank on topologies of the benchmarks. */
#ifndef BENCH_PEER_LISTS_H
#define BENCH_PEER_LISTS_H

enum { PEER_DIMS = 4, PEER_OFFSETS = 81, PEER_TARGETS = 64, PEER_CONNECTIONS = 10000 };

/* The rank at steps of one in a torus; the last dimension is fastest. */
int peer_at(const int *dims, int ndims, int rank, const int *steps);

/* All ranks around one, `sign` 1: to which it sends; -1: from which it gets, edge by edge.  Returns
 * how many. */
int peer_list_around(const int *dims, int ndims, int rank, int sign, int *peers);

/* All others in a random order, the same in every job, and again if they are fewer than
 * `degree`.  There are two ranks at least. */
void peer_list_random(int rank, int size, int degree, int *peers);

/* The other ranks on which a cell with so many connections has targets, each of them on a random
 * rank, the same in every job.  `there`: `size` bytes, zero, and again at the end.  Returns how
 * many. */
int peer_list_connected(int rank, int size, int connections, int *peers, char *there);

#endif
