/* SPDX-License-Identifier: BSD-3-Clause */
/* count.c - the tables of calls, one of each thread.
 *
 * A table is address space that the system gives pages of when they are written: for four sizes of
 * table one after the other, of which the next takes over from one that is three quarters full. */
#define _GNU_SOURCE
#include "calls/count.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "calls/python.h"

bool cco_calls_on = true, cco_calls_watched, cco_calls_suspended;
_Thread_local cco_calls_thread *cco_calls_mine CCO_CALLS_OWN;
_Thread_local const char *cco_calls_frame CCO_CALLS_OWN;

enum {
    FIRST = 256,       /* entries of the first size; each has four times as many as the last */
    MOST = FIRST * 64, /* entries of the last one */
    ALL = FIRST + FIRST * 4 + FIRST * 16 + MOST,
    KEPT = MOST / 16 * 13,              /* beyond that, sites have no entries of their own */
    LAST_AT = sizeof(cco_calls_thread), /* in an area */
    ENTRIES_AT = LAST_AT + CCO_BOX_LAST * sizeof(cco_box_call),
    AREA = ENTRIES_AT + ALL * sizeof(cco_calls_entry),
    PAGE = 1 << 16,
    MARK = 1 << 28 /* ticks between two marks */
};
_Static_assert(MOST - KEPT > 2 * CCO_CALLS_FUNCTIONS * CCO_CALLS_DISTANCES,
               "what has no site has room");

static struct {
    cco_calls_thread *first; /* of all that were ever made; none leaves */
    pthread_key_t ends;
    pthread_once_t once;
} tables = {.once = PTHREAD_ONCE_INIT};

/* Also within a call that was left by longjmp. */
static void calls_thread_ends(void *thread)
{
    cco_calls_thread *t = thread;
    t->told.inside = 0;
    t->outermost.version += t->outermost.version & 1;
    __atomic_store_n(&t->in_use, false, __ATOMIC_RELEASE);
}

static void calls_make_key(void)
{
    pthread_key_create(&tables.ends, calls_thread_ends);
}

const cco_calls_thread *cco_calls_threads(void)
{
    return __atomic_load_n(&tables.first, __ATOMIC_ACQUIRE);
}

/* The table of a thread that has ended. */
static cco_calls_thread *calls_take_over(void)
{
    for (cco_calls_thread *t = __atomic_load_n(&tables.first, __ATOMIC_ACQUIRE); t != NULL;
         t = t->next)
        if (!t->main && !__atomic_exchange_n(&t->in_use, true, __ATOMIC_ACQ_REL))
            return t;
    return NULL;
}

cco_box_head cco_calls_area(void)
{
    return (cco_box_head){.area_bytes = (AREA + PAGE - 1) / PAGE * PAGE, .last_at = LAST_AT};
}

