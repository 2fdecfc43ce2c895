/* SPDX-License-Identifier: BSD-3-Clause */
/* cells.h - what is to be checked: collectives, each with an implementation. */
#ifndef CHECK_CELLS_H
#define CHECK_CELLS_H

#include "call.h"
#include "comm/model.h"

enum { IMPL_ROOM = 64 }; /* characters of an implementation, as rules have them */

struct cell {
    cco_coll which; /* in the library's order, */
    enum coll coll; /* and in that of the checks */
    cco_way way;
    char impl[IMPL_ROOM];
};

struct cells {
    int count;
    struct cell *list;
};

/* Every implementation in `impls` ("p2p:ring,alltoall=nonblock") of every collective in
 * `collectives` ("bcast,alltoall") that has it.  NULL for `impls`: every model, also those that
 * this build lacks; with `all`, every algorithm of each, with its preset parameters and once with
 * others, and every value of its options.  NULL for `collectives`: all.  Returns false, and has
 * told why, if a name is wrong. */
bool cells_make(struct cells *cells, const char *collectives, const char *impls, bool all);
void cells_free(struct cells *cells);

/* Why this cell cannot run on so many processes, and in `instead` what runs then (NULL: nothing);
 * NULL if it can. */
const char *cell_refused(const struct cell *cell, int size, const char **instead);

#endif
