/* SPDX-License-Identifier: BSD-3-Clause */
/* empty.c - see empty.h. */
#include "native/empty.h"

#include <stdlib.h>
#include <string.h>

/* One side of a call. */
typedef struct side {
    MPI_Count *count;
    MPI_Datatype type;
    const void **counts;
    const MPI_Datatype *types;
    int peers; /* blocks in those arrays */
} side;

static bool empty_is_empty(MPI_Datatype type)
{
    return cco_is_type(type) && cco_type_size(type) == 0;
}

static bool block_is_empty(const cco_call *c, const side *s, int i)
{
    return cco_count_at(c, *s->counts, i) > 0 &&
           empty_is_empty(s->types != NULL ? s->types[i] : s->type);
}

static bool has_empty(const cco_call *c, const side *s)
{
    if (s->types == NULL && !empty_is_empty(s->type))
        return false;
    for (int i = 0; i < s->peers; i++)
        if (block_is_empty(c, s, i))
            return true;
    return false;
}

/* A copy of the counts at `room`, with zeros; what lies behind it. */
static char *copy_counts(const cco_call *c, const side *s, char *room)
{
    const size_t one = c->large ? sizeof(MPI_Count) : sizeof(int);
    memcpy(room, *s->counts, (size_t)s->peers * one);
    for (int i = 0; i < s->peers; i++)
        if (block_is_empty(c, s, i))
            memset(room + (size_t)i * one, 0, one);
    *s->counts = room;
    return room + (size_t)s->peers * sizeof(MPI_Count);
}

/* The sides that mean something on this rank. */
static int list_sides(cco_call *c, cco_degrees blocks, bool root, side sides[2])
{
    const cco_coll_info *info = &cco_coll_infos[c->coll];
    const bool sends = info->in & CCO_AT_ROOT ? root : c->sendbuf != MPI_IN_PLACE;
    const bool receives = info->out & CCO_AT_ROOT ? root : c->recvbuf != MPI_IN_PLACE;
    int n = 0;
    if (sends)
        sides[n++] = (side){&c->sendcount, c->sendtype, &c->sendcounts, c->sendtypes, blocks.out};
    if (receives)
        sides[n++] = (side){&c->recvcount, c->recvtype, &c->recvcounts, c->recvtypes, blocks.in};
    return n;
}

void cco_drop_empty(cco_call *call, cco_degrees blocks, bool root, void **memory)
{
    side sides[2];
    *memory = NULL;
    if (call->coll == CCO_BARRIER || cco_coll_infos[call->coll].properties & CCO_REDUCTION)
        return;
    const int n = list_sides(call, blocks, root, sides);
    char *room = NULL;
    for (int i = 0; i < n; i++) {
        const side *s = &sides[i];
        if (*s->counts == NULL && *s->count > 0 && empty_is_empty(s->type))
            *s->count = 0;
        if (*s->counts == NULL || !has_empty(call, s))
            continue;
        if (room == NULL)
            room = *memory = malloc(((size_t)blocks.in + (size_t)blocks.out) * sizeof(MPI_Count));
        if (room != NULL) /* else the MPI may do as well */
            room = copy_counts(call, s, room);
    }
}
