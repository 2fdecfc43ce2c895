/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - the names of the functions, and which part of the MPI they are. */
#include "calls/calls.h"

const char *const cco_calls_names[] = {
#define CCO_CALLS_FUNCTION(name, part) "MPI_" #name,
#include "calls/functions.inc"
#undef CCO_CALLS_FUNCTION
};

const char *const cco_calls_parts[] = {
#define CCO_CALLS_FUNCTION(name, part) part,
#include "calls/functions.inc"
#undef CCO_CALLS_FUNCTION
};
