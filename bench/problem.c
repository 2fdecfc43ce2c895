/* SPDX-License-Identifier: BSD-3-Clause */
/* problem.c - counts, buffers and the right answer of one collective at one size. */
#include "bench.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, POISON = 0xa5 }; /* bytes behind every result that nobody may touch */
enum { CACHE_LINE = 64 };
static const size_t memory_limit = (size_t)1 << 30;
static const size_t cold_size = (size_t)64 << 20;

void *bench_send(const struct bench_problem *q, int slot)
{
    return q->send + (size_t)slot * (q->send_len + GUARD);
}

void *bench_recv(const struct bench_problem *q, int slot)
{
    return q->recv + (size_t)slot * (q->recv_len + GUARD);
}

/* Reductions add doubles (whole numbers, so that the order of the sum does not matter) where
 * the size allows. */
static void choose_type(struct bench_problem *q)
{
    q->type = MPI_BYTE;
    q->width = 1;
    if (!q->coll->reduction)
        return;
    q->type = MPI_SIGNED_CHAR;
    if (q->bytes % sizeof(int) == 0) {
        q->type = MPI_INT;
        q->width = sizeof(int);
    }
    if (q->bytes % sizeof(double) == 0) {
        q->type = MPI_DOUBLE;
        q->width = sizeof(double);
    }
}

/* Uneven blocks: from b/2 to 3b/2, b in the mean. For alltoallv rank r sees the list shifted by
 * r. */
static void uneven(struct bench_problem *q)
{
    const int p = q->size, pairs = !strncmp(q->coll->name, "alltoall", 8);
    for (int i = 0, at = 0; i < p; i++) {
        const int k = pairs ? (q->rank + i) % p : i;
        q->counts[i] = p == 1 ? q->count : q->count / 2 + (int)((long long)q->count * k / (p - 1));
        q->displs[i] = at;
        at += q->counts[i];
        q->types[i] = q->type;
        q->totals[i] = q->count / p + (i < q->count % p);
    }
}

/* Blocks of neighbours are alike. */
static void alike(struct bench_problem *q, int degree)
{
    for (int i = 0; i < degree; i++) {
        q->counts[i] = q->count;
        q->displs[i] = i * q->count;
        q->places[i] = (MPI_Aint)i * (MPI_Aint)q->bytes;
        q->types[i] = q->type;
    }
}

static size_t length(const struct bench_problem *q, enum bench_part part, int neighbours)
{
    const size_t width = (size_t)q->width;
    switch (part) {
    case BENCH_BLOCK:
        return q->bytes;
    case BENCH_BLOCKS:
        return q->bytes * (size_t)q->size;
    case BENCH_MINE:
        return (size_t)q->counts[q->rank] * width;
    case BENCH_EVERYONES:
        return (size_t)(q->displs[q->size - 1] + q->counts[q->size - 1]) * width;
    case BENCH_NEIGHBORS:
        return q->bytes * (size_t)neighbours;
    case BENCH_SHARE:
        return (size_t)q->totals[q->rank] * width;
    default:
        return 0;
    }
}

static void fill(const struct bench_problem *q, unsigned char *to, size_t len, int rank)
{
    const size_t n = len / (size_t)q->width;
    for (size_t i = 0; i < n; i++) {
        const int v = 1 + (int)((i + 7 * (size_t)rank) % 13);
        if (q->type == MPI_DOUBLE)
            ((double *)(void *)to)[i] = v;
        else if (q->type == MPI_INT)
            ((int *)(void *)to)[i] = v;
        else
            to[i] = (unsigned char)(q->coll->reduction ? v % 3 : v + 31 * rank + (int)(i >> 8));
    }
}

