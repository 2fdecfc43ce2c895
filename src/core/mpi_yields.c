/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_yields.c - see mpi_yields.h. */
#include "core/mpi_yields.h"

#include <stddef.h>
#include <string.h>

#include "core/config.h"
#include "core/mpi_compat.h"

#if defined(OPEN_MPI)

/* It is set where the launcher starts more ranks than a node has slots.  (Other MPIs have nothing
 * of the kind: MPICH's MPIR_CVAR_POLLS_BEFORE_YIELD says how often it yields, but most of its waits
 * do not.) */
static const char variable[] = "mpi_yield_when_idle";

/* Whether a variable of one element is set; its type is the MPI's choice. */
static bool mpi_yields_is_set(MPI_T_cvar_handle handle)
{
    enum { ROOM = 64 };
    union {
        char bytes[ROOM];
        long long aligned;
    } value = {{0}};
    if (PMPI_T_cvar_read(handle, &value) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < ROOM; i++)
        if (value.bytes[i] != 0)
            return true;
    return false;
}

/* As the MPI itself says (MPI tool interface, MPI-4.0 section 15.3).  Open MPI takes the level that
 * the interface is asked for as that of all of the MPI, so it must be the one that it has. */
static bool mpi_yields_ask(void)
{
    int level, provided, index, count;
    MPI_T_cvar_handle handle;
    bool yields = false;
    if (PMPI_Query_thread(&level) != MPI_SUCCESS ||
        PMPI_T_init_thread(level, &provided) != MPI_SUCCESS)
        return false;
    if (PMPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS &&
        PMPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        yields = count == 1 && mpi_yields_is_set(handle);
        PMPI_T_cvar_handle_free(&handle);
    }
    PMPI_T_finalize();
    return yields;
}

static bool says_yes(const char *told)
{
    return *told != '\0' && strchr("1tTyYeE", *told) != NULL; /* true, yes, enabled */
}

/* To ask version 4 takes a fifth of a second: it loads all its components then. */
bool cco_mpi_yields(void)
{
    const char *told = cco_config_open_mpi_yields();
    if (told != NULL)
        return says_yes(told);
    return mpi_yields_ask();
}

bool cco_mpi_yields_told(void)
{
    const char *told = cco_config_open_mpi_yields();
    return told != NULL && says_yes(told);
}

#else

bool cco_mpi_yields(void)
{
    return false;
}

bool cco_mpi_yields_told(void)
{
    return false;
}

#endif