static void *calls_own_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static cco_calls_thread *calls_make_table(void)
{
    uint64_t place = 0;
    cco_calls_thread *t = cco_box_area(ENTRIES_AT + FIRST * sizeof(cco_calls_entry), &place);
    if (t != NULL) {
        t->last = (void *)((char *)t + LAST_AT);
        t->place = place;
        t->told.table = ENTRIES_AT;
        t->told.entries = FIRST;
        __atomic_store_n(&cco_calls_watched, true, __ATOMIC_RELAXED);
    } else if ((t = calls_own_memory(AREA)) == NULL)
        return NULL;
    t->entries = (void *)((char *)t + ENTRIES_AT);
    t->mask = FIRST - 1;
    t->type = MPI_DATATYPE_NULL;
    t->in_use = true;
    t->next = __atomic_load_n(&tables.first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&tables.first, &t->next, t, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    return t;
}

/* In the first counted call of a thread.  Without memory nothing more is counted. */
__attribute__((noinline)) static cco_calls_thread *calls_my_table(void)
{
    pthread_once(&tables.once, calls_make_key);
    cco_calls_thread *t = calls_take_over();
    if (t == NULL)
        t = calls_make_table();
    if (t == NULL) {
        __atomic_store_n(&cco_calls_on, false, __ATOMIC_RELAXED);
        return NULL;
    }
    pthread_setspecific(tables.ends, t);
    return cco_calls_mine = t;
}

/* The upper bits of a product depend on all of its factor. */
static inline uint32_t calls_hash(const cco_calls_key *key)
{
    return (uint32_t)(((uintptr_t)key->site + (key->what << 48)) * 0x9e3779b97f4a7c15u >> 40);
}

static inline bool calls_same(const cco_calls_key *a, const cco_calls_key *b)
{
    return a->site == b->site && a->what == b->what;
}

static inline cco_calls_entry *calls_place(const cco_calls_thread *t, const cco_calls_key *key)
{
    cco_calls_entry *e = &t->entries[calls_hash(key) & t->mask];
    while (e->calls != 0 && !calls_same(&e->key, key))
        e = e == &t->entries[t->mask] ? t->entries : e + 1;
    return e;
}

/* Where the next size is: behind this one, unless a black box has no room for it. */
static cco_calls_entry *calls_next_size(cco_calls_thread *t)
{
    cco_calls_entry *next = t->entries + t->mask + 1;
    const size_t at = (size_t)((char *)next - (char *)t), bytes = 4 * (t->mask + 1) * sizeof *next;
    const bool boxed = t->told.entries != 0, more = boxed && cco_box_more(t->place + at, bytes);
    if (boxed && !more)
        next = calls_own_memory(ALL * sizeof *next);
    if (next != NULL)
        t->told.entries = 0; /* until it is filled */
    if (next != NULL && more)
        t->told.table = at;
    return next;
}

/* The next size takes over; false if there is no room for it. */
static bool calls_grow(cco_calls_thread *t)
{
    const bool boxed = t->told.entries != 0;
    cco_calls_entry *old = t->entries, *next = calls_next_size(t);
    const uint32_t size = t->mask + 1;
    if (next == NULL)
        return false;
    t->entries = next;
    t->mask = 4 * size - 1;
    for (uint32_t i = 0; i < size; i++)
        if (old[i].calls != 0)
            *calls_place(t, &old[i].key) = old[i];
    if (boxed && next == old + size)
        __atomic_store_n(&t->told.entries, 4 * size, __ATOMIC_RELEASE);
    return true;
}

/* An entry for calls that have none; NULL: there is no room. */
__attribute__((noinline)) static cco_calls_entry *calls_add(cco_calls_thread *t, cco_calls_key key)
{
    const uint32_t size = t->mask + 1;
    if (t->used >= KEPT || (size < MOST && t->used >= size / 4 * 3 && !calls_grow(t)))
        key.site = NULL;
    cco_calls_entry *e = calls_place(t, &key);
    if (e->calls == 0 && t->used == t->mask)
        return NULL; /* an empty one has to stay */
    if (e->calls == 0) {
        e->key = key;
        t->used++;
    }
    if (t->last != NULL)
        cco_box_note_site(key.site);
    return e;
}

/* A line of Python is noted before its first call, which may not end. */
static void calls_note_line(const void *site)
{
    const cco_calls_line *line = cco_calls_python ? cco_calls_line_of(site) : NULL;
    if (line != NULL && !__atomic_load_n(&line->noted, __ATOMIC_RELAXED))
        cco_box_note_site(site);
}

static void calls_mark(cco_calls_thread *t, uint64_t now)
{
    if (now - t->marked <= MARK)
        return;
    t->marked = now;
    cco_box_mark();
}

/* Tells the black box and roll-calls that a call has ended.  MPI_Finalize is left out: it
 * is counted while it still runs. */
__attribute__((noinline)) static void calls_close(cco_calls_thread *t, uint64_t start, uint64_t end,
                                                  const cco_calls_key *key)
{
    if (key->what >> 8 == CCO_CALLS_Finalize)
        return;
    if (t->outermost.version & 1)
        __atomic_store_n(&t->outermost.version, t->outermost.version + 1, __ATOMIC_RELEASE);
    if (t->last == NULL)
        return;
    t->last[t->told.calls % CCO_BOX_LAST] = (cco_box_call){(uintptr_t)key->site, key->what, start,
                                                           end};
    __atomic_store_n(&t->told.calls, t->told.calls + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&t->told.inside, 0, __ATOMIC_RELEASE);
    calls_note_line(key->site);
    calls_mark(t, end);
}

void cco_calls_leave(uint64_t start, uint64_t end, cco_calls_key key, uint64_t bytes)
{
    cco_calls_frame = NULL;
    if (__builtin_expect(cco_calls_python, 0))
        key.site = cco_calls_python_site(key.site);
    cco_calls_thread *t = cco_calls_mine;
    if (__builtin_expect(t == NULL, 0) && (t = calls_my_table()) == NULL)
        return;
    if (__builtin_expect(__atomic_load_n(&cco_calls_watched, __ATOMIC_RELAXED), 0))
        calls_close(t, start, end, &key);
    if (__builtin_expect(cco_calls_suspended, 0))
        return;
    cco_calls_entry *e = calls_place(t, &key);
    if (__builtin_expect(e->calls == 0, 0) && (e = calls_add(t, key)) == NULL)
        return;
    const uint64_t ticks = end > start ? end - start : 0;
    e->calls++;
    e->bytes += bytes;
    e->ticks += ticks;
    if (ticks > e->longest)
        e->longest = ticks;
}

/* Handles of the program's own types may be used again for others. */
static bool calls_is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner = 0;
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

static uint64_t calls_type_size(MPI_Datatype type)
{
    MPI_Count size = 0;
    if (!cco_is_type(type) || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return 0;
    cco_calls_thread *t = cco_calls_mine;
    if (t != NULL && calls_is_named(type)) {
        t->type = type;
        t->type_size = (uint64_t)size;
    }
    return (uint64_t)size;
}

uint64_t cco_calls_bytes(MPI_Count count, MPI_Datatype type)
{
    if (count <= 0)
        return 0;
    const cco_calls_thread *t = cco_calls_mine;
    const uint64_t size = t != NULL && t->type == type ? t->type_size : calls_type_size(type);
    return (uint64_t)count * size;
}

cco_calls_thread *cco_calls_own_thread(void)
{
    return cco_calls_mine != NULL ? cco_calls_mine : calls_my_table();
}

static bool asked; /* by roll-calls */

bool cco_calls_ask(void)
{
    __atomic_store_n(&cco_calls_watched, true, __ATOMIC_RELAXED);
    return !__atomic_exchange_n(&asked, true, __ATOMIC_RELAXED);
}

uint64_t cco_calls_open(cco_calls_function function, const void *site)
{
    cco_calls_thread *t = cco_calls_own_thread();
    if (t == NULL)
        return cco_ticks();
    if (cco_calls_python)
        site = cco_calls_python_site_before(site);
    if (__atomic_load_n(&asked, __ATOMIC_RELAXED)) {
        cco_outermost *o = &t->outermost;
        __atomic_store_n(&o->site, site, __ATOMIC_RELAXED);
        __atomic_store_n(&o->call, &cco_calls_names[function][4], __ATOMIC_RELAXED);
        __atomic_store_n(&o->version, o->version | 1, __ATOMIC_RELEASE);
    }
    if (t->last == NULL)
        return cco_ticks();
    calls_note_line(site);
    const uint64_t now = cco_ticks();
    t->told.site = (uintptr_t)site;
    t->told.start = now;
    __atomic_store_n(&t->told.inside, function + 1, __ATOMIC_RELEASE);
    calls_mark(t, now);
    return now;
}

/* The thread that comes here is the main one.  What it counted before there was a black box, in a
 * session, stays where it is. */
void cco_calls_main(void)
{
    cco_calls_thread *t = cco_calls_own_thread();
    if (t != NULL && t->last == NULL && cco_box_is_open()) {
        t->main = true;
        t = calls_make_table();
        cco_calls_mine = t != NULL ? t : cco_calls_mine;
    }
    if (t != NULL)
        t->told.main = t->main = true;
}
