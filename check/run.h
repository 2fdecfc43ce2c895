/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - checks one cell on real ranks. */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include "cells.h"

/* Takes about so many seconds, with fewer problems where calls are slow.  Collective over
 * MPI_COMM_WORLD; tells what it finds.  True unless something was wrong, the same on all ranks. */
bool cell_run(const struct cell *cell, double seconds);

#endif
