/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.c - see buffers.h: one place that knows which buffers a collective has on which rank. */
#include "plan/buffers.h"

#include <stddef.h>
#include <stdint.h>

static bool is_root(const cco_call *c, int rank)
{
    return rank == c->root;
}

/* The send buffer as `n` blocks; a call has no arrays that its collective has not. */
static cco_buffer buffers_sent(const cco_call *c, int n)
{
    return (cco_buffer){.buffer = (char *)(uintptr_t)c->sendbuf,
                        .blocks = n,
                        .count = c->sendcount,
                        .counts = c->sendcounts,
                        .displs = c->senddispls,
                        .type = c->sendtype,
                        .types = c->sendtypes};
}

static cco_buffer buffers_received(const cco_call *c, int n)
{
    return (cco_buffer){.buffer = c->recvbuf,
                        .blocks = n,
                        .count = c->recvcount,
                        .counts = c->recvcounts,
                        .displs = c->recvdispls,
                        .type = c->recvtype,
                        .types = c->recvtypes};
}

static int buffers_blocks(int shape, bool root, int size, int degree)
{
    return shape == CCO_NEAR ? degree : cco_blocks(shape, root, size);
}

/* What a reduction reads is described by the arguments of its result; in place, it lies where the
 * result will. */
void cco_buffers_of_reduction(const cco_call *c, int rank, int size, cco_degrees degrees,
                              cco_buffer *in, cco_buffer *out)
{
    const cco_coll_info *info = &cco_coll_infos[c->coll];
    *in = *out = buffers_received(c, cco_blocks(info->out, is_root(c, rank), size));
    in->blocks = buffers_blocks(info->in, is_root(c, rank), size, degrees.out);
    if (cco_is_neighbor(c->coll) && degrees.out == 0)
        in->blocks = 0;
    if (cco_is_neighbor(c->coll) && degrees.in == 0)
        out->blocks = 0; /* the receive buffer stays as it is */
    if (c->sendbuf != MPI_IN_PLACE)
        in->buffer = (char *)(uintptr_t)c->sendbuf;
    if (c->recvcounts != NULL) {
        out->counts = NULL;
        out->count = cco_count_at(c, c->recvcounts, rank);
    }
}

void cco_buffers_of_movement(const cco_call *c, int rank, int size, cco_degrees degrees,
                             cco_buffer *in, cco_buffer *out)
{
    const cco_coll_info *info = &cco_coll_infos[c->coll];
    *in = buffers_sent(c, buffers_blocks(info->in, is_root(c, rank), size, degrees.out));
    if (cco_is_neighbor(c->coll) && degrees.out == 0)
        in->blocks = 0; /* nobody takes what it gives, whatever the arguments are */
    *out = buffers_received(c, buffers_blocks(info->out, is_root(c, rank), size, degrees.in));
}
