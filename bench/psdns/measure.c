/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c - how much computation there is, and the timing of the iterations of an ALG.
 *
 * Every time is that of the slowest rank. Nothing but the ALG makes ranks wait for each other
 * between the iterations of a round. */
#include "psdns.h"

#include "../work.h"

enum { WARMUPS = 2, FEWEST = 9, MOST = 100 };

/* Where ranks are more than the cores, each has only its share of them when all compute. */
double psdns_rate(const struct psdns *h)
{
    const double crowd = (double)h->w.size / (h->w.hosts * h->w.cores);
    double rate = bench_compute_rate();
    bench_max(&h->w, &rate, 1, MPI_DOUBLE);
    return crowd > 1 ? rate / crowd : rate;
}

/* Seconds of both sides on this rank. */
static double iterate(struct psdns *h, const struct psdns_alg *a, double total[], double comp[])
{
    for (int i = 0; i < PSDNS_SIDES; i++) {
        h->worked = 0;
        const double start = bench_now();
        a->exchange(h, a, i);
        total[i] = bench_now() - start;
        comp[i] = h->worked;
    }
    return total[PSDNS_ROW] + total[PSDNS_COL];
}

/* How many iterations of so many seconds there is time for, as rank 0 sees it. */
static int room_for(const struct psdns *h, double seconds, double until)
{
    double n = h->w.rank == 0 ? (until - bench_now()) / seconds : 0;
    bench_max(&h->w, &n, 1, MPI_DOUBLE);
    return n < 1e6 ? (int)n : 1000000;
}

static double warm_up(struct psdns *h, const struct psdns_alg *a)
{
    double total[PSDNS_SIDES], comp[PSDNS_SIDES];
    double seconds = iterate(h, a, total, comp);
    bench_max(&h->w, &seconds, 1, MPI_DOUBLE);
    return seconds > 1e-7 ? seconds : 1e-7;
}

static void clamp(int *n, int least, int most)
{
    *n = *n < least ? least : *n > most ? most : *n;
}

/* The computation lasts as long as the MPI's blocking calls by themselves, times what was asked
 * for. Beside computation they may take longer: who comes late makes others wait. */
void psdns_choose_work(struct psdns *h, const struct psdns_alg *blocking, double seconds)
{
    const double until = bench_now() + seconds;
    double us[PSDNS_SIDES][MOST], once = 0;
    h->side[PSDNS_ROW].units = h->side[PSDNS_COL].units = 0;
    for (int i = 0; i < WARMUPS; i++)
        once = warm_up(h, blocking);
    int n = room_for(h, once, until);
    clamp(&n, FEWEST, MOST);
    for (int i = 0; i < n; i++) {
        double total[PSDNS_SIDES], comp[PSDNS_SIDES];
        iterate(h, blocking, total, comp);
        for (int k = 0; k < PSDNS_SIDES; k++)
            us[k][i] = 1e6 * total[k];
    }
    for (int k = 0; k < PSDNS_SIDES; k++) {
        bench_max(&h->w, us[k], n, MPI_DOUBLE);
        h->side[k].units = h->o.work * bench_quantile(us[k], n, 0.5) * h->units_per_us;
        bench_max(&h->w, &h->side[k].units, 1, MPI_DOUBLE);
    }
}

/* Warms up and keeps score of as many iterations as there is time for. One at least is counted in
 * the first round, however long it takes; warm-ups that there is no time for are not made. */
void psdns_round(struct psdns *h, struct psdns_alg *a, int most, double until)
{
    const int first = a->iters == 0;
    double seconds = 1e-7;
    int warm = 0;
    bench_barrier(&h->w);
    while (warm < WARMUPS && room_for(h, seconds, until) > 0) {
        seconds = warm_up(h, a);
        warm++;
    }
    int n = room_for(h, seconds, until);
    clamp(&n, first, most);
    if (first)
        a->warmups = warm;
    for (int i = 0; i < n; i++) {
        double total[PSDNS_SIDES], comp[PSDNS_SIDES];
        iterate(h, a, total, comp);
        for (int k = 0; k < PSDNS_SIDES; k++) {
            a->total[k][a->iters] = total[k];
            a->comp[k][a->iters] = comp[k];
        }
        a->iters++;
    }
    for (int k = 0; k < PSDNS_SIDES; k++) {
        bench_max(&h->w, a->total[k] + a->iters - n, n, MPI_DOUBLE);
        bench_max(&h->w, a->comp[k] + a->iters - n, n, MPI_DOUBLE);
    }
}
