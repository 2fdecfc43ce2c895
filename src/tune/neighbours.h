/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours.h - the processes of this job on this host, as Linux shows them, for messages. */
#ifndef CCO_NEIGHBOURS_H
#define CCO_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>

/* Says which have the library, " rank 0 (process 17, prog) with it; ..."; false if this process is
 * not the first of those that have it, so that it is another that speaks. */
bool cco_neighbours(char *text, size_t room);

#endif
