/* SPDX-License-Identifier: BSD-3-Clause */
/* init.c - the small interposer, in the linked library too: MPI_Init, MPI_Init_thread,
 * MPI_Pcontrol.
 *
 * There is none for MPI_Finalize: an attribute of MPI_COMM_SELF ends crestacoll (api/process.c). */
#include "api/process.h"
#include "core/mpi_compat.h"

CCO_EXPORT int MPI_Init(int *argc, char ***argv)
{
    const int rc = PMPI_Init(argc, argv);
    if (rc == MPI_SUCCESS)
        cco_process_begin();
    return rc;
}

CCO_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int rc = PMPI_Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        cco_process_begin();
    return rc;
}

CCO_EXPORT int MPI_Pcontrol(const int level, ...)
{
    cco_process_control(level);
    return PMPI_Pcontrol(level);
}
