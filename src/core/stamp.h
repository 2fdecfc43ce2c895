/* SPDX-License-Identifier: BSD-3-Clause */
/* stamp.h - what a call is, in a word that goes with its data: its collective, its root, and how
 * many bytes.  The lowest bits are left for whoever passes the data on. */
#ifndef CCO_STAMP_H
#define CCO_STAMP_H

#include <stddef.h>

#include "core/collectives.h"

enum { CCO_STAMP_COLL_AT = 8, CCO_STAMP_ROOT_AT = 16, CCO_STAMP_BYTES_AT = 24 }; /* bits */

/* What data have that were made from wrong ones: no call has this. */
#define CCO_STAMP_SPOILT UINT64_C(0xff00)

static inline uint64_t cco_stamp_bytes(size_t bytes)
{
    return (uint64_t)bytes << CCO_STAMP_BYTES_AT;
}

/* In place of the bytes of a call whose blocks differ: a number that is equal where their sizes
 * are. */
static inline size_t cco_stamp_sizes(size_t before, size_t n)
{
    const size_t mark = (size_t)1 << (63 - CCO_STAMP_BYTES_AT);
    return ((before ^ n) * UINT64_C(0x9e3779b97f4a7c15) >> CCO_STAMP_BYTES_AT) | mark;
}

static inline uint64_t cco_stamp(cco_coll coll, int root, size_t bytes)
{
    return (uint64_t)((unsigned)coll + 1) << CCO_STAMP_COLL_AT |
           (uint64_t)(uint8_t)root << CCO_STAMP_ROOT_AT | cco_stamp_bytes(bytes);
}

/* The word without what is not of the call. */
static inline uint64_t cco_stamp_alone(uint64_t word)
{
    return word >> CCO_STAMP_COLL_AT << CCO_STAMP_COLL_AT;
}

/* Whether two words are of one collective with one root. */
static inline bool cco_stamp_alike(uint64_t a, uint64_t b)
{
    return (uint16_t)(a >> CCO_STAMP_COLL_AT) == (uint16_t)(b >> CCO_STAMP_COLL_AT);
}

#endif
