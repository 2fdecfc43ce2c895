/* SPDX-License-Identifier: BSD-3-Clause */
/* next.h - where a counted call goes on. */
#ifndef CCO_CALLS_NEXT_H
#define CCO_CALLS_NEXT_H

#include <stdio.h>

#include "calls/calls.h"

/* The next definition of `name` after this library; `found` keeps it. */
void *cco_calls_next(const char *name, void **found);

/* A file that defines one of the functions ahead of this library: calls that it does not hand on do
 * not come here.  NULL: there is none. */
const char *cco_calls_ahead(void);

/* Writes a JSON object: functions of `names` that another file of the process defines ahead of this
 * library, with that file.  Calls that it does not hand on do not come here. */
void cco_calls_put_ahead(FILE *file, void (*put_string)(FILE *file, const char *text),
                         const char *const *names, int count);

#endif
