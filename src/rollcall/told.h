/* SPDX-License-Identifier: BSD-3-Clause */
/* told.h - what this process tells in a roll-call, as text.
 *
 * An answer is lines of fields, NAME=VALUE with tabs between them, in any order; a reader passes by
 * names that it does not know.  A first line, `process`, says who answers; one `thread` for each
 * thread that made calls; `end`.  In values, \xHH stands for control characters and backslashes.
 * python/crestacoll/rollcall/records.py reads it. */
#ifndef CCO_TOLD_H
#define CCO_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/whereabouts.h"

/* Who tells; filled in once. */
typedef struct cco_teller {
    int rank, size; /* in MPI_COMM_WORLD; -1: a program of sessions */
    bool spawned;
    uint64_t world; /* the same for the ranks of one MPI_COMM_WORLD, another one for others */
    long pid;
    char host[64];
} cco_teller;

/* `process` without an answer, which introduces itself; returns the characters, with the end of
 * the line, or `room` if they do not fit. */
size_t cco_told_who(const cco_teller *who, char *text, size_t room);

/* An answer; cut off after a whole line if it does not fit. */
size_t cco_told_answer(const cco_teller *who, char *text, size_t room);

/* One line for people about a thread, without its end; `seconds`: of its stay, 0 if nobody knows.
 * The caller holds cco_where_lock since it read `where`. */
void cco_told_line(const cco_teller *who, const cco_where *where, unsigned seconds, char *text,
                   size_t room);

#endif
