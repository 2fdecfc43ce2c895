/* SPDX-License-Identifier: BSD-3-Clause */
/* stamp.h - what a call is, in a word that goes with its data: its collective, its root, and how
 * many bytes.  The lowest bits are left for whoever passes the data on: in streams they have the
 * number of the schedule. */
#ifndef CCO_STAMP_H
#define CCO_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call/collectives.h"

enum { CCO_STAMP_COLL_AT = 8, CCO_STAMP_ROOT_AT = 14, CCO_STAMP_BYTES_AT = 28 }; /* bits */
_Static_assert(CCO_COLLECTIVES < (1 << (CCO_STAMP_ROOT_AT - CCO_STAMP_COLL_AT)) - 1, "room");
#define CCO_STAMP_BELOW_BYTES ((UINT64_C(1) << CCO_STAMP_BYTES_AT) - 1)

/* The bytes of a call of which only collective and root are known. */
#define CCO_STAMP_UNSIZED (~CCO_STAMP_BELOW_BYTES)

/* What data have that were made from wrong ones: no call has this. */
#define CCO_STAMP_SPOILT UINT64_C(0x3f00)

static inline uint64_t cco_stamp_bytes(size_t bytes)
{
    return (uint64_t)bytes << CCO_STAMP_BYTES_AT;
}

/* A number in which bits of any two differ that are not the same. */
static inline uint64_t cco_stamp_spread(uint64_t n)
{
    return n * UINT64_C(0x9e3779b97f4a7c15) >> CCO_STAMP_BYTES_AT;
}

/* In place of the bytes of a call whose blocks differ: a number that is equal where their sizes
 * are. */
static inline size_t cco_stamp_sizes(size_t before, size_t n)
{
    const size_t mark = (size_t)1 << (63 - CCO_STAMP_BYTES_AT);
    return cco_stamp_spread(before ^ n) | mark;
}

/* What the messages of a call have, to which each adds its own bytes: messages of one length are
 * told apart if their calls have other bytes. */
static inline uint64_t cco_stamp_messages(uint64_t stamp)
{
    return (stamp & CCO_STAMP_BELOW_BYTES) +
           (cco_stamp_spread(stamp >> CCO_STAMP_BYTES_AT) << CCO_STAMP_BYTES_AT);
}

static inline uint64_t cco_stamp(cco_coll coll, int root, size_t bytes)
{
    return (uint64_t)((unsigned)coll + 1) << CCO_STAMP_COLL_AT |
           ((uint64_t)(unsigned)root << CCO_STAMP_ROOT_AT & CCO_STAMP_BELOW_BYTES) |
           cco_stamp_bytes(bytes);
}

/* The collective, from 1 on. */
static inline unsigned cco_stamp_coll(uint64_t word)
{
    return (unsigned)(word >> CCO_STAMP_COLL_AT) % (1u << (CCO_STAMP_ROOT_AT - CCO_STAMP_COLL_AT));
}

static inline unsigned cco_stamp_root(uint64_t word)
{
    return (unsigned)((word & CCO_STAMP_BELOW_BYTES) >> CCO_STAMP_ROOT_AT);
}

/* The word without what is not of the call. */
static inline uint64_t cco_stamp_alone(uint64_t word)
{
    return word >> CCO_STAMP_COLL_AT << CCO_STAMP_COLL_AT;
}

/* Whether the lowest bits are equal. */
static inline bool cco_stamp_same_number(uint64_t a, uint64_t b)
{
    return (a ^ b) % (1u << CCO_STAMP_COLL_AT) == 0;
}

/* Whether two words differ in their bytes at most. */
static inline bool cco_stamp_alike(uint64_t a, uint64_t b)
{
    return ((a ^ b) & CCO_STAMP_BELOW_BYTES) == 0;
}

#endif
