/* SPDX-License-Identifier: BSD-3-Clause */
/* progress_thread.c - see progress_thread.h. */
#include "wait/progress_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "comm/facts.h"

enum {
    SHORTEST_NS = 20 * 1000,   /* sleep after something moved; */
    IN_MEMORY_NS = 128 * 1000, /* that of what passes through memory: to wake on a core that another
                                  thread uses costs it some 4 us */
    TIMES_A_POLL = 16, /* but so many times as long as a poll that finds little: it takes time from
                          somebody, while one that copies much does what must be done */
    LONGEST_NS = 1000 * 1000,
    BRISK_NS = 500 * 1000,   /* where operations end before they are polled here */
    STARTED_NS = 150 * 1000, /* sleep beyond which a message that has not come is one that flows */
    MUCH_NS = 30 * 1000,     /* of copying in one poll: it came late */
    SLICE_NS = 200 * 1000    /* longer than a poll; Linux has 700 us and more for everybody */
};

/* What came of a poll. */
typedef enum found { NONE, LITTLE, MUCH, NEWS } found;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool runs;   /* the thread is there */
    bool stops;  /* it shall end */
    bool sleeps; /* or is about to */
    int under_way;
    int in_mpi;      /* of these, what is not in memory only */
    unsigned spared; /* polls by the program's threads so far */
    bool lingers;    /* what began last is in memory, and may begin again before long */
    unsigned begun;  /* operations so far */
} poller = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* Who is in the MPI, or must not be. */
bool cco_progress_thread_ops_off;
static struct {
    int held;       /* reductions with operations of the program */
    bool held_call; /* and one that blocks */
    bool inside;    /* the progress thread is in the MPI, or about to ask whether it may */
} in_turn;

static bool is_idle(void)
{
    return __atomic_load_n(&poller.under_way, __ATOMIC_SEQ_CST) <= 0;
}

static bool progress_thread_shall_stop(void)
{
    return __atomic_load_n(&poller.stops, __ATOMIC_ACQUIRE);
}

static void sleep_while_idle(void)
{
    pthread_mutex_lock(&poller.lock);
    __atomic_store_n(&poller.sleeps, true, __ATOMIC_SEQ_CST); /* before the count is read last */
    while (is_idle() && !progress_thread_shall_stop())
        pthread_cond_wait(&poller.wake, &poller.lock);
    __atomic_store_n(&poller.sleeps, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&poller.lock);
}

static long at_most(long a, long b)
{
    return a < b ? a : b;
}

static long at_least(long a, long b)
{
    return a > b ? a : b;
}

static long progress_thread_shortest(void)
{
    return __atomic_load_n(&poller.in_mpi, __ATOMIC_RELAXED) > 0 ? SHORTEST_NS : IN_MEMORY_NS;
}

/* Times, ns. */
typedef struct back_off {
    long poll;     /* that finds little: the shortest, or a little more with each that was longer */
    long ran;      /* of this thread on a core, to the last sleep */
    long expected; /* when something moves next; 0: unknown */
    unsigned begun;  /* operations, at the last poll */
    unsigned spared; /* polls of others, then */
    bool brisk;      /* they come and go between two polls */
} back_off;

/* Did anything begin since the last poll? */
static bool count_begun(back_off *p)
{
    const unsigned now = __atomic_load_n(&poller.begun, __ATOMIC_RELAXED), last = p->begun;
    const int ended = (int)(now - last) - __atomic_load_n(&poller.under_way, __ATOMIC_RELAXED);
    p->brisk = ended > 0;
    p->begun = now;
    return now != last;
}

/* Did another thread poll since the last poll?  Then it will again before long; if not, because an
 * error handler of the program took it elsewhere, this one goes on with the next. */
static bool others_poll(back_off *p)
{
    const unsigned now = __atomic_load_n(&poller.spared, __ATOMIC_RELAXED), last = p->spared;
    p->spared = now;
    return now != last;
}

