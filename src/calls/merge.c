/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.c - what the threads and the ranks have counted becomes one list, and a member of the
 * profile.
 *
 * A place in the program is a module (an executable or a library, by its build id where it has one)
 * and an offset in it, which all ranks have alike.  The list travels as one piece: a head, modules,
 * rows, nodes. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "calls/count.h"
#include "calls/job.h"
#include "calls/module.h"
#include "calls/next.h"
#include "calls/places.h"
#include "calls/useful.h"
#include "profile/profile_merge.h"

enum { NO_MODULE = -1 };
typedef cco_calls_module module;

typedef struct row {
    uint64_t offset;
    int32_t module;
    uint16_t function;
    uint8_t of, distance;
    bool main;
    uint32_t ranks;
    uint64_t calls, calls_max, bytes;
    double us, us_min, us_max, longest_us;
} row;

typedef struct head {
    int32_t ranks, modules, rows, threads; /* threads: of the rank with the most */
    double wall_us, wall_us_min, wall_us_max, suspended_us;
    cco_useful_sum useful;
} head;

static struct {
    head sum;
    cco_useful useful; /* whose sum goes into the head when it travels */
    module *modules;
    row *rows;
    void *piece;
} all;

static int calls_compare(const void *a, const void *b)
{
    const row *x = a, *y = b;
#define CCO_BY(member)                                                                             \
    if (x->member != y->member)                                                                    \
    return x->member < y->member ? -1 : 1
    CCO_BY(function);
    CCO_BY(of);
    CCO_BY(distance);
    CCO_BY(main);
    CCO_BY(module);
    CCO_BY(offset);
#undef CCO_BY
    return 0;
}

/* Rows of one key become one.  `same_rank`: they are of threads of one rank. */
static void calls_absorb(row *into, const row *more, bool same_rank)
{
    into->calls += more->calls;
    into->bytes += more->bytes;
    into->us += more->us;
    if (more->longest_us > into->longest_us)
        into->longest_us = more->longest_us;
    if (same_rank) {
        into->calls_max = into->calls;
        into->us_min = into->us_max = into->us;
        return;
    }
    into->ranks += more->ranks;
    if (more->calls_max > into->calls_max)
        into->calls_max = more->calls_max;
    if (more->us_min < into->us_min)
        into->us_min = more->us_min;
    if (more->us_max > into->us_max)
        into->us_max = more->us_max;
}

static void calls_sort(bool same_rank)
{
    int kept = 0;
    if (all.sum.rows > 1)
        qsort(all.rows, (size_t)all.sum.rows, sizeof *all.rows, calls_compare);
    for (int i = 1; i < all.sum.rows; i++)
        if (calls_compare(&all.rows[kept], &all.rows[i]) == 0)
            calls_absorb(&all.rows[kept], &all.rows[i], same_rank);
        else
            all.rows[++kept] = all.rows[i];
    all.sum.rows = all.sum.rows > 0 ? kept + 1 : 0;
}

static bool calls_same_module(const module *a, const module *b)
{
    if (a->id_bytes != b->id_bytes || strcmp(a->function, b->function) != 0)
        return false;
    return a->id_bytes > 0 ? memcmp(a->id, b->id, sizeof a->id) == 0
                           : strcmp(a->path, b->path) == 0;
}

/* Its number; NO_MODULE where memory runs out. */
static int calls_module(const module *m)
{
    for (int i = 0; i < all.sum.modules; i++)
        if (calls_same_module(&all.modules[i], m))
            return i;
    module *more = realloc(all.modules, sizeof *more * (size_t)(all.sum.modules + 1));
    if (more == NULL)
        return NO_MODULE;
    all.modules = more;
    all.modules[all.sum.modules] = *m;
    return all.sum.modules++;
}

static bool calls_rows_room(int more)
{
    row *list = realloc(all.rows, sizeof *list * (size_t)(all.sum.rows + more + 1));
    if (list != NULL)
        all.rows = list;
    return list != NULL;
}

