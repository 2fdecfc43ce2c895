/* SPDX-License-Identifier: BSD-3-Clause */
/* origin.h - what a profile is of: the program, when and where it ran, and where its ranks were
 * bound. */
#ifndef CCO_ORIGIN_H
#define CCO_ORIGIN_H

#include <stdio.h>

#include "mpi/service.h"

/* What is known of ranks, as lines of text: of this one, then of all. */
typedef struct cco_origin {
    FILE *file;
    char *text;
    size_t bytes;
} cco_origin;

/* In MPI_Finalize, collective over MPI_COMM_WORLD.  `wall_s`: the time since MPI_Init. */
void cco_origin_begin(cco_origin *origin, double wall_s);

/* How the lines of all come to rank 0. */
cco_merger cco_origin_merger(cco_origin *origin);

/* The lines as a JSON object, on rank 0; to be freed.  NULL when memory runs out.  Others get NULL,
 * and give their lines back. */
char *cco_origin_end(cco_origin *origin, int rank, double wall_s);

#endif
