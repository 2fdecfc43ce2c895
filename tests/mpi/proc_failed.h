/* SPDX-License-Identifier: BSD-3-Clause */
/* proc_failed.h - the error class with which a call ends when a process has failed. */
#ifndef PROC_FAILED_H
#define PROC_FAILED_H

#include <mpi.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

#if defined(MPIX_ERR_PROC_FAILED)
static const int expected = MPIX_ERR_PROC_FAILED;
#else
static const int expected = MPI_ERR_OTHER;
#endif

#endif
