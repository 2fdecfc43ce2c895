/* SPDX-License-Identifier: BSD-3-Clause */
/* write.h - the file of CRESTA_IO; its schema is python/crestacoll_tools/schemas/io.schema.json. */
#ifndef CCO_IO_WRITE_H
#define CCO_IO_WRITE_H

#include <stdbool.h>
#include <stdio.h>

#include "io/merge.h"

/* A sum as JSON; `wall_s`: what the run took. */
void cco_io_put(FILE *file, const cco_io_sum *sum, double wall_s);

/* Collective over `world`, at the end: rank 0 writes the file.  A world that another has `spawned`
 * writes one of its own beside it. */
void cco_io_write(MPI_Comm world, bool spawned);

#endif
