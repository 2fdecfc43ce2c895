/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_behavior.c - see mpi_behavior.h.
 *
 * MPICH 4 and 5 with the device ch4 (ch4/generic/mpidig/mpidig_win.h): lock and lock_all wait for
 * the answer of the target, start for the posts, and a fence is a barrier whatever it asserts.  The
 * device ch3 puts all of that off.
 *
 * Open MPI 4 and 5: osc/sm takes locks, and waits for posts, in memory that the ranks share; a
 * fence is a barrier.  So does osc/rdma, unless a parameter asks for locks on demand, which has the
 * first operation take the lock.  The names of the files say which of them a window has; windows of
 * osc/ucx, osc/pt2pt and others have none of these. */
#include "mpi/mpi_behavior.h"

#include <stddef.h>
#include <string.h>

#include "config/config.h"
#include "mpi/quirks.h"

/* The value of a parameter, whose type is the MPI's choice. */
typedef union parameter {
    char bytes[64];
    int number;
    long long aligned;
} parameter;

/* The value of a parameter of one element, as the MPI itself says (MPI tool interface, MPI-4.0
 * section 15.3).  Open MPI takes the level that the interface is asked for as that of all of the
 * MPI, so it must be the one that it has. */
static bool behavior_ask(const char *name, parameter *value)
{
    int level, provided, index, count;
    MPI_T_cvar_handle handle;
    bool told = false;
    memset(value, 0, sizeof *value);
    if (PMPI_Query_thread(&level) != MPI_SUCCESS ||
        PMPI_T_init_thread(level, &provided) != MPI_SUCCESS)
        return false;
    if (PMPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        PMPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        told = count == 1 && PMPI_T_cvar_read(handle, value) == MPI_SUCCESS;
        PMPI_T_cvar_handle_free(&handle);
    }
    PMPI_T_finalize();
    return told;
}

static bool behavior_says_yes(const char *told)
{
    return *told != '\0' && strchr("1tTyYeE", *told) != NULL; /* true, yes, enabled */
}

/* Open MPI's parameter is set where the launcher starts more ranks than a node has slots.  (Other
 * MPIs have nothing of the kind: MPICH's MPIR_CVAR_POLLS_BEFORE_YIELD says how often it yields, but
 * most of its waits do not.)  To ask version 4 takes a fifth of a second: it loads all its
 * components then. */
bool cco_mpi_yields(void)
{
    static const parameter none;
    parameter value;
    const char *told = cco_config_open_mpi_yields();
    if (CCO_OPEN_MPI == 0 || told != NULL)
        return cco_mpi_yields_told();
    return behavior_ask("mpi_yield_when_idle", &value) && memcmp(&value, &none, sizeof none) != 0;
}

bool cco_mpi_yields_told(void)
{
    const char *told = cco_config_open_mpi_yields();
    return CCO_OPEN_MPI > 0 && told != NULL && behavior_says_yes(told);
}

static bool behavior_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool cco_epochs_begin_at_once(const char *file)
{
    enum { TWO_LEVEL = 0 };
    const cco_mpich_version *v = cco_mpich();
    parameter locking;
    if (CCO_OPEN_MPI == 0)
        return v->kind == CCO_MPICH && v->ch4 && v->number >= 400 && v->number < 600;
    return behavior_begins(file, "osc_sm.") ||
           (behavior_begins(file, "osc_rdma.") && behavior_ask("osc_rdma_locking_mode", &locking) &&
            locking.number == TWO_LEVEL);
}

bool cco_accumulates_are_messages(void)
{
    const cco_mpich_version *v = cco_mpich();
    return v->kind == CCO_MPICH && v->ch4 && v->number >= 400 && v->number < 500;
}