/* Polls, unless others do or there is nothing. */
static found poll_once(cco_progress_poll poll, back_off *p)
{
    const bool began = count_begun(p);
    p->expected = 0;
    if (is_idle())
        return NONE;
    if (others_poll(p))
        return LITTLE;
    const long start = cco_ns(CLOCK_MONOTONIC);
    const bool moved = poll(&p->expected);
    const long took = cco_ns(CLOCK_MONOTONIC) - start;
    p->poll = at_most(took, p->poll + (took - p->poll) / TIMES_A_POLL);
    if (p->brisk)
        return NONE;
    if (moved || began)
        return NEWS;
    return took > p->poll + MUCH_NS ? MUCH : LITTLE;
}

/* Sleeps grow with the time since something moved or began, but what flows on a fast network needs
 * polls before it fills the buffers between. */
static long progress_thread_grown(long sleep_ns, found found)
{
    static const int eighths[] = {[NONE] = 16, [LITTLE] = 10, [MUCH] = 6, [NEWS] = 0};
    return sleep_ns / 8 * eighths[found];
}

/* If something is expected: before, as above, and faster when what starts a message must have
 * passed, but not beyond the expected time; after, with the time since then. */
static long wanted_sleep(long sleep_ns, found found, long expected)
{
    const long left = expected > 0 ? expected - cco_ns(CLOCK_MONOTONIC) : 0;
    if (left > 0)
        return at_most(progress_thread_grown(
                           sleep_ns, found == LITTLE && sleep_ns > STARTED_NS ? NONE : found),
                       left);
    return expected > 0 && found != NEWS ? -left / 4 : progress_thread_grown(sleep_ns, found);
}

/* A thread that sleeps for less time than it ran (to fall asleep and to wake included) has had more
 * than its share of a core that it is not alone on, and waits there for the next tick, up to 10 ms.
 */
static long next_sleep(long sleep_ns, found found, back_off *p)
{
    const long least = at_least(p->poll * TIMES_A_POLL, progress_thread_shortest());
    const long ran = cco_ns(CLOCK_THREAD_CPUTIME_ID), took = ran - p->ran;
    p->ran = ran;
    const long wanted = at_least(wanted_sleep(sleep_ns, found, p->expected), least);
    return at_most(at_least(wanted, SHORTEST_NS + took + took / 4),
                   p->brisk ? BRISK_NS : LONGEST_NS);
}

/* The first form of what sched_setattr(2) takes. */
typedef struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* ns */
} attributes;

/* Whoever computes on this core may do so to the end of a slice, milliseconds, before a thread that
 * wakes gets it; but one whose slices are shorter gets it at once (Linux from 6.12 on; others do
 * not look at it). */
static void shorten_slices(void)
{
#ifdef SYS_sched_setattr
    attributes now = {0};
    if (syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != SCHED_OTHER)
        return;
    now.size = sizeof now;
    now.runtime = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &now, 0);
#endif
}

/* After the end of what was in memory it goes on for some sleeps, and while operations come and go:
 * a program that begins again and again need not wake it each time, which takes longer than a small
 * collective.  Other operations in the MPI shall not wait for the end of such a sleep. */
