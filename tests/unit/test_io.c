/* SPDX-License-Identifier: BSD-3-Clause */
/* test_io.c - the record of MPI-IO: nothing is lost when bins become longer, when there are more
 * files than places, and when ranks are added up. Needs no running MPI: what it would say is here.
 */
#include "io/merge.h"
#include "io/record.h"

#include "testing/testing.h"

enum { BIN = 1 << CCO_FIRST_SHIFT, WRITE = CCO_IO_PART(CCO_IO_INDEPENDENT, CCO_IO_WRITE) };

static int processes = 4;

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = processes;
    return MPI_SUCCESS;
}

int PMPI_File_get_group(MPI_File file, MPI_Group *group)
{
    (void)file, (void)group;
    return MPI_ERR_FILE;
}

static char targets[2 * CCO_IO_FILES];
static MPI_File handle(int i)
{
    return (MPI_File)(void *)&targets[i];
}

/* A record that began some bins ago. */
static void begin(uint64_t bins)
{
    static cco_io_record record;
    cco_io_here = &record;
    memset(cco_io_here, 0, sizeof *cco_io_here);
    for (int i = 0; i < LEN(targets); i++)
        cco_io_forget(handle(i));
    cco_io_here->shift = CCO_FIRST_SHIFT;
    cco_io_here->begin.ticks = cco_ticks() - bins * BIN;
}

static uint64_t ago(double bins)
{
    return cco_ticks() - (uint64_t)(bins * BIN);
}

static void open_file(int i, const char *name)
{
    cco_io_opened(handle(i), name, strlen(name), MPI_COMM_NULL, ago(0));
}

static cco_io_amount in_bins(int part)
{
    cco_io_amount sum = {0};
    for (int i = 0; i < CCO_BINS; i++) {
        sum.calls += cco_io_here->bins[i][part].calls;
        sum.bytes += cco_io_here->bins[i][part].bytes;
        sum.ticks += cco_io_here->bins[i][part].ticks;
    }
    return sum;
}

static void doubling(void)
{
    begin(3);
    open_file(0, "a");
    uint64_t bytes = 0;
    for (int i = 0; i < 14; i++) { /* up to 16384 bins */
        cco_io_count(WRITE, handle(0), ago(2.5), (uint64_t)i + 7);
        cco_io_count(WRITE, handle(0), ago(0), (uint64_t)i);
        bytes += 2 * (uint64_t)i + 7;
        cco_io_here->begin.ticks -= (cco_ticks() - cco_io_here->begin.ticks);
    }
    const cco_io_amount sum = in_bins(WRITE), *file = &cco_io_here->files[0].of[WRITE];
    CHECK(cco_io_here->shift > CCO_FIRST_SHIFT + 3, "shift %u", cco_io_here->shift);
    CHECK(sum.calls == 28 && sum.bytes == bytes, "%llu calls, %llu bytes of %llu",
          (unsigned long long)sum.calls, (unsigned long long)sum.bytes, (unsigned long long)bytes);
    CHECK(file->calls == 28 && file->bytes == bytes && file->ticks == sum.ticks, "file and bins");
    uint64_t apart = 0;
    for (int i = 0; i < CCO_IO_WINDOWS; i++)
        apart += cco_io_here->files[0].apart[CCO_IO_WRITE][i].calls;
    CHECK(apart == 28, "%llu calls in windows", (unsigned long long)apart);
}

/* A call of ten bins: its bytes are everywhere, it is counted once, where it starts. */
static void spread(void)
{
    begin(20);
    open_file(0, "a");
    cco_io_count(WRITE, handle(0), cco_io_here->begin.ticks + 5 * BIN + BIN / 2, 1000000);
    CHECK(cco_io_here->bins[5][WRITE].calls == 1 && in_bins(WRITE).calls == 1, "calls");
    const uint64_t half = cco_io_here->bins[5][WRITE].bytes,
                   one = cco_io_here->bins[6][WRITE].bytes;
    CHECK(half > 0 && one > half && one < 3 * half, "%llu, %llu bytes", (unsigned long long)half,
          (unsigned long long)one);
    CHECK(in_bins(WRITE).bytes == 1000000, "bytes");
}

/* A split collective is one call, whose bytes move all the time. */
static void split(void)
{
    const int part = CCO_IO_PART(CCO_IO_SPLIT, CCO_IO_READ);
    begin(20);
    open_file(0, "a");
    cco_io_split_begin(part, handle(0), cco_io_here->begin.ticks + 2 * BIN);
    cco_io_split_end(part, handle(0), ago(0), 500);
    CHECK(in_bins(part).calls == 1 && in_bins(part).bytes == 500, "calls, bytes");
    CHECK(cco_io_here->bins[4][part].bytes > 0, "bytes between both");
}

