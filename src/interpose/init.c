/* SPDX-License-Identifier: BSD-3-Clause */
/* init.c - the small interposer, in the linked library too: MPI_Init, MPI_Init_thread,
 * MPI_Finalize, MPI_Pcontrol.
 *
 * MPI_Finalize only ends the progress thread; the rest ends, and where it is passed by that
 * too, with an attribute of MPI_COMM_SELF (process/process.c).  All of them go on to a tool behind
 * us (base/next.h); one that has MPI_Init gets that, and the progress thread does without
 * MPI_THREAD_MULTIPLE. */
#include "process/progress.h"
#include "process/profiling.h"
#include "base/next.h"
#include "process/set_up.h"
#include "mpi/mpi_compat.h"
#include "rollcall/rollcall.h"

CCO_EXPORT int MPI_Init(int *argc, char ***argv)
{
    const int level = cco_progress_thread_level(MPI_THREAD_SINGLE);
    const bool tool = CCO_TOOL("MPI_Init", PMPI_Init) != NULL;
    int provided;
    const int rc = level > MPI_THREAD_SINGLE && !tool
                       ? PMPI_Init_thread(argc, argv, level, &provided)
                       : CCO_CALL_NEXT(Init, (argc, argv));
    if (rc == MPI_SUCCESS)
        cco_set_up_job();
    return rc;
}

CCO_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int rc = CCO_CALL_NEXT(Init_thread,
                                 (argc, argv, cco_progress_thread_level(required), provided));
    if (rc == MPI_SUCCESS)
        cco_set_up_job();
    return rc;
}

CCO_EXPORT int MPI_Finalize(void)
{
    cco_rollcall_finalizes();
    cco_progress_end();
    return CCO_CALL_NEXT(Finalize, ());
}

CCO_EXPORT int MPI_Pcontrol(const int level, ...)
{
    cco_profiling_control(level);
    return CCO_CALL_NEXT(Pcontrol, (level));
}
