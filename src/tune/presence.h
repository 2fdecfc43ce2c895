/* SPDX-License-Identifier: BSD-3-Clause */
/* presence.h - whether the other ranks have the library at all.
 *
 * A rank without it (a path that is missing on its host, a job of several programs) cannot answer,
 * and must not be made to compute with what others compare.  So ranks meet by messages
 * (mpi/service.h) before anything collective. */
#ifndef CCO_PRESENCE_H
#define CCO_PRESENCE_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>
#include <stddef.h>

/* Returns when all ranks of MPI_COMM_WORLD have come here.  After some seconds a message on the
 * first rank of each host that has waited so long names who is here; nothing else happens: ranks
 * may be late. */
void cco_presence_await(void);

/* Writes that message for a communicator whose ranks have not met so (spawned, connected), and in
 * whose first collective this rank has waited so long. */
void cco_presence_report(MPI_Comm comm);

/* Says which have the library, " rank 0 (process 17, prog) with it; ..."; false if this process is
 * not the first of those that have it, so that it is another that speaks. */
bool cco_host_processes(char *text, size_t room);

#endif
