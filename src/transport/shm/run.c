/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c - see run.h. */
#include "transport/shm/run.h"
#include "transport/local/elements.h"
#include "transport/local/local.h"

void cco_run_differs(const cco_run *r, int rank, const char *slot, const char *lane, size_t n)
{
    uint64_t here = cco_run_expected(r, n), there = cco_stamp_alone(cco_slot_word(slot));
    if (here == there && lane != NULL && r->stage->head > 0) {
        here += cco_stamp_bytes(n);
        there += cco_stamp_bytes(cco_run_head(lane));
    }
    cco_elsewhere_note(r->ring, rank, here, there);
}

enum {
    BLOCK = CCO_FLAT_UNIT
}; /* bytes of a result that stay in the nearest cache while operands pass */

/* to[i] = a[i] op b[i]; `to` may be b. */
static int shm_fold_combine(const cco_run *r, const char *a, const char *b, char *to, size_t n)
{
    const cco_layout *layout = &r->binding->layouts[CCO_OUT];
    const cco_reduce_op *op = &r->binding->operation;
    const size_t count = n / layout->size;
    if (op->kernel != NULL) {
        op->kernel(a, b, to, count);
        return MPI_SUCCESS;
    }
    const cco_data from = {(char *)(uintptr_t)a, count, layout}, into = {to, count, layout};
    if (to != b)
        memcpy(to, b, n);
    return cco_mpi_reduce(NULL, &from, &into, op);
}

static int fold_block(const cco_run *r, const char **from, int first, int last, char *to, size_t n)
{
    _Alignas(64) char own[BLOCK];
    const int rank = r->q->rank;
    if (rank >= first && rank <= last && r->q->in.base == CCO_OUT)
        from[rank] = memcpy(own, from[rank], n);
    if (first == last)
        memcpy(to, from[last], n);
    const char *so_far = from[last];
    int rc = MPI_SUCCESS;
    for (int i = last - 1; i >= first && rc == MPI_SUCCESS; i--) {
        rc = shm_fold_combine(r, from[i], so_far, to, n);
        so_far = to;
    }
    return rc;
}

/* This rank's own operand, out of the way of the result. */
static const char *own_chunk(const cco_run *r, const char *from, size_t n)
{
    return r->q->in.base == CCO_OUT ? memcpy(r->reach->pull->scratch + CCO_PULL_CHUNK, from, n)
                                    : from;
}

/* Operands of which some are read by the kernel: into scratch, or the last to where the result
 * goes, all of which stays in a cache meanwhile. */
static int fold_chunk(const cco_run *r, const char **from, int first, int last, char *to, size_t n)
{
    const int rank = r->q->rank;
    cco_pull *pull = r->reach->pull;
    const char *so_far = to;
    int rc = MPI_SUCCESS;
    if (rank >= first && rank <= last)
        from[rank] = own_chunk(r, from[rank], n);
    if (cco_run_remote(r, last))
        cco_pull_read(pull, last, from[last], to, n);
    else if (first == last)
        memcpy(to, from[last], n);
    else
        so_far = from[last];
    for (int i = last - 1; i >= first && rc == MPI_SUCCESS; i--) {
        const bool remote = cco_run_remote(r, i);
        if (remote)
            cco_pull_read(pull, i, from[i], pull->scratch, n);
        rc = shm_fold_combine(r, remote ? pull->scratch : from[i], so_far, to, n);
        so_far = to;
    }
    return rc;
}

/* Packed operands: each is unpacked for the operation, wherever it comes from. */
static const char *shm_fold_packed(const cco_run *r, int rank, const char *from, size_t n)
{
    if (!cco_run_remote(r, rank))
        return from;
    cco_pull_read(r->reach->pull, rank, from, r->reach->pull->scratch, n);
    return r->reach->pull->scratch;
}

static int fold_elements(const cco_run *r, const char **from, int first, int last, char *to,
                         size_t n)
{
    const cco_elements *e = r->binding->elements;
    const size_t step = e->most * e->layout.size;
    int rc = MPI_SUCCESS;
    for (size_t at = 0; at < n && rc == MPI_SUCCESS; at += step) {
        const size_t part = n - at < step ? n - at : step;
        rc = cco_elements_start(e, shm_fold_packed(r, last, from[last] + at, part), part);
        for (int i = last - 1; i >= first && rc == MPI_SUCCESS; i--)
            rc = cco_elements_reduce(e, shm_fold_packed(r, i, from[i] + at, part), part);
        if (rc == MPI_SUCCESS)
            rc = cco_elements_end(e, to + at, part);
    }
    return rc;
}

/* Where an operand can be read while the result is written: its place, or a copy in `room`. */
static const char *shm_fold_readable(const cco_run *r, int rank, const char *from, char *room,
                                     size_t n)
{
    if (cco_run_remote(r, rank)) {
        cco_pull_read(r->reach->pull, rank, from, room, n);
        return room;
    }
    return rank == r->q->rank && r->q->in.base == CCO_OUT ? memcpy(room, from, n) : from;
}

/* All operands of an element at once.  Those that the kernel reads come to scratch, in parts that
 * leave room for all. */
static int fold_at_once(const cco_run *r, const char **from, int first, int last, char *to,
                        size_t n)
{
    _Alignas(64) char own[BLOCK];
    const char *now[CCO_FLAT_RANKS];
    const int count = last - first + 1;
    const size_t unit = r->q->unit;
    const bool pulls = r->found != NULL && r->found->remote != 0;
    const size_t most = pulls ? 2 * CCO_PULL_CHUNK / (size_t)count : BLOCK;
    const size_t step = most / unit * unit;
    const cco_operands parts = {.list = now};
    for (size_t at = 0; at < n; at += step) {
        const size_t part = n - at < step ? n - at : step;
        for (int i = first; i <= last; i++) {
            char *room = pulls ? r->reach->pull->scratch + (size_t)(i - first) * step : own;
            now[i - first] = shm_fold_readable(r, i, from[i] + at, room, part);
        }
        r->binding->operation.fold(&parts, count, to + at, part / unit);
    }
    return MPI_SUCCESS;
}

int cco_run_fold(const cco_run *r, const char **from, int first, int last, char *to, size_t n)
{
    const char *now[CCO_FLAT_RANKS];
    if (r->binding->operation.fold != NULL)
        return fold_at_once(r, from, first, last, to, n);
    if (r->binding->elements != NULL)
        return fold_elements(r, from, first, last, to, n);
    const bool pulls = r->found != NULL && r->found->remote != 0;
    const size_t most = pulls ? CCO_PULL_CHUNK : BLOCK, step = most / r->q->unit * r->q->unit;
    int rc = MPI_SUCCESS;
    for (size_t at = 0; at < n && rc == MPI_SUCCESS; at += step) {
        const size_t left = n - at < step ? n - at : step;
        for (int i = first; i <= last; i++)
            now[i] = from[i] + at;
        rc = (pulls ? fold_chunk : fold_block)(r, now, first, last, to + at, left);
    }
    return rc;
}
