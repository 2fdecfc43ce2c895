/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - see wait.h. */
#include "wait/wait.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "comm/facts.h"
#include "base/proc.h"
#include "base/log.h"
#include "mpi/mpi_compat.h"
#include "mpi/mpi_behavior.h"
#include "base/pause.h"
#include "mpi/service.h"
#include "base/thread_count.h"
#include "mpi/grequest.h"

/* Calls after which everything has been moved: Open MPI looks at its sockets in every eighth only,
 * in MPICH what arrived in one call is answered in another. */
enum { MOVES = 8 };

int cco_wait(MPI_Request *request)
{
    for (int tries = 0;; cco_pause_after_mpi(&tries)) {
        int done = 0;
        const int rc = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS || done)
            return rc;
    }
}

void cco_transfer_to(MPI_Comm comm, int peer, int tag, const void *data, size_t bytes)
{
    MPI_Request request;
    if (PMPI_Isend(data, (int)bytes, MPI_BYTE, peer, tag, comm, &request) == MPI_SUCCESS)
        cco_wait(&request);
}

void cco_transfer_from(MPI_Comm comm, int peer, int tag, void *data, size_t bytes)
{
    MPI_Request request;
    if (PMPI_Irecv(data, (int)bytes, MPI_BYTE, peer, tag, comm, &request) == MPI_SUCCESS)
        cco_wait(&request);
}

/* A request that nobody completes: every look at it moves everything along, in all MPIs.  (A look
 * for a message, MPI_Iprobe, does not in MPICH where it is for one to oneself, and on another
 * communicator it might find one.) */
static MPI_Request never = MPI_REQUEST_NULL;

void cco_mpi_progress_begin(void)
{
    if (cco_grequest_empty(&never) != MPI_SUCCESS)
        never = MPI_REQUEST_NULL;
}

void cco_mpi_progress_end(void)
{
    if (never == MPI_REQUEST_NULL)
        return;
    PMPI_Grequest_complete(never);
    PMPI_Wait(&never, MPI_STATUS_IGNORE);
}

int cco_mpi_progress(void)
{
    int done;
    return never != MPI_REQUEST_NULL ? PMPI_Request_get_status(never, &done, MPI_STATUS_IGNORE)
                                     : MPI_SUCCESS;
}

int cco_mpi_progress_all(void)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < MOVES && rc == MPI_SUCCESS; i++)
        rc = cco_mpi_progress();
    return rc;
}

/* The number of ranks on this node and of the cores that they may use between them. */
static int core_wait_count_node(MPI_Comm node, int *ranks, int *cores)
{
    enum { SETS = 32 }; /* of 1024 cores: the kernel refuses a set that is smaller than its own */
    cpu_set_t mine[SETS], all[SETS];
    memset(mine, 0, sizeof mine);
    PMPI_Comm_size(node, ranks);
    if (sched_getaffinity(0, sizeof mine, mine) != 0)
        memset(mine, 0, sizeof mine); /* go on: the call below is collective */
    const int rc = cco_service_allreduce(mine, all, (int)sizeof mine, MPI_BYTE, MPI_BOR, node);
    *cores = CPU_COUNT_S(sizeof all, all);
    return rc;
}

static void gather_lives(MPI_Comm node, int ranks)
{
    const cco_neighbor mine = cco_life_neighbor();
    cco_neighbor *all = malloc((size_t)ranks * sizeof *all);
    if (all == NULL)
        cco_fatal("no memory for the processes of a node");
    if (cco_service_allgather(&mine, all, sizeof mine, node) == MPI_SUCCESS)
        cco_lives_take(all, ranks);
    else
        free(all);
}

void cco_wait_begin(void)
{
    MPI_Comm node;
    int ranks = 1, cores = 1;
    const bool needed = cco_job.asked || cco_job.linked || cco_configured.wait == CCO_WAIT_AUTO;
    if (!needed || PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                        &node) != MPI_SUCCESS)
        return;
    if (core_wait_count_node(node, &ranks, &cores) == MPI_SUCCESS) {
        cco_pause_crowded(ranks > cores);
        cco_threads_cores(cores > ranks ? cores / ranks : 1);
        cco_pause_mpi_yields(ranks > cores && cco_mpi_yields_told());
        cco_fact_crowded(ranks > cores);
    }
    gather_lives(node, ranks);
    PMPI_Comm_free(&node);
}
