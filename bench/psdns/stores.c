/* SPDX-License-Identifier: BSD-3-Clause */
/* stores.c - the memory of one size, in arrays, coarrays or windows, and what has to come out. */
#include "psdns.h"

#include <stdlib.h>
#include <string.h>

#include "coarrays.h"

enum { POISON = 0xa5 };
static const size_t memory_limit = (size_t)1 << 30;

static const char *arrays(struct psdns *h, int of)
{
    const size_t blocks = (size_t)(h->rows > h->columns ? h->rows : h->columns);
    int failed = 0;
    for (int i = of; i < 2; i++) {
        h->memory[i] = malloc(blocks * h->bytes + 1); /* something for 0 bytes, too */
        failed |= h->memory[i] == NULL;
    }
    bench_max(&h->w, &failed, 1, MPI_INT);
    for (int i = 0; i < PSDNS_SIDES; i++) {
        h->side[i].send = h->memory[0];
        h->side[i].recv = h->memory[1];
    }
    return failed ? "there is not enough memory" : NULL;
}

/* Errors are reported while it is made, and stop the job afterwards. */
static const char *make_window(struct psdns_side *s, size_t bytes)
{
    const char *why = cco_window_make(&s->window, bytes, 0, s->comm, false, CCO_WINDOW_FOR_A_CALL);
    if (why == NULL)
        MPI_Win_set_errhandler(s->window.win, MPI_ERRORS_ARE_FATAL);
    return why;
}

static const char *windows(struct psdns *h)
{
    const char *why = arrays(h, 1);
    for (int i = 0; i < PSDNS_SIDES; i++) {
        struct psdns_side *s = &h->side[i];
        const size_t bytes = (size_t)s->size * h->bytes + 1;
        const char *refused = NULL;
        if (s->size == 1) /* Open MPI 4 has no windows for one */
            s->send = malloc(bytes);
        else if ((refused = make_window(s, bytes)) == NULL)
            s->send = (unsigned char *)s->window.area.share;
        why = why ? why : refused;
        int failed = s->send == NULL || refused != NULL;
        bench_max(&h->w, &failed, 1, MPI_INT);
        if (failed && !why)
            why = "other ranks have no window";
    }
    return why;
}

const char *psdns_store_open(struct psdns *h, enum psdns_store store)
{
    if (h->bytes > memory_limit / (size_t)(h->rows > h->columns ? h->rows : h->columns))
        return "buffers above 1 GiB a rank";
    const char *why = store == PSDNS_ARRAYS    ? arrays(h, 0)
                      : store == PSDNS_WINDOWS ? windows(h)
                                               : h->caf;
    if (store == PSDNS_COARRAYS && !why)
        why = psdns_coarrays_open(h);
    return why;
}

void psdns_store_close(struct psdns *h, enum psdns_store store)
{
    for (int i = 0; i < PSDNS_SIDES; i++) {
        struct psdns_side *s = &h->side[i];
        if (store == PSDNS_WINDOWS && s->size == 1)
            free(s->send);
        else if (store == PSDNS_WINDOWS)
            cco_window_free(&s->window);
        s->send = s->recv = NULL;
        free(h->memory[i]);
        h->memory[i] = NULL;
    }
    if (store == PSDNS_COARRAYS)
        psdns_coarrays_close();
}

static unsigned char content(int from, int to, size_t i, int seed)
{
    return (unsigned char)(31 * (size_t)from + 17 * (size_t)to + i + (i >> 8) + (size_t)seed);
}

static void fill(const struct psdns *h, const struct psdns_side *s, int seed)
{
    for (int k = 0; k < s->size; k++)
        for (size_t i = 0; i < h->bytes; i++)
            s->send[(size_t)k * h->bytes + i] = content(h->w.rank, s->members[k], i, seed);
    memset(s->recv, POISON, (size_t)s->size * h->bytes);
}

static int right(const struct psdns *h, const struct psdns_side *s, int seed)
{
    for (int k = 0; k < s->size; k++)
        for (size_t i = 0; i < h->bytes; i++)
            if (s->recv[(size_t)k * h->bytes + i] != content(s->members[k], h->w.rank, i, seed))
                return 0;
    return 1;
}

static int check_side(struct psdns *h, const struct psdns_alg *a, int side, int seed)
{
    struct psdns_side *s = &h->side[side];
    fill(h, s, seed);
    const int rc = a->exchange(h, a, side);
    return rc == MPI_ERR_UNSUPPORTED_OPERATION      ? BENCH_REFUSED
           : rc == MPI_SUCCESS && right(h, s, seed) ? BENCH_RIGHT
                                                    : BENCH_WRONG;
}

int psdns_check(struct psdns *h, const struct psdns_alg *a, int seed, double seconds)
{
    int told[2] = {BENCH_RIGHT, 0}; /* the worst verdict; too slow */
    for (int i = 0; i < PSDNS_SIDES && !told[1]; i++) {
        const double start = bench_now();
        const int now = check_side(h, a, i, seed + i);
        told[0] = now > told[0] ? now : told[0];
        told[1] = bench_now() - start > seconds;
        bench_max(&h->w, told, 2, MPI_INT);
    }
    return told[0] == BENCH_RIGHT && told[1] ? PSDNS_TOO_SLOW : told[0];
}
