/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_yields.h - whether blocking calls of the MPI yield the core while they wait. */
#ifndef CCO_MPI_YIELDS_H
#define CCO_MPI_YIELDS_H

#include <stdbool.h>

/* As the environment or the MPI itself says, of this process.  False where neither does. */
bool cco_mpi_yields(void);

/* As the environment alone says, which takes no time. */
bool cco_mpi_yields_told(void);

#endif
