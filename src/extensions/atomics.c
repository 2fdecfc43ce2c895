/* SPDX-License-Identifier: BSD-3-Clause */
/* atomics.c - see atomics.h. */
#define _GNU_SOURCE
#include "extensions/atomics.h"

#include <dlfcn.h>

#include "process/process.h"
#include "config/config.h"
#include "call/device.h"
#include "base/log.h"
#include "base/world.h"
#include "mpi/mpi_behavior.h"

/* The file that the program gets a function of the MPI from; NULL if nobody has it. */
static void *atomics_file_of(const char *name)
{
    Dl_info info;
    void *function = dlsym(RTLD_DEFAULT, name);
    return function != NULL && dladdr(function, &info) != 0 ? info.dli_fbase : NULL;
}

/* Whether all of the calls that accumulate come to us, if any does.  They might not: the front
 * library of the wheel leaves out what not every MPI has (MPI_x_c), a tool may have some of them,
 * and in the linked library there is nothing for MPICH's mpi_f08.  What the process has not got it
 * cannot call. */
static bool atomics_reached(void)
{
    static const char *const calls[] = {"MPI_Accumulate",
                                        "MPI_Raccumulate",
                                        "MPI_Get_accumulate",
                                        "MPI_Rget_accumulate",
                                        "MPI_Fetch_and_op",
                                        "MPI_Compare_and_swap",
#if defined(CRESTA_HAVE_LARGE_COUNT)
                                        "MPI_Accumulate_c",
                                        "MPI_Raccumulate_c",
                                        "MPI_Get_accumulate_c",
                                        "MPI_Rget_accumulate_c",
#endif
                                        CCO_OPEN_MPI ? "mpi_accumulate_" : "mpi_accumulate_f08ts_",
                                        CCO_OPEN_MPI ? "mpi_accumulate_f08_"
                                                     : "mpi_accumulate_f08ts_large_"};
    const void *file = atomics_file_of("MPI_Win_allocate");
    bool same = file != NULL;
    for (size_t i = 0; same && i < sizeof calls / sizeof calls[0]; i++) {
        const void *other = atomics_file_of(calls[i]);
        same = other == NULL || other == file;
    }
    return same;
}

/* What all ranks of a window decide alike: the setting is equal on all of them, the MPI is one, and
 * ranks that have met in MPI_Init have the library (tune/presence.h). */
static bool atomics_wanted(MPI_Comm comm)
{
    if (!cco_process_met() || cco_configured.atomics == CCO_ATOMICS_OFF || !cco_in_world(comm))
        return false;
    return cco_configured.atomics == CCO_ATOMICS_ON || cco_accumulates_are_messages();
}

void cco_atomics_window(MPI_Win win, MPI_Comm comm)
{
    int rank = 0, ranks = 0;
    if (!atomics_wanted(comm))
        return;
    const bool ours = cco_shared_window_adopt(win, comm,
                                              atomics_reached() && !cco_device_memory_here());
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    if (rank == 0)
        cco_log(CCO_LOG_INFO, "window of %d ranks: accumulates are %s", ranks,
                ours ? "atomic operations of the processor" : "the MPI's");
}

/* A request that has ended: nothing is sent to nobody. */
static int atomics_ended(MPI_Request *request)
{
    return PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

bool cco_atomics_accumulate(cco_shared_window *w, MPI_Win win, const cco_accumulate *a,
                            MPI_Request *request, int *rc)
{
    if (!cco_accumulate_all(w, a, rc))
        return false;
    if (*rc == MPI_SUCCESS && request != NULL)
        *rc = atomics_ended(request);
    else if (*rc != MPI_SUCCESS)
        PMPI_Win_call_errhandler(win, *rc);
    return true;
}
