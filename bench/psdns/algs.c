/* SPDX-License-Identifier: BSD-3-Clause */
/* algs.c - the ALGs by name, and those of them that are one call or two:
 *
 *   MPI         MPI_Alltoall, then the computation
 *   CoM         the same with CRESTA_Alltoall on coarrays, 512 bytes at a time in random order
 *   MIB, MIN    MPI_Ialltoall (CRESTA_Alltoall_begin, nonblock): the computation after the end, or
 *               before it; MIB:IMPL, MIN:IMPL with another implementation
 *   CrB, CrN    blocks are got from large coarrays in random order: the computation after the last
 *               sync all, or before it
 *   CsB, CsN    the same with a piece of the computation for each block: after, or in between
 *   Cxx:os, Cxx:p2p   these with a window of the MPI instead of coarrays, or with messages
 *   IMPL        any implementation of CRESTA_Alltoall, then the computation */
#include "psdns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coarrays.h"
#include "cresta_sp_coll.h"

static int whole_then(struct psdns *h, int side, int rc)
{
    psdns_work(h, side, 1);
    return rc;
}

static int plain(struct psdns *h, const struct psdns_alg *a, int side)
{
    const struct psdns_side *s = &h->side[side];
    (void)a;
    return whole_then(
        h, side,
        MPI_Alltoall(s->send, (int)h->bytes, MPI_BYTE, s->recv, (int)h->bytes, MPI_BYTE, s->comm));
}

static int blocking(struct psdns *h, const struct psdns_alg *a, int side)
{
    const struct psdns_side *s = &h->side[side];
    return whole_then(h, side,
                      CRESTA_Alltoall(s->send, (int)h->bytes, MPI_BYTE, s->recv, (int)h->bytes,
                                      MPI_BYTE, a->comm[side]));
}

static int split(struct psdns *h, const struct psdns_alg *a, int side)
{
    const struct psdns_side *s = &h->side[side];
    MPI_Request request;
    int rc = CRESTA_Alltoall_begin(s->send, (int)h->bytes, MPI_BYTE, s->recv, (int)h->bytes,
                                   MPI_BYTE, a->comm[side], &request);
    if (rc != MPI_SUCCESS)
        return rc;
    if (a->overlaps)
        psdns_work(h, side, 1);
    rc = CRESTA_Coll_end(1, &request);
    if (!a->overlaps)
        psdns_work(h, side, 1);
    return rc;
}

/* "x:rest": rest; "x": what is preset; NULL: the name does not begin with x. */
static const char *rest_of(const char *name, const char *x, const char *preset)
{
    const size_t n = strlen(x);
    if (strncmp(name, x, n) != 0 || (name[n] != '\0' && name[n] != ':'))
        return NULL;
    return name[n] == ':' ? name + n + 1 : preset;
}

/* Is it one of the four, and which? */
static int gets(struct psdns_alg *a)
{
    static const char *const names[] = {"CrB", "CrN", "CsB", "CsN"};
    static const struct {
        const char *name;
        enum psdns_store store;
        psdns_exchange *exchange;
    } ways[] = {
        {"coarrays", PSDNS_COARRAYS, psdns_by_coarrays},
        {"os", PSDNS_WINDOWS, psdns_by_window},
        {"p2p", PSDNS_ARRAYS, psdns_by_messages},
    };
    for (int i = 0; i < 4; i++) {
        const char *way = rest_of(a->name, names[i], "coarrays");
        for (int k = 0; way && k < 3; k++)
            if (!strcmp(way, ways[k].name)) {
                a->store = ways[k].store;
                a->exchange = ways[k].exchange;
                a->inlined = i / 2;
                a->overlaps = i % 2;
                return 1;
            }
    }
    return 0;
}

static void find(struct psdns_alg *a)
{
    const char *begun = rest_of(a->name, "MIB", "nonblock"), *nothing = rest_of(a->name, "MPI", "");
    if (!begun && (begun = rest_of(a->name, "MIN", "nonblock")))
        a->overlaps = 1;
    if (gets(a))
        return;
    a->exchange = begun ? split : nothing ? plain : blocking;
    if (!nothing)
        a->impl = begun ? begun : rest_of(a->name, "CoM", "caf:chunked?chunk=512&order=random");
    if (!nothing && !a->impl)
        a->impl = a->name;
}

const char *psdns_alg_open(struct psdns *h, struct psdns_alg *a, const char *name)
{
    char spec[256], called[MPI_MAX_OBJECT_NAME];
    *a = (struct psdns_alg){.name = name, .store = PSDNS_ARRAYS};
    find(a);
    for (int i = 0; i < PSDNS_SIDES; i++) {
        a->total[i] = calloc((size_t)h->o.samples, sizeof(double));
        a->comp[i] = calloc((size_t)h->o.samples, sizeof(double));
        a->comm[i] = MPI_COMM_NULL;
        if (!a->impl)
            continue;
        MPI_Comm_dup(h->side[i].comm, &a->comm[i]);
        snprintf(called, sizeof called, "bench %.50s", name);
        MPI_Comm_set_name(a->comm[i], called);
        snprintf(spec, sizeof spec, "*=%s", a->impl);
        if (CRESTA_Set_impl(a->comm[i], spec) != MPI_SUCCESS)
            return name;
    }
    return NULL;
}

void psdns_alg_close(struct psdns_alg *a)
{
    for (int i = 0; i < PSDNS_SIDES; i++) {
        if (a->comm[i] != MPI_COMM_NULL)
            MPI_Comm_free(&a->comm[i]);
        free(a->total[i]);
        free(a->comp[i]);
    }
}
