/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.c - a tool between a program and the library: its MPI_Wait goes past ours. */
#include <mpi.h>

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return PMPI_Wait(request, status);
}