static void *progress_thread_work(void *data)
{
    cco_progress_poll poll = *(cco_progress_poll *)data;
    long sleep_ns = 0;
    back_off back_off = {.poll = LONGEST_NS};
    shorten_slices();
    /* Sleeps as long as asked for; usually they take 50 us more. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    while (!progress_thread_shall_stop()) {
        if (is_idle() && !back_off.brisk &&
            (sleep_ns >= LONGEST_NS || !__atomic_load_n(&poller.lingers, __ATOMIC_RELAXED))) {
            sleep_while_idle();
            sleep_ns = 0;
        }
        sleep_ns = next_sleep(sleep_ns, poll_once(poll, &back_off), &back_off);
        nanosleep(&(struct timespec){.tv_nsec = sleep_ns}, NULL);
    }
    return NULL;
}

/* The program's signals are not for this thread. */
static bool progress_thread_create(cco_progress_poll poll)
{
    static cco_progress_poll kept;
    sigset_t all, before;
    kept = poll;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool created = !cco_inject_mismatch() &&
                         pthread_create(&poller.thread, NULL, progress_thread_work, &kept) == 0;
    if (created)
        pthread_setname_np(poller.thread, "crestacoll");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return created;
}

bool cco_progress_thread_start(cco_progress_poll poll)
{
    pthread_mutex_lock(&poller.lock);
    if (!poller.runs)
        __atomic_store_n(&poller.runs, progress_thread_create(poll), __ATOMIC_RELEASE);
    const bool there = poller.runs;
    pthread_mutex_unlock(&poller.lock);
    return there;
}

/* It sleeps, or is about to.  Not while the lock is held: it would wake, and sleep again. */
static void wake_up(void)
{
    pthread_mutex_lock(&poller.lock);
    pthread_mutex_unlock(&poller.lock);
    pthread_cond_signal(&poller.wake);
}

void cco_progress_thread_count(int change, cco_progress_level kind)
{
    if (kind == CCO_PROGRESS_MPI)
        __atomic_fetch_add(&poller.in_mpi, change, __ATOMIC_RELAXED);
    if (change > 0)
        __atomic_fetch_add(&poller.begun, (unsigned)change, __ATOMIC_RELAXED);
    const int before = __atomic_fetch_add(&poller.under_way, change, __ATOMIC_SEQ_CST);
    if (change <= 0 || before + change <= 0) /* what begins may have ended already */
        return;
    __atomic_store_n(&poller.lingers, kind == CCO_PROGRESS_MEMORY, __ATOMIC_RELAXED);
    if (__atomic_load_n(&poller.sleeps, __ATOMIC_SEQ_CST) &&
        __atomic_load_n(&poller.runs, __ATOMIC_ACQUIRE))
        wake_up();
}

void cco_progress_thread_spare(void)
{
    __atomic_fetch_add(&poller.spared, 1, __ATOMIC_RELAXED);
}

void cco_progress_thread_keep_ops_off(void)
{
    __atomic_store_n(&cco_progress_thread_ops_off, true, __ATOMIC_RELAXED);
}

/* It asks after it has said that it is in there, and who holds, or ends what was under way, looks
 * after having said so. */
bool cco_progress_thread_enter_mpi(void)
{
    __atomic_store_n(&in_turn.inside, true, __ATOMIC_SEQ_CST);
    return !is_idle() && __atomic_load_n(&in_turn.held, __ATOMIC_SEQ_CST) <= 0 &&
           !__atomic_load_n(&in_turn.held_call, __ATOMIC_SEQ_CST);
}

void cco_progress_thread_leave_mpi(void)
{
    __atomic_store_n(&in_turn.inside, false, __ATOMIC_RELEASE);
}

static void wait_outside(void)
{
    while (__atomic_load_n(&in_turn.inside, __ATOMIC_SEQ_CST))
        sched_yield();
}

void cco_progress_thread_wait_outside_mpi(void)
{
    while (is_idle() && __atomic_load_n(&in_turn.inside, __ATOMIC_SEQ_CST))
        sched_yield();
}

void cco_progress_thread_hold(int change)
{
    __atomic_fetch_add(&in_turn.held, change, __ATOMIC_SEQ_CST);
    if (change > 0)
        wait_outside();
}

void cco_progress_thread_hold_call(bool now)
{
    __atomic_store_n(&in_turn.held_call, now, __ATOMIC_SEQ_CST);
    if (now)
        wait_outside();
}

void cco_progress_thread_stop(void)
{
    pthread_mutex_lock(&poller.lock);
    const bool there = poller.runs;
    __atomic_store_n(&poller.runs, false, __ATOMIC_RELEASE);
    __atomic_store_n(&poller.stops, true, __ATOMIC_RELEASE);
    pthread_cond_signal(&poller.wake);
    pthread_mutex_unlock(&poller.lock);
    if (there)
        pthread_join(poller.thread, NULL);
    __atomic_store_n(&poller.stops, false, __ATOMIC_RELEASE);
}
