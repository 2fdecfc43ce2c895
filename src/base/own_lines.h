/* SPDX-License-Identifier: BSD-3-Clause */
/* own_lines.h - memory that shares no cache line with other memory.
 *
 * Threads call on communicators of their own.  What malloc gives for two of them may end and begin
 * in one cache line, which then goes to and fro between their cores in every call.  So whatever a
 * blocking call writes lies in such memory (tests/mpi/shared_lines.c looks at each store). */
#ifndef CCO_OWN_LINES_H
#define CCO_OWN_LINES_H

#include <stddef.h>

/* Two lines: processors fetch them in pairs. */
enum { CCO_OWN_LINES = 128 };

/* `bytes` of memory, zero; free() frees it.  NULL if there is none. */
void *cco_own_lines(size_t bytes);

#endif
