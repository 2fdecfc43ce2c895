/* SPDX-License-Identifier: BSD-3-Clause */
/* test_calls.c - the tables of counted calls (src/calls): sites beyond their room, calls in calls,
 * threads that end, requests that are not of messages, lists of ranks that become one; sums of
 * what ranks compute. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "calls/box.c"
#include "calls/calls.c"
#include "calls/count.c"
#include "calls/merge.c"
#include "calls/module.c"
#include "calls/next.c"
#include "calls/outermost.c"
#include "calls/python.c"
#include "calls/requests.c"
#include "calls/useful.c"
#include "testing/testing.h"

enum { SITES = 20000, ROUNDS = 3 };

static const cco_calls_key *key_of(int i)
{
    static cco_calls_key key;
    key.site = (const char *)0x10000 + 16 * i;
    key.what = CCO_CALLS_WHAT(i % 5, 0, i % 2);
    return &key;
}

/* Calls, bytes and ticks of a table; how many entries have a site. */
static cco_calls_entry sum_of(const cco_calls_thread *t, int *sited)
{
    cco_calls_entry sum = {0};
    *sited = 0;
    for (uint32_t i = 0; i <= t->mask; i++) {
        sum.calls += t->entries[i].calls;
        sum.bytes += t->entries[i].bytes;
        sum.ticks += t->entries[i].ticks;
        *sited += t->entries[i].calls > 0 && t->entries[i].key.site != NULL;
    }
    return sum;
}

static void many_sites(void)
{
    int sited;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SITES; i++)
            cco_calls_leave(100, 107, *key_of(i), 8);
    const cco_calls_entry sum = sum_of(cco_calls_mine, &sited);
    CHECK(sum.calls == ROUNDS * SITES, "%llu calls", (unsigned long long)sum.calls);
    CHECK(sum.bytes == 8 * ROUNDS * SITES, "%llu bytes", (unsigned long long)sum.bytes);
    CHECK(sum.ticks == 7 * ROUNDS * SITES, "%llu ticks", (unsigned long long)sum.ticks);
    CHECK(sited > 10000 && sited < MOST, "%d sites", sited);
    CHECK(cco_calls_mine->used <= cco_calls_mine->mask, "the table is full");
    for (int i = 0; i < 5000; i++) /* the first ones have entries of their own */
        CHECK(calls_place(cco_calls_mine, key_of(i))->calls == ROUNDS, "site %d", i);
}

/* As a wrapper; true if it counts. */
__attribute__((noinline)) static bool wrapped(bool (*inside)(void))
{
    const uint64_t start = cco_calls_enter(CCO_CALLS_Barrier, wrapped, __builtin_frame_address(0));
    if (inside != NULL && !inside())
        return false;
    if (start != 0)
        cco_calls_leave(start, start, *key_of(0), 0);
    return start != 0;
}

static bool in_another(void)
{
    return !wrapped(NULL);
}

static jmp_buf out;
static bool leaves(void)
{
    longjmp(out, 1);
}

static void calls_in_calls(void)
{
    CHECK(wrapped(in_another), "a call in a call counts");
    CHECK(wrapped(NULL), "the next call does not count");
    if (setjmp(out) == 0)
        wrapped(leaves);
    CHECK(wrapped(NULL), "a call does not count after one that was left");
    cco_calls_on = false;
    CHECK(!wrapped(NULL), "a call counts while nothing does");
    cco_calls_on = true;
    const uint64_t before = calls_place(cco_calls_mine, key_of(0))->calls;
    cco_calls_suspended = true;
    CHECK(wrapped(NULL), "it is seen");
    cco_calls_suspended = false;
    CHECK(calls_place(cco_calls_mine, key_of(0))->calls == before, "and not counted");
}

static cco_outermost *seen;

/* Whether a roll-call finds the outer call in a call that is inside it. */
static bool is_seen(void)
{
    return !wrapped(NULL) && seen->version % 2 == 1 && strcmp(seen->call, "Barrier") == 0 &&
           seen->site == (const void *)wrapped;
}

