/* SPDX-License-Identifier: BSD-3-Clause */
/* alias_refused.c - see alias_refused.h. */
#include "native/alias_refused.h"

#include <pthread.h>
#include <stddef.h>

#include "native/calls.h"

/* Numbers that are given and taken in the same place, by a communicator of this process alone. */
static bool alias_refused_ask(cco_coll coll, int n, MPI_Comm alone)
{
    const bool counts = cco_coll_infos[coll].properties & CCO_COUNTS;
    const bool reduces = cco_coll_infos[coll].properties & CCO_REDUCTION;
    const int none = 0;
    const MPI_Datatype type = MPI_INT;
    int numbers[2] = {0};
    const cco_call call = {.coll = coll,
                           .comm = alone,
                           .op = reduces ? MPI_SUM : MPI_OP_NULL,
                           .sendbuf = numbers,
                           .recvbuf = numbers,
                           .sendcount = n,
                           .recvcount = n,
                           .sendtype = MPI_INT,
                           .recvtype = MPI_INT,
                           .sendcounts = counts ? &n : NULL,
                           .recvcounts = counts ? &n : NULL,
                           .senddispls = counts ? &none : NULL,
                           .recvdispls = counts ? &none : NULL,
                           .sendtypes = coll == CCO_ALLTOALLW ? &type : NULL,
                           .recvtypes = coll == CCO_ALLTOALLW ? &type : NULL};
    return cco_native_blocking(&cco_native[CCO_CALLER_INTERNAL], &call) != MPI_SUCCESS;
}

/* Open MPI gives this error to the handler of MPI_COMM_WORLD, whatever the communicator is: the
 * program's must not see it. */
static bool ask_quietly(cco_coll coll, int n, MPI_Comm alone)
{
    MPI_Errhandler handler;
    PMPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
    if (PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) != MPI_SUCCESS)
        return alias_refused_ask(coll, n, alone);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const bool refused = alias_refused_ask(coll, n, alone);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    PMPI_Errhandler_free(&handler);
    return refused;
}

enum { UNKNOWN, ACCEPTED, REFUSED };

/* A split: a duplicate would have the attributes that the program put on MPI_COMM_SELF.  Where
 * there are sessions only, there is no such communicator. */
static unsigned char answer_of(cco_coll coll, int n)
{
    MPI_Comm alone;
    int initialized = 0;
    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized ||
        PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &alone) != MPI_SUCCESS)
        return UNKNOWN;
    const bool refused = ask_quietly(coll, n, alone);
    PMPI_Comm_free(&alone);
    return refused ? REFUSED : ACCEPTED;
}

/* One thread at a time: each puts the handler back that it found. */
bool cco_alias_refused(const cco_call *call)
{
    static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
    static unsigned char known[CCO_COLLECTIVES][2];
    const bool several = call->recvcounts != NULL || call->sendcounts != NULL ||
                         call->recvcount > 1 || call->sendcount > 1;
    unsigned char *answer = &known[call->coll][several];
    pthread_mutex_lock(&asking);
    if (*answer == UNKNOWN)
        *answer = answer_of(call->coll, several ? 2 : 1);
    const bool refused = *answer == REFUSED;
    pthread_mutex_unlock(&asking);
    return refused;
}
