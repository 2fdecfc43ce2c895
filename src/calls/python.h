/* SPDX-License-Identifier: BSD-3-Clause */
/* python.h - places in Python: the line that called mpi4py. */
#ifndef CCO_CALLS_PYTHON_H
#define CCO_CALLS_PYTHON_H

#include <stdbool.h>

#include "calls/calls.h"

/* A line of a program in Python, which stands for the place of a call. */
typedef struct cco_calls_line {
    const void *code; /* the code object, which is kept; NULL: no line */
    int line;         /* in it */
    int shown;        /* in the file; another one where modules are imported */
    bool noted;       /* in the black box */
    char path[512], function[64];
} cco_calls_line;

/* Whether there is an interpreter in this process. */
extern bool cco_calls_python CCO_CALLS_HIDDEN;

/* In MPI_Init: finds out. */
void cco_calls_python_begin(void);

/* After a call that returns to `site`: the line from which it comes, as a place, if that is in what
 * makes the MPI's functions known to Python; else `site`. */
const void *cco_calls_python_site(const void *site);

/* Before a call: the same, where this is the only thread of Python.  Others might hold the
 * interpreter's lock until this call has sent something. */
const void *cco_calls_python_site_before(const void *site);

/* The line that a place stands for; NULL if it is none. */
cco_calls_line *cco_calls_line_of(const void *site);

#endif
