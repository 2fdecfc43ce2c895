/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.c - see buffers.h: one place that knows which buffers a collective has on which rank. */
#include "plan/buffers.h"

#include <stdint.h>

static bool is_root(const cco_call *c, int rank)
{
    return rank == c->root;
}

/* The send buffer as `n` blocks. */
static cco_buffer sent(const cco_call *c, int n)
{
    return (cco_buffer){.buffer = (char *)(uintptr_t)c->sendbuf,
                        .blocks = n,
                        .count = c->sendcount,
                        .type = c->sendtype};
}

static cco_buffer received(const cco_call *c, int n)
{
    return (cco_buffer){
        .buffer = c->recvbuf, .blocks = n, .count = c->recvcount, .type = c->recvtype};
}

static cco_buffer sent_unevenly(const cco_call *c, int n)
{
    cco_buffer end = sent(c, n);
    end.counts = c->sendcounts;
    end.displs = c->senddispls;
    end.types = c->sendtypes;
    return end;
}

static cco_buffer received_unevenly(const cco_call *c, int n)
{
    cco_buffer end = received(c, n);
    end.counts = c->recvcounts;
    end.displs = c->recvdispls;
    end.types = c->recvtypes;
    return end;
}

/* What a reduction reads: in place, it lies where the result will. */
static cco_buffer operand(const cco_call *c, int n)
{
    cco_buffer end = c->sendbuf == MPI_IN_PLACE ? received(c, n) : sent(c, n);
    end.count = c->recvcount;
    end.type = c->recvtype;
    return end;
}

void cco_buffers_of_reduction(const cco_call *c, int rank, int size, cco_buffer *in,
                              cco_buffer *out)
{
    *in = operand(c, 1);
    *out = received(c, c->coll != CCO_REDUCE || is_root(c, rank));
    if (c->coll == CCO_REDUCE_SCATTER_BLOCK) {
        in->blocks = size;
    } else if (c->coll == CCO_REDUCE_SCATTER) {
        in->blocks = size;
        in->counts = c->recvcounts;
        out->count = cco_count_at(c, c->recvcounts, rank);
    }
}

void cco_buffers_of_movement(const cco_call *c, int rank, int size, cco_buffer *in, cco_buffer *out)
{
    const int at_root = is_root(c, rank) ? size : 0;
    *in = *out = (cco_buffer){.type = MPI_BYTE};
    switch (c->coll) {
    case CCO_BCAST:
        *out = received(c, 1);
        break;
    case CCO_GATHER:
        *in = sent(c, 1);
        *out = received(c, at_root);
        break;
    case CCO_GATHERV:
        *in = sent(c, 1);
        *out = received_unevenly(c, at_root);
        break;
    case CCO_SCATTER:
        *in = sent(c, at_root);
        *out = received(c, 1);
        break;
    case CCO_SCATTERV:
        *in = sent_unevenly(c, at_root);
        *out = received(c, 1);
        break;
    case CCO_ALLGATHER:
        *in = sent(c, 1);
        *out = received(c, size);
        break;
    case CCO_ALLGATHERV:
        *in = sent(c, 1);
        *out = received_unevenly(c, size);
        break;
    case CCO_ALLTOALL:
        *in = sent(c, size);
        *out = received(c, size);
        break;
    default: /* alltoallv and alltoallw; a barrier has no data */
        if (c->coll == CCO_BARRIER)
            break;
        *in = sent_unevenly(c, size);
        *out = received_unevenly(c, size);
        break;
    }
}
