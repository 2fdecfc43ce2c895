/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.c - collective calls of the plain MPI, past crestacoll: what others are compared with. */
#include "task.h"

#include <sched.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define INIT(Name) PMPI_##Name##_init
#else
#define INIT(Name) PMPIX_##Name##_init
#endif

#define DO_BLOCKING(Name, name)                                                                    \
    case COLL_##Name:                                                                              \
        return PMPI_##Name(ARGS_##Name);
#define DO_NONBLOCKING(Name, name)                                                                 \
    case COLL_##Name:                                                                              \
        return PMPI_I##name(ARGS_##Name, request);
#define DO_PERSISTENT(Name, name)                                                                  \
    case COLL_##Name:                                                                              \
        return INIT(Name)(ARGS_##Name, MPI_INFO_NULL, request);

static int blocking(const struct call *q)
{
    switch (q->coll) {
        MPI_COLLECTIVES(DO_BLOCKING)
    default:
        return MPI_ERR_OTHER;
    }
}

static int nonblocking(const struct call *q, MPI_Request *request)
{
    switch (q->coll) {
        MPI_COLLECTIVES(DO_NONBLOCKING)
    default:
        return MPI_ERR_OTHER;
    }
}

static int persistent(const struct call *q, MPI_Request *request)
{
    switch (q->coll) {
        MPI_COLLECTIVES(DO_PERSISTENT)
    default:
        return MPI_ERR_OTHER;
    }
}

static int wait_for(MPI_Request *request)
{
    int done = 0, rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && !done) {
        rc = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            sched_yield();
    }
    return rc;
}

int plain_call(enum mode mode, const struct call *call, bool polite, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (mode == PERSISTENT)
        return persistent(call, request);
    if (mode == BLOCKING && !polite)
        return blocking(call);
    const int rc = nonblocking(call, request);
    if (mode != BLOCKING || rc != MPI_SUCCESS)
        return rc;
    return wait_for(request); /* blocking ones hold the core while they wait */
}
