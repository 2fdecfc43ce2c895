/* SPDX-License-Identifier: BSD-3-Clause */
/* own_init.c - PMPI_Init, PMPI_Init_thread, PMPI_Finalize, in the preload library alone: what the
 * MPI_Init of a program, or of a tool before us, goes on to, whose definition comes before ours.
 * Where ours was called, or that of a copy that is linked to the program, they only go on. */
#include "process/progress.h"
#include "process/set_up.h"
#include "mpi/mpi_compat.h"
#include "base/next.h"
#include "rollcall/rollcall.h"

#define OWN(x) ((__typeof__(&PMPI_##x))cco_own_definition("MPI_" #x))

CCO_EXPORT void cresta_preload_stand_back(void);
void cresta_preload_stand_back(void)
{
    cco_progress_level_ask();
}

static int own_init_begun(int rc)
{
    if (rc == MPI_SUCCESS)
        cco_set_up_job();
    return rc;
}

CCO_EXPORT int PMPI_Init(int *argc, char ***argv)
{
    int provided;
    if (cco_progress_level_asked())
        return OWN(Init)(argc, argv);
    const int level = cco_progress_thread_level(MPI_THREAD_SINGLE);
    return own_init_begun(level > MPI_THREAD_SINGLE ? OWN(Init_thread)(argc, argv, level, &provided)
                                                    : OWN(Init)(argc, argv));
}

CCO_EXPORT int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    if (cco_progress_level_asked())
        return OWN(Init_thread)(argc, argv, required, provided);
    return own_init_begun(
        OWN(Init_thread)(argc, argv, cco_progress_thread_level(required), provided));
}

CCO_EXPORT int PMPI_Finalize(void)
{
    cco_rollcall_finalizes();
    cco_progress_end();
    return OWN(Finalize)();
}
