/* SPDX-License-Identifier: BSD-3-Clause */
/* whereabouts.c - see whereabouts.h.  A slot for each thread, with a version that is odd while its
 * thread writes. */
#include "hang/whereabouts.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

enum { WORDS = sizeof(cco_open_call) / sizeof(uint64_t) };
_Static_assert(sizeof(cco_open_call) == WORDS * sizeof(uint64_t), "a stay is copied by words");

/* The threads that come too late for a slot tell nothing. */
typedef struct slot {
    uint64_t version;
    uint64_t now[WORDS], begun[WORDS];
    cco_where_step step;
    const cco_outermost *outermost; /* NULL: nobody sees it */
    bool taken;
} __attribute__((aligned(64))) slot;

bool cco_where_wanted;

static const cco_ahead *ahead; /* NULL: there is none */
static slot slots[CCO_WHERE_THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    pthread_key_t key;
    bool made;
} ends; /* of threads */

static _Thread_local slot *mine __attribute__((tls_model("initial-exec")));

static const cco_where_step nowhere = {-1, -1, CCO_STAY_NOBODY, 0};

void cco_where_lock(bool locks)
{
    if (locks)
        pthread_mutex_lock(&lock);
    else
        pthread_mutex_unlock(&lock);
}

static void whereabouts_give_back(void *data)
{
    slot *s = data;
    __atomic_store_n(&s->taken, false, __ATOMIC_RELEASE);
}

static slot *whereabouts_take(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; mine == NULL && i < CCO_WHERE_THREADS; i++)
        if (!__atomic_load_n(&slots[i].taken, __ATOMIC_ACQUIRE)) {
            mine = &slots[i];
            memset(mine, 0, sizeof *mine);
            mine->step = nowhere;
            mine->outermost = ahead != NULL ? ahead->here() : NULL;
            __atomic_store_n(&mine->taken, true, __ATOMIC_RELEASE);
        }
    pthread_mutex_unlock(&lock);
    if (mine != NULL && ends.made)
        pthread_setspecific(ends.key, mine);
    return mine;
}

static inline slot *whereabouts_own(void)
{
    if (!cco_where_on())
        return NULL;
    return mine != NULL ? mine : whereabouts_take();
}

void cco_where_begin(const cco_ahead *library)
{
    ahead = library;
    if (!ends.made)
        ends.made = pthread_key_create(&ends.key, whereabouts_give_back) == 0;
    __atomic_store_n(&cco_where_wanted, true, __ATOMIC_RELEASE);
    if (ahead != NULL && mine == NULL) /* this thread may come to no call that writes a stay */
        whereabouts_take();
}

void cco_where_end(void)
{
    __atomic_store_n(&cco_where_wanted, false, __ATOMIC_RELEASE);
}

