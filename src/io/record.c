/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c - see record.h. */
#include "io/record.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

cco_io_record *cco_io_here;
bool cco_io_recording;
_Thread_local const char *cco_io_frame __attribute__((tls_model("initial-exec")));

static bool begun;

/* An open file: its place among the files, OTHER if it has none; and the split collective that is
 * under way on it, of which there can be one. */
enum { OTHER = -1 };
typedef struct handle {
    MPI_File file;
    int place;
    uint64_t split_start;
} handle;
static handle handles[CCO_IO_HANDLES];
static int open_handles, last_used;

void cco_io_begin(void)
{
    int level = MPI_THREAD_SINGLE;
    if (cco_io_here == NULL)
        cco_io_here = calloc(1, sizeof *cco_io_here);
    if (cco_io_here == NULL)
        cco_fatal("no memory for the record of MPI-IO (%zu bytes)", sizeof *cco_io_here);
    PMPI_Query_thread(&level);
    cco_io_here->begin = cco_clock_now();
    cco_io_here->shift = CCO_FIRST_SHIFT;
    cco_io_here->shared = level == MPI_THREAD_MULTIPLE;
    begun = cco_io_recording = true;
}

void cco_io_control(int level)
{
    if (begun)
        cco_io_recording = level != 0;
}

static void io_record_take(void)
{
    while (cco_io_here->shared && __atomic_exchange_n(&cco_io_here->taken, true, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void io_record_give(void)
{
    if (cco_io_here->shared)
        __atomic_store_n(&cco_io_here->taken, false, __ATOMIC_RELEASE);
}

static void io_record_add(cco_io_amount *to, const cco_io_amount *more)
{
    to->calls += more->calls;
    to->bytes += more->bytes;
    to->ticks += more->ticks;
}

/* Bins and windows become twice as long. */
static void fold_file(cco_io_file *file)
{
    for (int direction = 0; direction < CCO_IO_DIRECTIONS; direction++) {
        cco_io_apart *w = file->apart[direction];
        for (int i = 0; i < CCO_IO_WINDOWS; i++) {
            const cco_io_apart none = {0}, *a = 2 * i < CCO_IO_WINDOWS ? &w[2 * i] : &none,
                               *b = 2 * i < CCO_IO_WINDOWS ? &w[2 * i + 1] : &none;
            w[i] = (cco_io_apart){a->calls + b->calls, a->bytes + b->bytes};
        }
    }
}

static void io_record_fold(cco_io_record *record)
{
    for (int i = 0; i < CCO_BINS; i++) {
        cco_io_amount sum[CCO_IO_PARTS] = {0};
        for (int k = 2 * i; k < 2 * i + 2 && k < CCO_BINS; k++)
            for (int part = 0; part < CCO_IO_PARTS; part++)
                io_record_add(&sum[part], &record->bins[k][part]);
        memcpy(record->bins[i], sum, sizeof sum);
    }
    for (int i = 0; i < CCO_IO_FILES && record->files[i].processes > 0; i++)
        fold_file(&record->files[i]);
    record->shift++;
}

void cco_io_reach(cco_io_record *record, uint64_t now)
{
    while (now > record->begin.ticks && (now - record->begin.ticks) >> record->shift >= CCO_BINS)
        io_record_fold(record);
}

static uint64_t bin_of(const cco_io_record *record, uint64_t now)
{
    return now > record->begin.ticks ? (now - record->begin.ticks) >> record->shift : 0;
}

/* An amount in as many bins as the time from `start` to `end` takes, by their part of it; in all
 * they get what it is.  The call counts where it starts. */
static void io_record_spread(cco_io_record *record, int part, uint64_t start, uint64_t end,
                             const cco_io_amount *amount)
{
    const uint64_t first = bin_of(record, start), last = bin_of(record, end);
    if (first == last || end <= start) {
        io_record_add(&record->bins[last][part], amount);
        return;
    }
    cco_io_amount given = {amount->calls, 0, 0};
    record->bins[first][part].calls += amount->calls;
    for (uint64_t bin = first; bin <= last; bin++) {
        const uint64_t until = record->begin.ticks + ((bin + 1) << record->shift);
        const double share = bin < last ? (double)(until - start) / (double)(end - start) : 1;
        cco_io_amount now = *amount;
        if (bin < last) {
            now.bytes = (uint64_t)(share * (double)amount->bytes);
            now.ticks = (uint64_t)(share * (double)amount->ticks);
        }
        record->bins[bin][part].bytes += now.bytes - given.bytes;
        record->bins[bin][part].ticks += now.ticks - given.ticks;
        given = now;
    }
}

bool cco_io_before(const cco_io_file *a, const cco_io_file *b)
{
    return a->processes != b->processes ? a->processes > b->processes
                                        : strcmp(a->name, b->name) < 0;
}

/* What a file counts goes to the others. */
static void io_record_evict(int place)
{
    cco_io_file *file = &cco_io_here->files[place];
    for (int part = 0; part < CCO_IO_PARTS; part++)
        io_record_add(&cco_io_here->other.of[part], &file->of[part]);
    memset(file, 0, sizeof *file);
    for (int i = 0; i < open_handles; i++)
        if (handles[i].place == place)
            handles[i].place = OTHER;
}

/* The place of a file that has been opened: the one that it had, a free one, or that of the last
 * in order, if it comes before that. */
static int io_record_place_of(const cco_io_file *opened)
{
    int last = 0;
    for (int i = 0; i < CCO_IO_FILES; i++) {
        cco_io_file *file = &cco_io_here->files[i];
        if (file->processes == opened->processes && strcmp(file->name, opened->name) == 0)
            return i;
        if (file->processes == 0) {
            *file = *opened;
            return i;
        }
        if (cco_io_before(&cco_io_here->files[last], file))
            last = i;
    }
    if (!cco_io_before(opened, &cco_io_here->files[last]))
        return OTHER;
    io_record_evict(last);
    cco_io_here->files[last] = *opened;
    return last;
}

/* NULL where no more can be kept. */
static handle *io_record_keep(MPI_File file, const cco_io_file *opened)
{
    if (open_handles == CCO_IO_HANDLES)
        return NULL;
    const int place = io_record_place_of(opened);
    last_used = open_handles++;
    handles[last_used] = (handle){.file = file, .place = place};
    return &handles[last_used];
}

/* One that was opened where we did not see it, as by a Fortran binding that we do not know. */
static handle *io_record_meet(MPI_File file)
{
    if (open_handles == CCO_IO_HANDLES)
        return NULL;
    cco_io_file opened = {.processes = 1};
    MPI_Group group = MPI_GROUP_NULL;
    if (PMPI_File_get_group(file, &group) == MPI_SUCCESS) {
        PMPI_Group_size(group, &opened.processes);
        PMPI_Group_free(&group);
    }
    return io_record_keep(file, &opened);
}

static handle *io_record_find(MPI_File file)
{
    if (last_used < open_handles && handles[last_used].file == file)
        return &handles[last_used];
    for (int i = 0; i < open_handles; i++)
        if (handles[i].file == file) {
            last_used = i;
            return &handles[i];
        }
    return io_record_meet(file);
}

/* The amount, whose time and bytes lie between `start` and `end`. */
static void io_record_count(int part, int place, uint64_t start, uint64_t end,
                            const cco_io_amount *amount)
{
    cco_io_record *record = cco_io_here;
    const int kind = part / CCO_IO_DIRECTIONS;
    cco_io_file *file = place == OTHER ? &record->other : &record->files[place];
    if (bin_of(record, end) >= CCO_BINS)
        cco_io_reach(record, end);
    io_record_spread(record, part, start, end, amount);
    io_record_add(&file->of[part], amount);
    if (kind == CCO_IO_INDEPENDENT || kind == CCO_IO_NONBLOCKING) {
        const uint64_t window = bin_of(record, start) / CCO_IO_IN_WINDOW;
        cco_io_apart *apart = &file->apart[part % CCO_IO_DIRECTIONS][window];
        apart->calls += amount->calls;
        apart->bytes += amount->bytes;
    }
}

uint64_t cco_io_bytes(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    return PMPI_Get_elements_x(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0
               ? (uint64_t)bytes
               : 0;
}

uint64_t cco_io_asked(MPI_Count number, MPI_Datatype type)
{
    MPI_Count size = 0;
    return number > 0 && PMPI_Type_size_x(type, &size) == MPI_SUCCESS && size > 0
               ? (uint64_t)number * (uint64_t)size
               : 0;
}

void cco_io_count(int part, MPI_File file, uint64_t start, uint64_t bytes)
{
    const uint64_t end = cco_ticks();
    io_record_take();
    const handle *h = io_record_find(file);
    io_record_count(part, h != NULL ? h->place : OTHER, start, end,
                    &(cco_io_amount){1, bytes, end > start ? end - start : 0});
    io_record_give();
}

void cco_io_split_begin(int part, MPI_File file, uint64_t start)
{
    const uint64_t end = cco_ticks();
    io_record_take();
    handle *h = io_record_find(file);
    if (h != NULL)
        h->split_start = start;
    io_record_count(part, h != NULL ? h->place : OTHER, start, end,
                    &(cco_io_amount){1, 0, end > start ? end - start : 0});
    io_record_give();
}

void cco_io_split_end(int part, MPI_File file, uint64_t start, uint64_t bytes)
{
    const uint64_t end = cco_ticks();
    io_record_take();
    handle *h = io_record_find(file);
    const int place = h != NULL ? h->place : OTHER;
    const uint64_t from = h != NULL && h->split_start != 0 ? h->split_start : start;
    io_record_count(part, place, from, end, &(cco_io_amount){0, bytes, 0});
    io_record_count(part, place, start, end, &(cco_io_amount){0, 0, end > start ? end - start : 0});
    if (h != NULL)
        h->split_start = 0;
    io_record_give();
}

int cco_io_forget(MPI_File file)
{
    int place = OTHER;
    io_record_take();
    for (int i = 0; i < open_handles; i++)
        if (handles[i].file == file) {
            place = handles[i].place;
            handles[i] = handles[--open_handles];
            break;
        }
    io_record_give();
    return place;
}

void cco_io_opened(MPI_File file, const char *name, size_t length, MPI_Comm comm, uint64_t start)
{
    cco_io_file opened = {.processes = 1};
    const size_t most = sizeof opened.name - 1, cut = length > most ? length - most : 0;
    memcpy(opened.name, name + cut, length - cut);
    PMPI_Comm_size(comm, &opened.processes);
    cco_io_forget(file); /* if it was closed where we did not see it */
    io_record_take();
    io_record_keep(file, &opened);
    io_record_give();
    cco_io_count(CCO_IO_OPEN, file, start, 0);
}

void cco_io_closed(int place, uint64_t start)
{
    const uint64_t end = cco_ticks();
    io_record_take();
    io_record_count(CCO_IO_CLOSE, place, start, end,
                    &(cco_io_amount){1, 0, end > start ? end - start : 0});
    io_record_give();
}
