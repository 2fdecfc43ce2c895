/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.c - the table behind collectives.h. */
#include "call/collectives.h"

const cco_coll_info cco_coll_infos[CCO_COLLECTIVES] = {
#define CCO_COLLECTIVE(suffix, name, mpi_name, ...) {name, mpi_name, __VA_ARGS__},
#include "call/collectives.inc"
#undef CCO_COLLECTIVE
};
