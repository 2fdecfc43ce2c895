/* SPDX-License-Identifier: BSD-3-Clause */
/* small_call.h - any collective with an int to and from each rank, for tests that ask how a call is
 * made and not what it computes. At most 16 ranks; all calls use the same memory. */
#ifndef TESTS_SMALL_CALL_H
#define TESTS_SMALL_CALL_H

#include "call.h"

struct call small_call(enum coll coll, MPI_Comm comm);

#endif