/* The first in order stay, whenever they come; the others are one sum, also what is open. */
static void many_files(void)
{
    begin(3);
    for (int i = 2 * CCO_IO_FILES - 1; i >= 0; i--) {
        char name[16];
        snprintf(name, sizeof name, "f%03d", i);
        processes = i == 100 ? 8 : 4;
        open_file(i, name);
        cco_io_count(WRITE, handle(i), ago(0), 10);
        if (i % 2)
            cco_io_forget(handle(i));
    }
    cco_io_count(WRITE, handle(126), ago(0), 1); /* has lost its place, or its handle */
    uint64_t bytes = cco_io_here->other.of[WRITE].bytes;
    for (int i = 0; i < CCO_IO_FILES; i++) {
        const cco_io_file *file = &cco_io_here->files[i];
        const int number = atoi(file->name + 1);
        CHECK(number < CCO_IO_FILES - 1 || number == 100, "%s has a place", file->name);
        CHECK(file->of[WRITE].bytes == 10, "%s", file->name);
        bytes += file->of[WRITE].bytes;
    }
    CHECK(bytes == 2 * CCO_IO_FILES * 10 + 1, "%llu bytes", (unsigned long long)bytes);
    processes = 4;
}

/* The end of a long name counts; the same file opened again is the same. */
static void names(void)
{
    char name[600];
    memset(name, 'x', sizeof name - 1);
    memcpy(name + sizeof name - 4, "end", 4);
    begin(3);
    open_file(0, name);
    open_file(1, name);
    CHECK(strlen(cco_io_here->files[0].name) == CCO_IO_NAME - 1, "length");
    CHECK(strcmp(cco_io_here->files[0].name + CCO_IO_NAME - 4, "end") == 0, "end");
    CHECK(cco_io_here->files[0].of[CCO_IO_OPEN].calls == 2, "opened twice");
    CHECK(cco_io_here->files[1].processes == 0, "one file");
    cco_io_count(WRITE, handle(9), ago(0), 3); /* opened unseen */
    CHECK(cco_io_here->files[1].processes == 1 && !cco_io_here->files[1].name[0], "unseen");
}

static cco_io_sum all, one;

static double in_line(const double *bins)
{
    double sum = 0;
    for (int i = 0; i < CCO_BINS; i++)
        sum += bins[i];
    return sum;
}

/* Ranks with clocks of their own; ranks that take part are counted, in bins and windows. */
static void merging(void)
{
    for (int rank = 0; rank < 4; rank++) {
        begin(40);
        open_file(0, "shared");
        char name[16];
        snprintf(name, sizeof name, "own%d", rank);
        processes = 1;
        open_file(1, name);
        processes = 4;
        for (int i = 0; i < 10; i++)
            cco_io_count(WRITE, handle(0), ago(0), 100);
        cco_io_count(WRITE, handle(1), ago(0), 1);
        cco_io_resample(cco_io_here, 1e-3 * (1 + 0.01 * rank), 8e-3 * BIN, &one);
        if (rank == 0)
            memcpy(&all, &one, sizeof all);
        else
            cco_io_absorb(&all, &one);
    }
    CHECK(all.of[WRITE].calls == 44 && all.of[WRITE].bytes == 4004, "totals");
    CHECK(all.of[WRITE].ranks == 4 && all.files == 5, "%d files", all.files);
    CHECK(in_line(all.line[WRITE].calls) == 44, "calls of bins");
    const double bytes = in_line(all.line[WRITE].bytes);
    CHECK(bytes > 4003.99 && bytes < 4004.01, "%g bytes of bins", bytes);
    CHECK(strcmp(all.file[0].name, "shared") == 0, "%s is first", all.file[0].name);
    CHECK(strcmp(all.file[4].name, "own3") == 0, "%s is last", all.file[4].name);
    CHECK(all.file[0].of[WRITE].calls == 40, "calls of the file");
    const cco_io_together *apart = all.file[0].apart[CCO_IO_WRITE];
    CHECK(apart[0].ranks == 4 && apart[0].calls == 40, "%llu ranks, %llu calls together",
          (unsigned long long)apart[0].ranks, (unsigned long long)apart[0].calls);
}

/* More files than places on all ranks together: what stays is whole. */
static void merging_many_files(void)
{
    for (int rank = 0; rank < 8; rank++) {
        begin(3);
        for (int i = 0; i < CCO_IO_HANDLES; i++) {
            char name[16];
            snprintf(name, sizeof name, "f%03d", (i * 7 + rank * 13) % 90);
            open_file(i, name);
            cco_io_count(WRITE, handle(i), ago(0), 10);
        }
        cco_io_resample(cco_io_here, 1e-3, 1e-3 * BIN, &one);
        if (rank == 0)
            memcpy(&all, &one, sizeof all);
        else
            cco_io_absorb(&all, &one);
    }
    uint64_t bytes = all.other[WRITE].bytes;
    for (int i = 0; i < all.files; i++) {
        int expected = 0;
        for (int rank = 0; rank < 8; rank++)
            for (int k = 0; k < CCO_IO_HANDLES; k++)
                expected += (k * 7 + rank * 13) % 90 == atoi(all.file[i].name + 1) ? 10 : 0;
        CHECK((int)all.file[i].of[WRITE].bytes == expected, "%s", all.file[i].name);
        bytes += all.file[i].of[WRITE].bytes;
    }
    CHECK(all.files == CCO_IO_FILES && bytes == 8ull * CCO_IO_HANDLES * 10, "sum");
}

int main(void)
{
    doubling();
    spread();
    split();
    many_files();
    names();
    merging();
    merging_many_files();
    return testing_end("io");
}
