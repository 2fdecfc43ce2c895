/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_copy.h - which calls pay for a copy by the kernel (shm?copy=auto), by the limits of
 * shm_copy.def. */
#ifndef CCO_SHM_COPY_H
#define CCO_SHM_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "call/collectives.h"
#include "transport/shm/distance.h"

/* What all ranks know of a call. */
typedef struct cco_shm_copy_call {
    cco_coll coll;
    size_t bytes; /* as in rules; 0: each rank knows its own */
    int ranks;
    bool crowded; /* ranks outnumber the cores of some node */
} cco_shm_copy_call;

/* Whether it pays: not at any distance, or not at the one that CRESTA_SHM_DISTANCE imposes; by what
 * is measured; at the one that it imposes. */
typedef enum cco_shm_copy_verdict {
    CCO_SHM_COPY_NO,
    CCO_SHM_COPY_MEASURE,
    CCO_SHM_COPY_YES
} cco_shm_copy_verdict;
cco_shm_copy_verdict cco_shm_copy_judge(const cco_shm_copy_call *call);

/* Whether it does at a measured distance; no if that is not known. */
bool cco_shm_copy_pays(const cco_shm_copy_call *call, const cco_distance *distance);

/* The bytes from which a block pays, in a call that pays where each rank knows its own sizes.  0
 * where all ranks know the size. */
size_t cco_shm_copy_least(const cco_shm_copy_call *call);

/* A measured one: "near", "far" or "not known". */
const char *cco_shm_copy_distance(const cco_distance *distance);

#endif