static void calls_place_site(row *r, const void *site)
{
    module m;
    r->module = cco_calls_module_of(site, &m, &r->offset) ? calls_module(&m) : NO_MODULE;
    if (r->module == NO_MODULE)
        r->offset = 0;
}

static void calls_add_thread(const cco_calls_thread *t, double tick_us)
{
    if (!calls_rows_room((int)t->used))
        return;
    for (uint32_t i = 0; i <= t->mask; i++) {
        const cco_calls_entry *e = &t->entries[i];
        if (e->calls == 0)
            continue;
        const double us = tick_us * (double)e->ticks;
        row *r = &all.rows[all.sum.rows++];
        *r = (row){.function = (uint16_t)(e->key.what >> 8),
                   .of = e->key.what >> 4 & 15,
                   .distance = e->key.what & 15,
                   .main = t->main,
                   .ranks = 1,
                   .calls = e->calls,
                   .calls_max = e->calls,
                   .bytes = e->bytes,
                   .us = us,
                   .us_min = us,
                   .us_max = us,
                   .longest_us = tick_us * (double)e->longest};
        calls_place_site(r, e->key.site);
    }
}

/* The time of a rank in the MPI is that of the thread that called MPI_Init. */
static uint64_t calls_main_ticks(void)
{
    uint64_t ticks = 0;
    for (const cco_calls_thread *t = cco_calls_threads(); t != NULL; t = t->next)
        for (uint32_t i = 0; t->main && i <= t->mask; i++)
            ticks += t->entries[i].calls > 0 ? t->entries[i].ticks : 0;
    return ticks;
}

static void calls_end(void)
{
    const cco_calls_job *job = cco_calls_job_end();
    const double tick_us = cco_tick_us(job->begin, job->end);
    const double wall = 1e6 * (job->end.seconds - job->begin.seconds);
    const double elapsed = wall - tick_us * (double)job->suspended;
    cco_useful_begin(&all.useful, cco_calls_place_here(),
                     elapsed - tick_us * (double)calls_main_ticks(), elapsed);
    all.sum = (head){.ranks = 1,
                     .wall_us = wall,
                     .wall_us_min = wall,
                     .wall_us_max = wall,
                     .suspended_us = tick_us * (double)job->suspended};
    for (const cco_calls_thread *t = cco_calls_threads(); t != NULL; t = t->next) {
        calls_add_thread(t, tick_us);
        all.sum.threads++;
    }
    calls_sort(true);
}

static const void *calls_give(void *unused, size_t *bytes)
{
    (void)unused;
    const struct {
        const void *from;
        size_t bytes;
    } pieces[] = {
        {&all.sum, sizeof all.sum},
        {all.modules, sizeof *all.modules * (size_t)all.sum.modules},
        {all.rows, sizeof *all.rows * (size_t)all.sum.rows},
        {all.useful.nodes,
         all.useful.nodes != NULL ? sizeof *all.useful.nodes * (size_t)all.useful.sum.nodes : 0},
    };
    enum { PIECES = sizeof pieces / sizeof *pieces };
    all.sum.useful = all.useful.sum;
    *bytes = 0;
    for (int i = 0; i < PIECES; i++)
        *bytes += pieces[i].bytes;
    free(all.piece);
    char *to = all.piece = malloc(*bytes);
    if (to == NULL)
        *bytes = 0;
    for (int i = 0; i < PIECES && to != NULL; to += pieces[i++].bytes)
        if (pieces[i].bytes > 0)
            memcpy(to, pieces[i].from, pieces[i].bytes);
    return all.piece;
}