static void what_a_roll_call_sees(void)
{
    char text[8192] = "";
    CHECK(wrapped(NULL) && !cco_calls_watched, "nobody asks");
    seen = cresta_ahead.here();
    CHECK(seen->version == 0 && seen->call == NULL, "no call was seen");
    CHECK(wrapped(is_seen), "it is in the call");
    const uint64_t version = seen->version;
    CHECK(version % 2 == 0 && strcmp(seen->call, "Barrier") == 0, "that was the last call");
    CHECK(wrapped(is_seen) && seen->version > version, "the next call is another one");
    const size_t length = cresta_ahead.tell(seen->site, text, sizeof text);
    CHECK(length == strlen(text) && strncmp(text, "\tmodule=/", 9) == 0, "%s", text);
    CHECK(strstr(text, "\toffset=") != NULL, "%s", text);
    CHECK(cresta_ahead.tell(&text, text, sizeof text) == 0, "a place that is in no file");
    cco_calls_watched = false;
}

static void *thread_calls(void *unused)
{
    cco_calls_leave(1, 2, *key_of(1), 0);
    return unused;
}

static void *thread_calls_here(void *unused)
{
    cco_calls_leave(5, 9, (cco_calls_key){(const void *)thread_calls_here, 0}, 0);
    return unused;
}

/* Many places, in a black box: its table grows there, and its last calls are those. */
static void *thread_in_a_box(void *unused)
{
    cco_calls_mine = calls_make_table(); /* not one that a thread has left */
    const cco_calls_thread *t = cco_calls_mine;
    CHECK(t->last != NULL && t->told.entries == FIRST, "it is in the box");
    for (int i = 0; i < 5000; i++)
        cco_calls_leave(1, 8, *key_of(i), 8);
    const char *table = (const char *)t->entries;
    CHECK(t->told.entries == t->mask + 1 && t->told.entries > 5000, "the table has grown");
    CHECK(table > (const char *)t && table < (const char *)t + AREA, "in the area");
    CHECK(t->told.calls == 5000 && t->told.inside == 0, "all calls have ended");
    CHECK(t->last[4999 % CCO_BOX_LAST].site == (uintptr_t)key_of(4999)->site, "the last one");
    return unused;
}

static void a_black_box(void)
{
    char folder[] = "/tmp/crestacoll-unit-XXXXXX", job[64], file[sizeof box.file];
    const cco_box_head area = cco_calls_area();
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(job, sizeof job, "%s/crestacoll-0/one", folder);
    setenv("CRESTA_BLACKBOX", job, 1);
    struct rlimit most, least;
    getrlimit(RLIMIT_FSIZE, &most);
    least = most;
    least.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &least);
    cco_box_begin(&area);
    CHECK(box.head == NULL && box.why == EFBIG && access(job, F_OK) != 0, "%d", box.why);
    setrlimit(RLIMIT_FSIZE, &most);
    cco_box_begin(&area);
    CHECK(box.head != NULL && box.head->notes_bytes > 1000, "a box, with notes");
    snprintf(file, sizeof file, "%s", box.file);
    CHECK(access(file, R_OK) == 0, "%s", file);
    pthread_t thread;
    for (int i = 3; i < 64; i++) /* as programs do that go to the background */
        close(i);
    CHECK(pthread_create(&thread, NULL, thread_in_a_box, NULL) == 0, "a thread");
    pthread_join(thread, NULL);
    cco_box_end();
    CHECK(access(job, F_OK) != 0 && rmdir(folder) == 0, "the box and its folders are removed");
    cco_calls_watched = false;
}

static void in_a_thread(void *(*does)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, does, NULL);
    pthread_join(thread, NULL);
}

static int tables_now(void)
{
    int count = 0;
    for (const cco_calls_thread *t = cco_calls_threads(); t != NULL; t = t->next)
        count++;
    return count;
}

/* Ten threads one after the other have one table; the main one keeps its own. */
static void threads_that_end(void)
{
    cco_calls_main();
    const int before = tables_now();
    for (int i = 0; i < 10; i++)
        in_a_thread(thread_calls);
    CHECK(tables_now() == before + 1, "%d tables", tables_now());
    CHECK(calls_place(cco_calls_threads(), key_of(1))->calls == 10, "calls of threads are lost");
}

static MPI_Request request_of(uintptr_t number)
{
    MPI_Request request;
    memcpy(&request, &number, sizeof request);
    return request;
}

