/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_memory.h - memory for a program's buffers that the ranks of a communicator share. */
#ifndef CCO_SHM_MEMORY_H
#define CCO_SHM_MEMORY_H

#include "comm/comm.h"
#include "transport/shm/region.h"

/* `bytes` for this rank, aligned to pages, zero; collective.  Memory of its own where the ranks
 * share none.  MPI_SUCCESS or an MPI error class. */
int cco_shm_memory_make(cco_comm *state, size_t bytes, void **base);

/* Gives it back.  MPI_ERR_BASE for what is none. */
int cco_shm_memory_free(void *base);

/* Where the memory of a communicator lies; NULL: there was never any. */
const cco_regions *cco_shm_memory_of(const cco_comm *state);

#endif
