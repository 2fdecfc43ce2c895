/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.h - the seventeen collectives: enum, names, properties.  The list is generated from
 * api/collectives.def. */
#ifndef CCO_COLLECTIVES_H
#define CCO_COLLECTIVES_H

/* Properties; what they mean is said in api/collectives.def. */
enum { CCO_SIZED = 1, CCO_ROOTED = 2, CCO_REDUCTION = 4 };

typedef enum cco_coll {
#define CCO_COLLECTIVE(suffix, name, mpi_name, properties) CCO_##suffix,
#include "core/collectives.inc"
#undef CCO_COLLECTIVE
    CCO_COLLECTIVES
} cco_coll;

typedef struct cco_coll_info {
    const char *name;     /* "allreduce" */
    const char *mpi_name; /* "Allreduce" */
    int properties;
} cco_coll_info;

extern const cco_coll_info cco_coll_infos[CCO_COLLECTIVES];

#endif