const char *bench_problem_open(struct bench_problem *q, const struct bench_coll *coll, size_t bytes,
                               const struct bench_world *w, enum bench_buffers buffers)
{
    const size_t p = (size_t)(w->degree > w->size ? w->degree : w->size);
    *q = (struct bench_problem){
        .coll = coll, .rank = w->rank, .size = w->size, .bytes = bytes, .slots = 1};
    if (bytes > INT_MAX / 2 / p)
        return "more than 2 GiB in one buffer";
    choose_type(q);
    q->count = (int)(bytes / (size_t)q->width);
    q->counts = calloc(3 * p, sizeof(int));
    q->types = calloc(p, sizeof *q->types);
    q->places = calloc(p, sizeof *q->places);
    if (!q->counts || !q->types || !q->places)
        return "out of memory";
    q->displs = q->counts + p;
    q->totals = q->displs + p;
    if (bench_is_near(coll))
        alike(q, w->degree);
    else
        uneven(q);
    q->send_len = length(q, coll->send, w->out);
    q->recv_len = length(q, coll->recv, w->in);
    const size_t most = 4 * bytes * p; /* the same on every rank */
    if (most > memory_limit)
        return "buffers above 1 GiB a rank";
    if (buffers == BENCH_COLD && most)
        q->slots = (int)(cold_size / most) + 2;
    q->send = malloc((size_t)q->slots * (q->send_len + GUARD));
    q->recv = malloc((size_t)q->slots * (q->recv_len + GUARD));
    q->expected = malloc(q->recv_len + GUARD);
    if (!q->send || !q->recv || !q->expected)
        return "out of memory";
    for (int s = 0; s < q->slots; s++) {
        fill(q, bench_send(q, s), q->send_len, q->rank);
        memset(bench_recv(q, s), 0, q->recv_len + GUARD);
    }
    return NULL;
}

void bench_problem_close(struct bench_problem *q)
{
    free(q->counts);
    free(q->types);
    free(q->places);
    free(q->send);
    free(q->recv);
    free(q->expected);
}

void bench_problem_write(const struct bench_problem *q, int root, int slot)
{
    const int from_root = q->coll->rooted && q->coll->result == BENCH_ALL; /* bcast, scatter */
    if (from_root && q->rank != root)
        return;
    const int bcast = from_root && q->coll->send == BENCH_NOTHING;
    volatile unsigned char *data = bcast ? bench_recv(q, slot) : bench_send(q, slot);
    const size_t n = bcast ? q->recv_len : q->send_len;
    for (size_t i = 0; i < n; i += CACHE_LINE)
        data[i] = data[i];
}

/* One call into slot 0 of a freshly poisoned result. Returns its error class. */
static int once(const struct bench_calls *f, const struct bench_problem *q, MPI_Comm comm, int root)
{
    unsigned char *out = bench_recv(q, 0);
    memset(out, POISON, q->recv_len + GUARD);
    if (q->coll->rooted && q->coll->send == BENCH_NOTHING && q->rank == root) /* bcast */
        fill(q, out, q->recv_len, root);
    return bench_call(f, q, comm, root, 0);
}

static int same(const struct bench_problem *q, int root)
{
    const unsigned char *out = bench_recv(q, 0);
    if ((q->coll->result == BENCH_AT_ROOT && q->rank != root) ||
        (q->coll->result == BENCH_NOT_FIRST && q->rank == 0))
        return 1;
    for (size_t i = q->recv_len; i < q->recv_len + GUARD; i++)
        if (out[i] != POISON)
            return 0;
    return memcmp(out, q->expected, q->recv_len) == 0;
}

int bench_problem_roots(const struct bench_problem *q, int rotate)
{
    return !q->coll->rooted || !rotate ? 1 : q->size < 4 ? q->size : 4;
}

/* The `i`th of so many, from the first rank to the last. */
static int root_of(const struct bench_problem *q, int i, int roots)
{
    return (int)((long)i * (q->size - 1) / (roots > 1 ? roots - 1 : 1));
}

void bench_problem_expect(struct bench_problem *q, const struct bench_world *w, int i, int roots)
{
    if (bench_is_near(q->coll)) /* where some MPIs are wrong */
        once(&bench_cresta, q, w->near, 0);
    else
        once(&bench_plain, q, w->control, root_of(q, i, roots));
    memcpy(q->expected, bench_recv(q, 0), q->recv_len + GUARD);
}

enum bench_verdict bench_problem_check(struct bench_problem *q, const struct bench_calls *f,
                                       MPI_Comm comm, int i, int roots)
{
    const int root = root_of(q, i, roots), rc = once(f, q, comm, root);
    const int right = rc == MPI_SUCCESS && same(q, root);
    fill(q, bench_send(q, 0), q->send_len, q->rank);
    return rc == MPI_ERR_UNSUPPORTED_OPERATION ? BENCH_REFUSED : right ? BENCH_RIGHT : BENCH_WRONG;
}
