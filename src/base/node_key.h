/* SPDX-License-Identifier: BSD-3-Clause */
/* node_key.h - a number that all processes of a node have, and no others: those that run under the
 * same boot of a kernel and in the same name space of processes, so that they can share memory.
 * CRESTA_NODES (imposed_nodes.h) divides the ranks of a machine; it never brings those of two
 * together. */
#ifndef CCO_NODE_KEY_H
#define CCO_NODE_KEY_H

#include <stdint.h>

/* The key of this process's node; 0 if it is not known. */
uint64_t cco_node_key(void);

/* A key that processes under one boot of a kernel share, whatever their name spaces. */
uint64_t cco_boot_key(void);

#endif
