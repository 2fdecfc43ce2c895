/* SPDX-License-Identifier: BSD-3-Clause */
/* imposed_nodes.h - CRESTA_NODES: nodes for the ranks of a machine, to try what needs several.
 *
 * NxM: N nodes of M ranks, in the order of MPI_COMM_WORLD; M+M+...: nodes of so many; K,K,...: the
 * node of each rank. */
#ifndef CCO_IMPOSED_NODES_H
#define CCO_IMPOSED_NODES_H

/* How many ranks such a text places; 0 if it is none. */
int cco_imposed_ranks(const char *text);

/* The node of a rank there, from 0. */
int cco_imposed_node(const char *text, int rank);

/* The nodes of the first `count` ranks; the text places at least so many. */
void cco_imposed_nodes(const char *text, int count, int *node);

#endif
