/* SPDX-License-Identifier: BSD-3-Clause */
/* coarrays.c - see coarrays.h. With PSDNS_HAS_COARRAYS there is coarrays.f90. */
#include "coarrays.h"

#include "transport/caf/caf.h"

#if defined(PSDNS_HAS_COARRAYS)

int psdns_coarrays_allocate(size_t bytes, int blocks, int columns, void **send, void **recv);
void psdns_coarrays_random(int row, int n, const int *order, int overlaps);
void psdns_coarrays_inlined(int row, int n, const int *order, int overlaps);
void psdns_coarrays_work(int row, double share);

static struct psdns *harness; /* what coarrays.f90 computes for */

const char *psdns_coarrays_begin(void)
{
    return cco_caf_begin(MPI_COMM_WORLD);
}

const char *psdns_coarrays_open(struct psdns *h)
{
    const int blocks = h->rows > h->columns ? h->rows : h->columns;
    void *send = NULL, *recv = NULL;
    harness = h;
    int failed = psdns_coarrays_allocate(h->bytes, blocks, h->columns, &send, &recv) != 0;
    bench_max(&h->w, &failed, 1, MPI_INT);
    if (failed)
        return "there is no memory for such coarrays";
    for (int i = 0; i < PSDNS_SIDES; i++) {
        h->side[i].send = send;
        h->side[i].recv = recv;
    }
    return NULL;
}

void psdns_coarrays_work(int row, double share)
{
    psdns_work(harness, row ? PSDNS_ROW : PSDNS_COL, share);
}

int psdns_by_coarrays(struct psdns *h, const struct psdns_alg *a, int side)
{
    const struct psdns_side *s = &h->side[side];
    (a->inlined ? psdns_coarrays_inlined : psdns_coarrays_random)(side == PSDNS_ROW, s->size,
                                                                  s->order, a->overlaps);
    return MPI_SUCCESS;
}

#else

static const char *const none = "this build has no OpenCoarrays";

const char *psdns_coarrays_begin(void)
{
    return none;
}

const char *psdns_coarrays_open(struct psdns *h)
{
    (void)h;
    return none;
}

void psdns_coarrays_close(void)
{
}

int psdns_by_coarrays(struct psdns *h, const struct psdns_alg *a, int side)
{
    (void)h, (void)a, (void)side;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

#endif
