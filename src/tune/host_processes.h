/* SPDX-License-Identifier: BSD-3-Clause */
/* host_processes.h - the processes of this job on this host, as Linux shows them, for messages. */
#ifndef CCO_HOST_PROCESSES_H
#define CCO_HOST_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>

/* Says which have the library, " rank 0 (process 17, prog) with it; ..."; false if this process is
 * not the first of those that have it, so that it is another that speaks. */
bool cco_host_processes(char *text, size_t room);

#endif
