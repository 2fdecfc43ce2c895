/* SPDX-License-Identifier: BSD-3-Clause */
/* match.h - which message meets which receive: between two ranks in the order of both.
 *
 * A hash table of the pairs of ranks between which something waits: receives that no message has
 * met, or messages that no receive has. */
#ifndef SIMULATE_MATCH_H
#define SIMULATE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

enum { NO_MESSAGE = UINT32_MAX };

typedef struct match_slot {
    uint64_t pair;        /* 0: empty */
    uint32_t receives;    /* that wait, or */
    uint32_t first, last; /* messages that wait, NO_MESSAGE if none */
} match_slot;

typedef struct matches {
    match_slot *slots;
    uint32_t mask, used;
    bool no_memory; /* sticks */
} matches;

bool matches_begin(matches *m);
void matches_free(matches *m);

/* A receive of `to` is posted for `from`.  Takes the first message that waits; its number, or
 * NO_MESSAGE, and the receive waits.  `next` has for each message that waits the one behind it. */
uint32_t match_receive(matches *m, uint32_t to, uint32_t from, const uint32_t *next);

/* A message is sent: true if a receive waited for it, else it waits. */
bool match_message(matches *m, uint32_t to, uint32_t from, uint32_t message, uint32_t *next);

/* Takes a message that waits, if it is the first one between its ranks. */
bool match_take_first(matches *m, uint32_t to, uint32_t from, uint32_t message,
                      const uint32_t *next);

#endif
