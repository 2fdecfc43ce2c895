/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h - the machine of the simulator: LogGP at each level of nearness between two ranks.
 *
 * A message of n bytes takes `send + n send_byte` of the sender's processor, `latency + n byte` on
 * its way and `receive + n receive_byte` of the receiver's.  Messages that leave a node pass its
 * interface, one after the other: each occupies it for `gap + n byte` of the network, once going
 * out and once coming in; where nodes stand in groups, likewise the link of the group.  A message
 * of more than `eager` bytes waits until the receiver has told that it is ready.
 *
 * D. Culler et al.: LogP: towards a realistic model of parallel computation, PPoPP 1993;
 * A. Alexandrov et al.: LogGP, SPAA 1995; rendezvous as in T. Hoefler, T. Schneider,
 * A. Lumsdaine: LogGOPSim, LSAP 2010. */
#ifndef SIMULATE_MACHINE_H
#define SIMULATE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times are picoseconds. */
typedef struct level {
    double latency, send, receive, gap;
    double byte, send_byte, receive_byte; /* for each byte */
    double eager;                         /* bytes */
} level;

/* What a message takes of its receiver's processor. */
static inline double level_cost(const level *l, double n)
{
    return l->receive + n * l->receive_byte;
}

/* How near two ranks are: in a node at the same cache; in a node; in a group of nodes; elsewhere.
 */
typedef enum nearness { CACHE, NODE, GROUP, NETWORK, LEVELS } nearness;

/* What a rank does by itself. */
typedef struct local_cost {
    double each, byte;
} local_cost;

typedef struct machine {
    level levels[LEVELS];
    int cache_ranks; /* of a node that share a cache; 0: no such level */
    int group_nodes; /* likewise */
    local_cost copy, reduce;
    double round; /* of the engine, for each round of a schedule */
} machine;

/* Reads "network.latency=1e-6,copy.byte=1e-10,...": seconds, seconds for a byte, numbers.  What is
 * not named is 0.  False, and what is wrong is on standard error. */
bool machine_read(machine *m, const char *text);

#endif
