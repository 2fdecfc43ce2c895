/* SPDX-License-Identifier: BSD-3-Clause */
/* epochs.c - see epochs.h.
 *
 * MPICH 4 and 5 with the device ch4 (ch4/generic/mpidig/mpidig_win.h): lock and lock_all wait for
 * the answer of the target, start for the posts, and a fence is a barrier whatever it asserts.  The
 * device ch3 puts all of that off.
 *
 * Open MPI 4 and 5: osc/sm takes locks, and waits for posts, in memory that the ranks share; a
 * fence is a barrier.  So does osc/rdma, unless a parameter asks for locks on demand, which has the
 * first operation take the lock.  The names of the files say which of them a window has; windows of
 * osc/ucx, osc/pt2pt and others have none of these. */
#include "native/epochs.h"

#include <string.h>

#include "core/mpi_compat.h"
#include "native/mpich_version.h"

#if defined(OPEN_MPI)

/* The value of an integer parameter of Open MPI; -1 if there is none. */
static int native_epochs_parameter(const char *name)
{
    int provided, index, count, value = -1;
    MPI_T_cvar_handle handle;
    if (PMPI_T_init_thread(MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return -1;
    if (PMPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        PMPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        if (count != 1 || PMPI_T_cvar_read(handle, &value) != MPI_SUCCESS)
            value = -1;
        PMPI_T_cvar_handle_free(&handle);
    }
    PMPI_T_finalize();
    return value;
}

static bool native_epochs_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool cco_epochs_begin_at_once(const char *file)
{
    enum { TWO_LEVEL = 0 };
    if (native_epochs_begins(file, "osc_sm."))
        return true;
    return native_epochs_begins(file, "osc_rdma.") &&
           native_epochs_parameter("osc_rdma_locking_mode") == TWO_LEVEL;
}

bool cco_accumulates_are_messages(void)
{
    return false;
}

#else

static cco_mpich_version native_epochs_version(bool *ch4)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    PMPI_Get_library_version(text, &length);
    *ch4 = strstr(text, "ch4") != NULL;
    return cco_mpich_version_of(text);
}

bool cco_epochs_begin_at_once(const char *file)
{
    bool ch4;
    const cco_mpich_version v = native_epochs_version(&ch4);
    (void)file;
    return v.kind == CCO_MPICH && ch4 && v.number >= 400 && v.number < 600;
}

bool cco_accumulates_are_messages(void)
{
    bool ch4;
    const cco_mpich_version v = native_epochs_version(&ch4);
    return v.kind == CCO_MPICH && ch4 && v.number >= 400 && v.number < 500;
}

#endif
