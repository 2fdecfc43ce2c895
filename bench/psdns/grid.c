/* SPDX-License-Identifier: BSD-3-Clause */
/* grid.c - the grid of ranks: rows of neighbours, so that whole rows are on one host where they
 * fit, and columns across. */
#include "psdns.h"

#include <stdio.h>
#include <stdlib.h>

#include "crestacoll.h"

static unsigned shuffle_state;

static int below(int n)
{
    shuffle_state = shuffle_state * 1664525u + 1013904223u;
    return (int)((shuffle_state >> 8) % (unsigned)n);
}

static void shuffle(int *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int k = below(i + 1), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
}

static void open_side(struct psdns *h, int which, int color)
{
    struct psdns_side *s = &h->side[which];
    MPI_Comm_split(MPI_COMM_WORLD, color, h->w.rank, &s->comm);
    MPI_Comm_set_name(s->comm, which == PSDNS_ROW ? "row" : "col");
    MPI_Comm_rank(s->comm, &s->rank);
    MPI_Comm_size(s->comm, &s->size);
    s->members = calloc((size_t)s->size, sizeof *s->members);
    s->order = calloc((size_t)s->size, sizeof *s->order);
    s->begun = calloc(2 * (size_t)s->size, sizeof *s->begun);
    for (int i = 0; i < s->size; i++)
        s->members[i] = which == PSDNS_ROW ? color * h->columns + i : i * h->columns + color;
    shuffle(s->order, s->size);
    CRESTA_Set_impl(s->comm, "*=nonblock");
}

/* The longest rows that stay within a host and are not longer than columns: the study had rows of
 * 16 ranks, one host each, and columns of thousands. */
static int own_columns(const struct bench_world *w)
{
    int best = 1;
    const int each = w->size % w->hosts == 0 ? w->size / w->hosts : 1;
    for (int n = 1; n * n <= w->size; n++)
        if (w->size % n == 0 && (each % n == 0 || w->hosts == 1))
            best = n;
    return best;
}

static void find_hosts(struct psdns *h)
{
    MPI_Comm host;
    int size;
    MPI_Comm_split_type(h->side[PSDNS_ROW].comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
    int across = size < h->side[PSDNS_ROW].size;
    bench_max(&h->w, &across, 1, MPI_INT);
    h->rows_within_hosts = !across;
}

const char *psdns_grid_open(struct psdns *h)
{
    h->columns = own_columns(&h->w);
    h->rows = h->w.size / h->columns;
    if (h->o.procs && (sscanf(h->o.procs, "%dx%d", &h->rows, &h->columns) != 2 || h->rows < 1 ||
                       h->columns < 1 || (long)h->rows * h->columns != h->w.size))
        return "--procs is ROWSxCOLUMNS, as many as there are ranks";
    shuffle_state = 2013u + 7919u * (unsigned)h->w.rank;
    open_side(h, PSDNS_ROW, h->w.rank / h->columns);
    open_side(h, PSDNS_COL, h->w.rank % h->columns);
    find_hosts(h);
    return NULL;
}

void psdns_grid_close(struct psdns *h)
{
    for (int i = 0; i < PSDNS_SIDES; i++) {
        MPI_Comm_free(&h->side[i].comm);
        free(h->side[i].members);
        free(h->side[i].order);
        free(h->side[i].begun);
    }
}
