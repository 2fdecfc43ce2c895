/* SPDX-License-Identifier: BSD-3-Clause */
/* answer_format.h - what this process tells in a roll-call, as text.
 *
 * An answer is lines of fields, NAME=VALUE with tabs between them, in any order; a reader passes by
 * names that it does not know.  A first line, `process`, says who answers; one `thread` for each
 * thread that made calls; `end`.  In values, \xHH stands for control characters and backslashes.
 * python/crestacoll_tools/rollcall/records.py reads it. */
#ifndef CCO_ANSWER_FORMAT_H
#define CCO_ANSWER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hang/whereabouts.h"

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
size_t cco_answer_format_process(const cco_teller *who, char *text, size_t room);

/* An answer; cut off after a whole line if it does not fit. */
size_t cco_answer_format(const cco_teller *who, char *text, size_t room);

/* One line for people about a thread, without its end; `seconds`: of its stay, 0 if nobody knows.
 * The caller holds cco_where_lock since it read `where`. */
void cco_answer_format_line(const cco_teller *who, const cco_where *where, unsigned seconds,
                            char *text, size_t room);

#endif
