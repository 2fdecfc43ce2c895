/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c - the computation beside an all-to-all: the same for all ALGs of one size. */
#include "psdns.h"

#include "../work.h"

void psdns_work(struct psdns *h, int side, double share)
{
    const double start = bench_now();
    bench_compute(share * h->side[side].units);
    h->worked += bench_now() - start;
}
