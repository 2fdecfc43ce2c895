/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_init.c - the small interposer for Fortran: MPI_Init, MPI_Init_thread, MPI_Finalize and
 * MPI_Pcontrol where they do not pass the C names. */
#include "process/progress.h"
#include "process/profiling.h"
#include "process/set_up.h"
#include "base/next.h"
#include "handles.h"

#pragma GCC visibility push(default)

#if defined(OPEN_MPI)

void mpi_init_(MPI_Fint *ierror)
{
    cco_f_return(ierror, MPI_Init(NULL, NULL));
}

void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    int level = MPI_THREAD_SINGLE;
    const int rc = MPI_Init_thread(NULL, NULL, *required, &level);
    *provided = level;
    cco_f_return(ierror, rc);
}

void mpi_finalize_(MPI_Fint *ierror)
{
    cco_f_return(ierror, MPI_Finalize());
}

void mpi_pcontrol_(MPI_Fint *level)
{
    MPI_Pcontrol(*level);
}

void mpi_init(MPI_Fint *ierror) __attribute__((alias("mpi_init_")));
void mpi_init__(MPI_Fint *ierror) __attribute__((alias("mpi_init_")));
void mpi_init_f08_(MPI_Fint *ierror) __attribute__((alias("mpi_init_")));
void MPI_INIT(MPI_Fint *ierror) __attribute__((alias("mpi_init_")));
void mpi_init_thread(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
    __attribute__((alias("mpi_init_thread_")));
void mpi_init_thread__(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
    __attribute__((alias("mpi_init_thread_")));
void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
    __attribute__((alias("mpi_init_thread_")));
void MPI_INIT_THREAD(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
    __attribute__((alias("mpi_init_thread_")));
void mpi_finalize(MPI_Fint *ierror) __attribute__((alias("mpi_finalize_")));
void mpi_finalize__(MPI_Fint *ierror) __attribute__((alias("mpi_finalize_")));
void mpi_finalize_f08_(MPI_Fint *ierror) __attribute__((alias("mpi_finalize_")));
void MPI_FINALIZE(MPI_Fint *ierror) __attribute__((alias("mpi_finalize_")));
void mpi_pcontrol(MPI_Fint *level) __attribute__((alias("mpi_pcontrol_")));
void mpi_pcontrol__(MPI_Fint *level) __attribute__((alias("mpi_pcontrol_")));
void mpi_pcontrol_f08_(MPI_Fint *level) __attribute__((alias("mpi_pcontrol_")));
void MPI_PCONTROL(MPI_Fint *level) __attribute__((alias("mpi_pcontrol_")));

#else

/* MPICH's mpif.h and `use mpi` call the C names; its mpi_f08 does not.  It has a profiling layer of
 * its own, which is absent in a C program (hence weak) and calls PMPI_x.  A tool that gets to see
 * collectives, which come to its C functions from here, must have seen MPI_Init before. */
void pmpir_init_f08_(MPI_Fint *ierror) __attribute__((weak));
void pmpir_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
    __attribute__((weak));
void pmpir_finalize_f08_(MPI_Fint *ierror) __attribute__((weak));
void pmpir_pcontrol_f08_(MPI_Fint *level) __attribute__((weak));

static bool tool_has(const char *name)
{
    cco_function found = NULL;
    return cco_first(name, &found) != NULL;
}

void mpi_init_f08_(MPI_Fint *ierror)
{
    MPI_Fint rc = MPI_SUCCESS, level = cco_progress_thread_level(MPI_THREAD_SINGLE), provided;
    if (tool_has("MPI_Init"))
        rc = MPI_Init(NULL, NULL);
    else if (level > MPI_THREAD_SINGLE)
        pmpir_init_thread_f08_(&level, &provided, &rc);
    else
        pmpir_init_f08_(&rc);
    if (rc == MPI_SUCCESS)
        cco_set_up_job();
    cco_f_return(ierror, rc);
}

void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    MPI_Fint rc = MPI_SUCCESS, level = cco_progress_thread_level(*required);
    if (tool_has("MPI_Init_thread"))
        rc = MPI_Init_thread(NULL, NULL, *required, provided);
    else
        pmpir_init_thread_f08_(&level, provided, &rc);
    if (rc == MPI_SUCCESS)
        cco_set_up_job();
    cco_f_return(ierror, rc);
}

void mpi_finalize_f08_(MPI_Fint *ierror)
{
    MPI_Fint rc = MPI_SUCCESS;
    cco_progress_end();
    if (tool_has("MPI_Finalize"))
        rc = MPI_Finalize();
    else
        pmpir_finalize_f08_(&rc);
    cco_f_return(ierror, rc);
}

void mpi_pcontrol_f08_(MPI_Fint *level)
{
    cco_profiling_control(*level);
    if (tool_has("MPI_Pcontrol"))
        MPI_Pcontrol(*level);
    else
        pmpir_pcontrol_f08_(level);
}

#endif

#pragma GCC visibility pop
