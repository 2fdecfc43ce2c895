/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.h - every algorithm by folder and name, `cco_allreduce_ring`, from registry.def and
 * node_algos.def. */
#ifndef CCO_ALGO_REGISTRY_H
#define CCO_ALGO_REGISTRY_H

#include "algo/algo.h"

#define CCO_ALGO(COLL, folder, name) extern const cco_algo cco_##folder##_##name;
#include "algo/registry.def"
#include "algo/node_algos.def"
#undef CCO_ALGO

#endif
