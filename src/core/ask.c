/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.c - see ask.h. */
#include "core/ask.h"

#include <pthread.h>

#include "core/fresh.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm alone = MPI_COMM_NULL;

static MPI_Comm make(void)
{
    int initialized = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized ||
        cco_fresh_comm(MPI_COMM_SELF, &comm) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

MPI_Comm cco_ask_comm(void)
{
    pthread_mutex_lock(&lock);
    if (alone == MPI_COMM_NULL)
        alone = make();
    const MPI_Comm comm = alone;
    pthread_mutex_unlock(&lock);
    return comm;
}

void cco_ask_end(void)
{
    if (alone != MPI_COMM_NULL)
        PMPI_Comm_free(&alone);
}

/* To nobody, and so without a look at the memory. */
int cco_ask_type(MPI_Datatype type, MPI_Count count)
{
    char nothing = 0;
    const MPI_Comm comm = cco_ask_comm();
    return comm != MPI_COMM_NULL
               ? PMPI_Send(&nothing, count > 0 ? 1 : (int)count, type, MPI_PROC_NULL, 0, comm)
               : MPI_SUCCESS;
}

int cco_ask_op(MPI_Op op, MPI_Datatype type)
{
    char in = 0, out = 0;
    const MPI_Comm comm = cco_ask_comm();
    return comm != MPI_COMM_NULL ? PMPI_Allreduce(&in, &out, 0, type, op, comm) : MPI_SUCCESS;
}
