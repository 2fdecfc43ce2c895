/* SPDX-License-Identifier: BSD-3-Clause */
/* pull.h - single copy: a rank reads another one's private memory by the kernel
 * (base/process_read.h).
 *
 * What the kernel does not read, the rank that has it copies into the shared memory on request,
 * while it waits (cco_slot_ring_pause); it does not leave the call before its readers have. */
#ifndef CCO_PULL_H
#define CCO_PULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/process_read.h"

enum {
    CCO_PULL_CHUNK = 64 << 10, /* bytes of an operand that stay in a cache until they are reduced */
    CCO_PULL_REPLY = 8 << 10,  /* bytes of a copy on request */
};

typedef struct cco_pull {
    char *memory; /* shared, of rank 0, with that of each rank behind that of the one before */
    size_t share; /* bytes from one rank to the next, at least cco_pull_share() */
    int rank, size;
    cco_process_id *peers;            /* NULL: ranks do not read each other's memory */
    char *scratch;                    /* twice CCO_PULL_CHUNK */
    const struct cco_slot_ring *ring; /* whose call it is in; NULL: nobody looks after the others */
    bool refused;                     /* the kernel refused a read for ever: not tried again */
} cco_pull;

/* Bytes of shared memory that a rank has. */
size_t cco_pull_share(void);

/* Makes this rank's part ready, with room for `peers`, which the caller fills in before anybody
 * reads; local.  False when memory runs out. */
bool cco_pull_open(cco_pull *pull, char *memory, size_t share, int rank, int size);
void cco_pull_close(cco_pull *pull);

/* True if the kernel lets this rank read a word of every other. */
bool cco_pull_probe(const cco_pull *pull);

/* Copies `n` bytes at `from` in the memory of `rank`, which shows that address in a call that it
 * does not leave before this returns. */
void cco_pull_read(cco_pull *pull, int rank, const char *from, char *to, size_t n);

/* Copies what others could not read of this rank, if somebody asks for it. */
void cco_pull_serve(cco_pull *pull);

/* True once a read of some rank failed: this rank should show its data in slots.  Ranks hear of it
 * at different times. */
bool cco_pull_failed(const cco_pull *pull);

#endif
