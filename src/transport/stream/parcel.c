/* SPDX-License-Identifier: BSD-3-Clause */
/* parcel.c - see parcel.h. */
#include "transport/stream/parcel.h"

#include <stdlib.h>

#include "core/data.h"

void *cco_parcels_open(void *shared, int messages)
{
    cco_parcels *p = calloc(1, sizeof *p + (size_t)messages * sizeof p->list[0]);
    if (p != NULL)
        p->shared = shared;
    return p;
}

void cco_parcels_begin(void *parcels)
{
    cco_parcels *p = parcels;
    p->count = p->done = 0;
}

static int start(cco_parcels *p, int peer, const cco_data *data, bool sends)
{
    cco_parcel *one = &p->list[p->count];
    *one = (cco_parcel){.peer = peer, .sends = sends, .data = *data, .at = data->at};
    one->left = cco_data_bytes(data);
    if (!data->layout->dense) {
        one->at = one->packed = malloc(one->left);
        if (one->packed == NULL)
            return MPI_ERR_NO_MEM;
    }
    p->count++;
    if (one->packed != NULL && sends)
        return cco_type_pack(one->packed, data->at, data->count, data->layout->type);
    return MPI_SUCCESS;
}

int cco_parcels_recv(void *parcels, int peer, const cco_data *to)
{
    return start(parcels, peer, to, false);
}

int cco_parcels_send(void *parcels, int peer, const cco_data *from)
{
    return start(parcels, peer, from, true);
}

int cco_parcel_check(cco_parcels *p, cco_parcel *one)
{
    int rc = MPI_SUCCESS;
    if (one->left > 0)
        return rc;
    if (one->packed != NULL && !one->sends)
        rc = cco_type_unpack(one->data.at, one->data.count, one->data.layout->type, one->packed);
    free(one->packed);
    one->packed = NULL;
    one->peer = -1;
    p->done++;
    return rc;
}

void cco_parcels_drop(void *parcels)
{
    cco_parcels *p = parcels;
    for (int i = 0; i < p->count; i++) {
        free(p->list[i].packed);
        p->list[i].packed = NULL;
    }
    p->count = p->done = 0;
}

bool cco_turns_make(cco_turns *turns, int ranks)
{
    *turns = (cco_turns){calloc(2 * (size_t)ranks, sizeof *turns->seen), 0};
    return turns->seen != NULL;
}

void cco_turns_free(cco_turns *turns)
{
    free(turns->seen);
    *turns = (cco_turns){0};
}

bool cco_turns_has(cco_turns *turns, const cco_parcel *one, bool sends)
{
    if (one->peer < 0 || one->sends != sends)
        return false;
    unsigned *seen = &turns->seen[2 * one->peer + sends];
    const bool first = *seen != turns->pass;
    *seen = turns->pass;
    return first;
}