static cco_calls_of kind_of(int count, const MPI_Request *list, cco_calls_waited *waited)
{
    *waited = (cco_calls_waited){CCO_CALLS_OF_MESSAGES, 0, {{0}}};
    if (cco_calls_others_any())
        cco_calls_look(waited, count, list);
    return waited->of;
}

static void kinds_of_requests(void)
{
    cco_calls_waited waited;
    MPI_Request list[3] = {request_of(1000), request_of(2000), MPI_REQUEST_NULL};
    CHECK(kind_of(3, list, &waited) == CCO_CALLS_OF_MESSAGES, "messages");
    cco_calls_begun(list[1], CCO_CALLS_OF_IO);
    CHECK(kind_of(3, list, &waited) == CCO_CALLS_OF_SEVERAL, "a message and a file");
    CHECK(kind_of(2, list + 1, &waited) == CCO_CALLS_OF_IO, "a file");
    CHECK(kind_of(2, NULL, &waited) == CCO_CALLS_OF_MESSAGES, "no requests");
    CHECK(kind_of(-1, list, &waited) == CCO_CALLS_OF_MESSAGES, "a wrong number");
    kind_of(2, list + 1, &waited);
    cco_calls_ended(&waited, list + 1); /* a test that found it open */
    CHECK(cco_calls_others == 1, "%d open", cco_calls_others);
    list[1] = MPI_REQUEST_NULL;
    cco_calls_ended(&waited, list + 1);
    CHECK(cco_calls_others == 0, "%d open", cco_calls_others);
    for (uintptr_t i = 1; i <= 2 * (uintptr_t)SITES; i++) { /* never more than one at a time */
        list[0] = request_of(64 * i);
        cco_calls_begun(list[0], CCO_CALLS_OF_RMA);
        CHECK(kind_of(1, list, &waited) == CCO_CALLS_OF_RMA, "request %d", (int)i);
        cco_calls_ended(&waited, &(MPI_Request){MPI_REQUEST_NULL});
    }
    for (uintptr_t i = 1; i <= 5000; i++)
        cco_calls_begun(request_of(64 * i), CCO_CALLS_OF_RMA);
    CHECK(cco_calls_others == 1024, "%d open", cco_calls_others);
}

/* Instead of calls/job.c and places.c: a run of a second, of ticks of a microsecond. */
const cco_calls_job *cco_calls_job_end(void)
{
    static const cco_calls_job job = {.begin = {1000, 1.0}, .end = {1001000, 2.0}, .suspended = 50};
    return &job;
}

void cco_calls_places_begin(const uint64_t *nodes, int ranks)
{
    (void)nodes, (void)ranks;
}

cco_useful_place cco_calls_place_here(void)
{
    return (cco_useful_place){2, 2};
}

static void put_text(FILE *file, const char *text)
{
    fprintf(file, "'%s'", text);
}

