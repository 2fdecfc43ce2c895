/* SPDX-License-Identifier: BSD-3-Clause */
/* bound_pack.h - before and after the schedule of a bound call: data to and from memory of ours,
 * where the bound call is packed. */
#ifndef CCO_BOUND_PACK_H
#define CCO_BOUND_PACK_H

#include "plan/bound.h"

int cco_bound_pack(const cco_bound *f);
int cco_bound_unpack(const cco_bound *f);

/* The parts of the latter: a block that has come, and then all but those that are `done`; NULL:
 * none is. */
int cco_bound_unpack_block(const cco_bound *f, int block);
int cco_bound_unpack_rest(const cco_bound *f, const bool *done);

#endif
