/* SPDX-License-Identifier: BSD-3-Clause */
/* next.h - where a counted call goes on. */
#ifndef CCO_CALLS_NEXT_H
#define CCO_CALLS_NEXT_H

#include "calls/calls.h"

/* The next definition of `name` after this library; `found` keeps it. */
void *cco_calls_next(const char *name, void **found);

#endif