/* Merging adds up the calls of two ranks that number their modules differently. */
static void two_ranks(void)
{
    size_t bytes, length;
    char *text = NULL;
    calls_end();
    const int before = all.sum.rows;
    CHECK(all.sum.ranks == 1 && all.sum.wall_us > 999999 && all.sum.wall_us < 1000001, "a second");
    /* The main thread was in calls of 7 us each; 50 us were not counted. */
    const double useful = 1e6 - 50 - 7.0 * ROUNDS * SITES;
    CHECK(fabs(all.useful.sum.us - useful) < 1, "useful: %f of %f", all.useful.sum.us, useful);
    CHECK(fabs(all.useful.sum.elapsed_us - (1e6 - 50)) < 1, "%f", all.useful.sum.elapsed_us);
    for (int i = 1; i < before; i++)
        CHECK(calls_compare(&all.rows[i - 1], &all.rows[i]) < 0, "row %d is in order", i);
    const row *own = NULL;          /* of this program's code: no such site is in a module */
    in_a_thread(thread_calls_here); /* whose table has room for another site */
    calls_end();
    for (int i = 0; i < all.sum.rows; i++)
        if (all.rows[i].module != NO_MODULE)
            own = &all.rows[i];
    CHECK(own != NULL && all.sum.modules == 1 && all.modules[0].path[0] == '/', "a module");
    const void *given = calls_give(NULL, &bytes);
    char *theirs = malloc(bytes);
    CHECK(given != NULL && theirs != NULL, "a list is given");
    memcpy(theirs, given, bytes);
    all.modules[0].id_bytes = sizeof all.modules[0].id; /* here is another file, there this one */
    memset(all.modules[0].id, 7, sizeof all.modules[0].id);
    const int rows_before = all.sum.rows;
    const uint64_t calls = all.rows[rows_before - 1].calls;
    CHECK(calls_take(NULL, theirs, bytes), "a list is taken");
    CHECK(all.sum.ranks == 2 && all.sum.modules == 2, "%d modules", all.sum.modules);
    CHECK(all.sum.rows == rows_before + 1, "%d rows of %d", all.sum.rows, rows_before);
    const row *last = &all.rows[all.sum.rows - 1];
    CHECK(last->calls == 2 * calls && last->ranks == 2, "rows add up");
    CHECK(last->us_max <= last->us, "max %g of %g", last->us_max, last->us);
    FILE *file = open_memstream(&text, &length);
    calls_put(file, put_text);
    fclose(file);
    CHECK(strstr(text, "\"suspended_us\": 50.0") != NULL, "suspended");
    CHECK(strstr(text, "\"nodes\": [{\"first_rank\": 2, \"ranks\": 2,") != NULL, "%s", text);
    CHECK(strstr(text, "\"build_id\": \"0707") != NULL, "build ids");
    free(text);
    free(theirs);
}

enum { RANKS = 7 };

/* A rank that computes for as long as a number says, and its node. */
static cco_useful useful_of(int rank, const int *nodes)
{
    static const double us[RANKS] = {30, 10, 50, 50, 10, 20, 40};
    cco_useful one = {.nodes = NULL};
    cco_useful_begin(&one, (cco_useful_place){rank, nodes[rank]}, us[rank], 100 + rank);
    return one;
}

/* As text, when ranks have come together in some order. */
static void useful_sum(char *text, size_t room, const int *order, const int *nodes)
{
    cco_useful sum = useful_of(order[0], nodes);
    cco_useful two = useful_of(order[1], nodes); /* that bring another one */
    for (int i = 2; i < RANKS; i++) {
        cco_useful next = useful_of(order[i], nodes);
        cco_useful_add(i == 2 ? &two : &sum, &next.sum, next.nodes);
        free(next.nodes);
    }
    cco_useful_add(&sum, &two.sum, two.nodes);
    FILE *file = fmemopen(text, room, "w");
    cco_useful_put(file, &sum);
    fclose(file);
    free(sum.nodes);
    free(two.nodes);
}

static void what_ranks_compute(void)
{
    static const int orders[][RANKS] = {
        {0, 1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1, 0}, {3, 4, 6, 0, 2, 5, 1}};
    static const int nodes[RANKS] = {0, 1, 0, 1, 1, 0, 6}, unknown[RANKS] = {0, 0, 0, -1, 0, 0, 0};
    char text[1000];
    for (int i = 0; i < 3; i++) {
        useful_sum(text, sizeof text, orders[i], nodes);
        CHECK(strcmp(text,
                     "{\"mean\": 30.000, \"min\": 10.000, \"max\": 50.000, \"min_rank\": 1,"
                     " \"max_rank\": 2, \"elapsed\": 106.000,\n  \"nodes\": ["
                     "{\"first_rank\": 0, \"ranks\": 3, \"mean\": 33.333, \"max\": 50.000},\n   "
                     "{\"first_rank\": 1, \"ranks\": 3, \"mean\": 23.333, \"max\": 50.000},\n   "
                     "{\"first_rank\": 6, \"ranks\": 1, \"mean\": 40.000, \"max\": 40.000}]}") == 0,
              "order %d: %s", i, text);
        useful_sum(text, sizeof text, orders[i], unknown);
        CHECK(strstr(text, "\"mean\": 30.000") && strstr(text, "\"nodes\": null}"), "%s", text);
    }
}

int main(void)
{
    many_sites();
    calls_in_calls();
    what_a_roll_call_sees();
    a_black_box();
    threads_that_end();
    kinds_of_requests();
    two_ranks();
    what_ranks_compute();
    return testing_end("calls");
}
