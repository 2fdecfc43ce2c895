/* SPDX-License-Identifier: BSD-3-Clause */
/* presence.c - see presence.h. */
#include "tune/presence.h"

#include "core/log.h"
#include "mpi/service.h"
#include "tune/host_processes.h"

static void presence_late(void *what)
{
    char here[1600];
    int rank, size;
    (void)what;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (cco_host_processes(here, sizeof here))
        cco_say("rank %d of %d waits in MPI_Init for ranks that do not answer. They may be late, or"
                " run without crestacoll, or with CRESTA_OFF=1: it must run in all ranks or in"
                " none. On this host:%s",
                rank, size, here);
}

void cco_presence_await(void)
{
    cco_service_meet(&(cco_patience){CCO_PATIENCE, 2 * CCO_PATIENCE, presence_late, NULL});
}

void cco_presence_report(MPI_Comm comm)
{
    char here[1600], name[MPI_MAX_OBJECT_NAME] = "";
    int length;
    PMPI_Comm_get_name(comm, name, &length);
    if (cco_host_processes(here, sizeof here))
        cco_log(CCO_LOG_WARN,
                "communicator '%s' waits in its first collective for ranks that do not answer."
                " They may be late, or run without crestacoll, which must be in all ranks or in"
                " none. On this host:%s",
                name, here);
}
