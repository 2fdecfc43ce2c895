/* SPDX-License-Identifier: BSD-3-Clause */
/* free_files.c - see free_files.h. */
#include "comm/free_files.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "mpi/service.h"

/* A window on one host takes one, and another while it is made; the rest is for connections. */
enum { NEEDED = 8 };

/* Opens nothing: the last descriptors may be what another thread is about to open. */
static bool are_left(void)
{
    struct rlimit limit;
    int found = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    for (rlim_t i = 0; i < limit.rlim_cur && found < NEEDED; i++)
        found += fcntl((int)i, F_GETFD) < 0;
    return found == NEEDED;
}

bool cco_free_files(MPI_Comm comm)
{
    static bool too_few;
    const bool mine = !__atomic_load_n(&too_few, __ATOMIC_RELAXED) && are_left();
    const bool all = cco_service_all(mine, comm);
    if (!all)
        __atomic_store_n(&too_few, true, __ATOMIC_RELAXED);
    return all;
}
