/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.h - OpenCoarrays in this process: its start, the coarray that is kept, its end.
 *
 * Images are the ranks of MPI_COMM_WORLD, counted from 1, and all of them make coarrays together.
 */
#ifndef CCO_RUNTIME_H
#define CCO_RUNTIME_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>
#include <stddef.h>

#include "transport/caf/plugin.h"

enum { CCO_IMAGE_ALIGNED = 64 }; /* where parts of a coarray begin */

typedef struct cco_images {
    const cco_plugin *plugin;
    MPI_Comm comm;       /* of OpenCoarrays: image i is its rank i - 1 */
    char *kept;          /* the coarray that is kept, here; NULL: there is none */
    size_t bytes;        /* of it, on every image, */
    unsigned char *pads; /* and how many of them come before the first aligned one, by image - 1 */
} cco_images;

/* Starts OpenCoarrays, and makes the coarray that is kept unless CRESTA_CAF_BUFFER is dynamic; the
 * first time only.  Collective over `comm`; nothing happens if it has not all ranks of
 * MPI_COMM_WORLD, or if with MPI_THREAD_MULTIPLE it is not MPI_COMM_WORLD itself.  NULL if they
 * run, or on all ranks why there are no coarrays. */
const char *cco_runtime_begin(MPI_Comm comm);

/* What it began; NULL before that, without success, and after the end.  Local. */
const cco_images *cco_runtime_images(void);

/* Why there is nothing to be had from cco_runtime_images. */
const char *cco_runtime_why(void);

/* Whether memory that ranks share has room for so much of each rank of this node. */
bool cco_runtime_has_room(size_t bytes);

/* The bytes of padding before the first aligned byte. */
unsigned char cco_runtime_pad(const char *base);

/* Ends OpenCoarrays, before MPI_Finalize does: with its windows open, MPICH's UCX would stop the
 * job.  Collective over MPI_COMM_WORLD; afterwards no memory of a coarray may be touched. */
void cco_runtime_end(void);

#endif