static void open_slot(slot *s)
{
    __atomic_store_n(&s->version, s->version + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void close_slot(slot *s)
{
    __atomic_store_n(&s->version, s->version + 1, __ATOMIC_RELEASE);
}

static void whereabouts_put(uint64_t *to, const cco_open_call *stay)
{
    uint64_t words[WORDS];
    memcpy(words, stay, sizeof words);
    for (int i = 0; i < WORDS; i++)
        __atomic_store_n(&to[i], words[i], __ATOMIC_RELAXED);
}

static void put_step(slot *s, const cco_where_step *step)
{
    __atomic_store_n(&s->step.round, step->round, __ATOMIC_RELAXED);
    __atomic_store_n(&s->step.rounds, step->rounds, __ATOMIC_RELAXED);
    __atomic_store_n(&s->step.ranks, step->ranks, __ATOMIC_RELAXED);
    __atomic_store_n(&s->step.peer, step->peer, __ATOMIC_RELAXED);
}

void cco_where_enter(const cco_open_call *stay)
{
    slot *s = whereabouts_own();
    if (s == NULL)
        return;
    cco_open_call now = *stay;
    now.inside = 1;
    open_slot(s);
    whereabouts_put(s->now, &now);
    put_step(s, &nowhere);
    close_slot(s);
}

void cco_where_leave(void)
{
    slot *s = whereabouts_own();
    if (s == NULL)
        return;
    open_slot(s);
    __atomic_store_n(&s->now[offsetof(cco_open_call, inside) / sizeof(uint64_t)], 0,
                     __ATOMIC_RELAXED);
    close_slot(s);
}

void cco_where_is_begun(const cco_open_call *stay)
{
    slot *s = whereabouts_own();
    if (s == NULL)
        return;
    open_slot(s);
    whereabouts_put(s->begun, stay);
    close_slot(s);
}

void cco_where_impl(const char *impl)
{
    enum {
        AT = offsetof(cco_open_call, impl) / sizeof(uint64_t),
        N = CCO_STAY_IMPL / sizeof(uint64_t)
    };
    slot *s = whereabouts_own();
    uint64_t words[N] = {0};
    if (s == NULL)
        return;
    strncpy((char *)words, impl, sizeof words - 1);
    open_slot(s);
    for (int i = 0; i < N; i++)
        __atomic_store_n(&s->now[AT + i], words[i], __ATOMIC_RELAXED);
    close_slot(s);
}

void cco_where_wait(const cco_where_step *step)
{
    slot *s = whereabouts_own();
    if (s != NULL)
        put_step(s, step);
}

/* A call that writes no stay counts as one; its version differs from those of stays. */
static void whereabouts_add_outermost(const cco_outermost *o, cco_where *where)
{
    const uint64_t version = __atomic_load_n(&o->version, __ATOMIC_ACQUIRE);
    const char *call = __atomic_load_n(&o->call, __ATOMIC_ACQUIRE);
    where->seen = ahead->sees_all();
    where->site = __atomic_load_n(&o->site, __ATOMIC_RELAXED);
    if (call == NULL || where->now.inside ||
        (version % 2 == 0 && where->now.call != NULL && strcmp(call, where->now.call) == 0))
        return;
    where->now = cco_open_call_of(CCO_STAY_OTHER, call, NULL);
    where->now.inside = version % 2;
    where->version = version | (uint64_t)1 << 63;
}

size_t cco_where_tell(const void *site, char *text, size_t room)
{
    return ahead != NULL && site != NULL ? ahead->tell(site, text, room) : 0;
}

/* Reads all at one moment: the thread may write meanwhile, and then it is read again. */
bool cco_where_read(int k, cco_where *where)
{
    enum { TRIES = 1000 };
    const slot *s = &slots[k];
    uint64_t now[WORDS], begun[WORDS];
    if (k >= CCO_WHERE_THREADS || !__atomic_load_n(&s->taken, __ATOMIC_ACQUIRE))
        return false;
    for (int i = 0; i < TRIES; i++) {
        where->version = __atomic_load_n(&s->version, __ATOMIC_ACQUIRE);
        for (int w = 0; w < WORDS; w++) {
            now[w] = __atomic_load_n(&s->now[w], __ATOMIC_RELAXED);
            begun[w] = __atomic_load_n(&s->begun[w], __ATOMIC_RELAXED);
        }
        where->step.round = __atomic_load_n(&s->step.round, __ATOMIC_RELAXED);
        where->step.rounds = __atomic_load_n(&s->step.rounds, __ATOMIC_RELAXED);
        where->step.ranks = __atomic_load_n(&s->step.ranks, __ATOMIC_RELAXED);
        where->step.peer = __atomic_load_n(&s->step.peer, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        const uint64_t after = __atomic_load_n(&s->version, __ATOMIC_RELAXED);
        if (where->version % 2 == 0 && where->version == after) {
            memcpy(&where->now, now, sizeof now);
            memcpy(&where->begun, begun, sizeof begun);
            where->seen = false;
            where->site = NULL;
            if (s->outermost != NULL)
                whereabouts_add_outermost(s->outermost, where);
            return true;
        }
    }
    return false;
}

/* Stays are written by their threads without a lock; only this word may be taken back by others. */
static void whereabouts_forget(uint64_t *stay, const struct cco_where_comm *comm)
{
    uint64_t *word = &stay[offsetof(cco_open_call, comm) / sizeof(uint64_t)];
    uint64_t is = (uint64_t)(uintptr_t)comm;
    __atomic_compare_exchange_n(word, &is, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void cco_where_forget(const struct cco_where_comm *comm)
{
    for (int i = 0; i < CCO_WHERE_THREADS; i++) {
        whereabouts_forget(slots[i].now, comm);
        whereabouts_forget(slots[i].begun, comm);
    }
}