static bool calls_take(void *unused, void *theirs, size_t bytes)
{
    (void)unused;
    head other;
    if (bytes < sizeof other)
        return true; /* a rank without memory */
    memcpy(&other, theirs, sizeof other);
    const module *m = (const void *)((const char *)theirs + sizeof other);
    const char *at = (const char *)(m + other.modules);
    cco_useful_add(&all.useful, &other.useful,
                   (const void *)(at + sizeof(row) * (size_t)other.rows));
    if (!calls_rows_room(other.rows))
        return true;
    for (int i = 0; i < other.rows; i++) {
        row *r = &all.rows[all.sum.rows++];
        memcpy(r, at + sizeof *r * (size_t)i, sizeof *r);
        if (r->module != NO_MODULE)
            r->module = calls_module(&m[r->module]);
    }
    all.sum.ranks += other.ranks;
    all.sum.wall_us += other.wall_us;
    all.sum.suspended_us += other.suspended_us;
    if (other.threads > all.sum.threads)
        all.sum.threads = other.threads;
    if (other.wall_us_min < all.sum.wall_us_min)
        all.sum.wall_us_min = other.wall_us_min;
    if (other.wall_us_max > all.sum.wall_us_max)
        all.sum.wall_us_max = other.wall_us_max;
    calls_sort(false);
    return true;
}

static const char *const kinds[] = {"messages", "collectives",   "io",
                                    "rma",      "communicators", "several"};
static const char *const distances[] = {"null", "\"node\"", "\"between\"", "\"unknown\""};

static void calls_put_module(FILE *file, const module *m, void (*put)(FILE *, const char *))
{
    fprintf(file, "\n  {\"path\": ");
    put(file, m->path);
    fprintf(file, ", \"build_id\": ");
    if (m->id_bytes == 0)
        fprintf(file, "null");
    for (uint32_t i = 0; i < m->id_bytes; i++)
        fprintf(file, i == 0 ? "\"%02x" : "%02x", m->id[i]);
    if (m->id_bytes > 0)
        fprintf(file, "\"");
    if (m->function[0] != '\0') {
        fprintf(file, ", \"function\": ");
        put(file, m->function);
    }
    fprintf(file, "}");
}

static void calls_put_row(FILE *file, const row *r)
{
    fprintf(file,
            "\n  {\"call\": \"%s\", \"part\": \"%s\", \"requests\": \"%s\", \"distance\": %s,"
            " \"main_thread\": %s, \"site\": ",
            cco_calls_names[r->function], cco_calls_parts[r->function], kinds[r->of],
            distances[r->distance], r->main ? "true" : "false");
    if (r->module == NO_MODULE)
        fprintf(file, "null");
    else
        fprintf(file, "[%d, %llu]", r->module, (unsigned long long)r->offset);
    fprintf(file,
            ",\n   \"ranks\": %u, \"calls\": %llu, \"calls_max\": %llu, \"bytes\": %llu,"
            " \"time_us\": {\"mean\": %.3f, \"min\": %.3f, \"max\": %.3f, \"longest\": %.3f}}",
            r->ranks, (unsigned long long)r->calls, (unsigned long long)r->calls_max,
            (unsigned long long)r->bytes, r->us / r->ranks, r->us_min, r->us_max, r->longest_us);
}

static void calls_put(FILE *file, void (*put_string)(FILE *, const char *))
{
    fprintf(file,
            "{\"wall_us\": {\"mean\": %.3f, \"min\": %.3f, \"max\": %.3f},"
            " \"suspended_us\": %.3f, \"threads\": %d,\n \"useful_us\": ",
            all.sum.wall_us / all.sum.ranks, all.sum.wall_us_min, all.sum.wall_us_max,
            all.sum.suspended_us / all.sum.ranks, all.sum.threads);
    cco_useful_put(file, &all.useful);
    fprintf(file, ",\n \"modules\": [");
    for (int i = 0; i < all.sum.modules; i++) {
        fprintf(file, i > 0 ? "," : "");
        calls_put_module(file, &all.modules[i], put_string);
    }
    fprintf(file, "],\n \"ahead\": ");
    cco_calls_put_ahead(file, put_string, cco_calls_names, CCO_CALLS_FUNCTIONS);
    fprintf(file, ",\n \"list\": [");
    for (int i = 0; i < all.sum.rows; i++) {
        fprintf(file, i > 0 ? "," : "");
        calls_put_row(file, &all.rows[i]);
    }
    fprintf(file, "]}");
}

CCO_EXPORT extern const cresta_profile_part_table cresta_profile_part;
const cresta_profile_part_table cresta_profile_part = {
    "calls", cco_calls_places_begin, calls_end, calls_give, calls_take, calls_put};
