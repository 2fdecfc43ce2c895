/* SPDX-License-Identifier: BSD-3-Clause */
/* timelines.c - the timelines of some ranks become one (src/profile/timeline_merge.h), in as many
 * rows as there may be; what each rank had is in it once. */
#include "profile/timeline_merge.h"

#include <math.h>

#include "testing/testing.h"

static int rank, size;
static cco_timeline mine;

static double sum_of(const double *bins)
{
    double sum = 0;
    for (int i = 0; i < CCO_BINS; i++)
        sum += bins[i];
    return sum;
}

/* Rank r is in a bcast for r + 1 ticks, in the bin that begins at 8 r first bins; the ranks have
 * bins of two lengths. */
static void record(void)
{
    const uint64_t at = 8ull * (unsigned)rank << CCO_FIRST_SHIFT;
    cco_timeline_begin(&mine, 0, false);
    cco_timeline_add(&mine, CCO_BCAST, at, at + (unsigned)rank + 1);
    cco_timeline_add(&mine, CCO_BIN_SAMPLED, at, at + 1);
    if (rank % 2 == 1)
        cco_timeline_reach(&mine, (uint64_t)CCO_BINS << CCO_FIRST_SHIFT);
}

/* The ticks that the ranks of row `row` had. */
static double expected(const cco_timelines *t, int row)
{
    double sum = 0;
    for (int r = row * t->each; r < (row + 1) * t->each && r < size; r++)
        sum += r + 1;
    return sum;
}

static void check_rows(const cco_timelines *t, int most)
{
    const int rows = cco_timeline_each(size, t->each);
    const double all = size * (size + 1) / 2.0;
    CHECK(rows <= most, "%d rows, %d at most", rows, most);
    CHECK(most < size || t->each == 1, "%d ranks in a row", t->each);
    for (int i = 0; i < rows; i++)
        CHECK(fabs(sum_of(t->rows[i].busy) - expected(t, i)) < 1e-6, "row %d of %d: %g, not %g", i,
              rows, sum_of(t->rows[i].busy), expected(t, i));
    CHECK(fabs(sum_of(t->all->row.busy) - all) < 1e-6, "%g in all", sum_of(t->all->row.busy));
    CHECK(fabs(sum_of(t->all->of[CCO_BCAST]) - all) < 1e-6, "bcast");
    CHECK(fabs(sum_of(t->all->row.sampled) - size) < 1e-6, "samples");
    for (int r = 0; r < size; r++) /* two first bins are one of the longer ones */
        CHECK(fabs(t->all->most[4 * r] - (r + 1)) < 1e-6 && t->all->least[4 * r] == 0,
              "rank %d alone is in bin %d", r, 4 * r);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_watchdog(50);
    record();
    static const int mosts[] = {1, 2, 3, 4, 5, CCO_TIMELINE_ROWS};
    for (int i = 0; i < LEN(mosts); i++) {
        const double wall = rank == size - 1 ? 100.0 * (1 << CCO_FIRST_SHIFT) : 1;
        cco_timelines t = cco_timeline_merge(MPI_COMM_WORLD, &mine, 1.0, wall, mosts[i]);
        CHECK((t.all != NULL) == (rank == 0), "rank 0 alone has them");
        CHECK(t.bins == 50, "%d bins", t.bins);
        if (rank == 0)
            check_rows(&t, mosts[i]);
        cco_timelines_free(&t);
    }
    MPI_Finalize();
    return testing_end("timelines");
}
