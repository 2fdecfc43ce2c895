/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - the names of the functions. */
#include "calls/calls.h"

const char *const cco_calls_names[] = {
#define CCO_CALLS_FUNCTION(name, part) "MPI_" #name,
#include "calls/functions.inc"
#undef CCO_CALLS_FUNCTION
};
