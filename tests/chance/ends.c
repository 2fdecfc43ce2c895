/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.c - see buffers.h. */
#include "ends.h"

#include <sched.h>

#include "testing/testing.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

void end_swap(struct end *e, int i, int j)
{
    const MPI_Request request = e->requests[i];
    struct item *item = e->items[i];
    e->requests[i] = e->requests[j];
    e->items[i] = e->items[j];
    e->requests[j] = request;
    e->items[j] = item;
    if (e->wanted == i || e->wanted == j)
        e->wanted = i + j - e->wanted;
}

static bool active(const struct end *e, int i)
{
    return e->items[i] && e->items[i]->active && !e->done[i];
}

static void good(int rc, const char *what)
{
    CHECK(rc == MPI_SUCCESS, "%s: class %d", what, class_of(rc));
}

/* The status of null and inactive requests: MPI 4.0, section 3.7.3. */
static void check_empty(const MPI_Status *status)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0,
          "a status that is not empty: source %d, tag %d, count %d", status->MPI_SOURCE,
          status->MPI_TAG, count);
}

static void all_done(struct end *e, bool with_statuses)
{
    for (int i = 0; i < e->count; i++) {
        if (!active(e, i) && with_statuses)
            check_empty(&e->statuses[i]);
        e->has_status[i] = with_statuses;
        e->done[i] = active(e, i) || e->done[i];
    }
}

/* Persistent collectives that have ended stay away from further calls of MPICH 4.0, which takes
 * them for active ones. */
static void ended(struct end *e, int i)
{
    e->done[i] = true;
#ifdef LIKE_MPICH
    if (e->items[i]->persistent && e->items[i]->task->partner == NO_PARTNER &&
        e->requests[i] == e->items[i]->request)
        e->requests[i] = MPI_REQUEST_NULL;
#endif
}

static void one_done(struct end *e, int index, const MPI_Status *status)
{
    if (index == MPI_UNDEFINED) {
        int left = 0;
        for (int i = 0; i < e->count; i++)
            left += active(e, i);
        CHECK(left == 0, "MPI_UNDEFINED, but %d requests are under way", left);
        return;
    }
    if (!CHECK(index >= 0 && index < e->count && active(e, index), "index %d of %d", index,
               e->count))
        return;
    ended(e, index);
    e->has_status[index] = status != NULL;
    if (status)
        e->statuses[index] = *status;
}

static void some_done(struct end *e, int count, const int *indices, const MPI_Status *statuses)
{
    if (count == MPI_UNDEFINED)
        one_done(e, MPI_UNDEFINED, NULL);
    for (int k = 0; k < count; k++)
        one_done(e, indices[k], statuses ? &statuses[k] : NULL);
}

static void alone(struct end *e, int i, bool waits, bool asks)
{
    int flag = 1;
    MPI_Status status;
    const bool was = active(e, i);
    if (asks) {
        good(VIA(Request_get_status)(e->requests[i], &flag, &status), "MPI_Request_get_status");
        CHECK(flag || was, "a request that is not under way is not said to have ended");
        return;
    }
    good(waits ? VIA(Wait)(&e->requests[i], &status) : VIA(Test)(&e->requests[i], &flag, &status),
         waits ? "MPI_Wait" : "MPI_Test");
    CHECK(flag || was, "a request that is not under way is not said to have ended");
    if (!was)
        check_empty(&status);
    if (flag && was)
        one_done(e, i, &status);
}

static void any(struct end *e, bool waits)
{
    int index = -1, flag = 1;
    MPI_Status status;
    good(waits ? VIA(Waitany)(e->count, e->requests, &index, &status)
               : VIA(Testany)(e->count, e->requests, &index, &flag, &status),
         waits ? "MPI_Waitany" : "MPI_Testany");
    if (flag)
        one_done(e, index, &status);
}

static void some(struct end *e, bool waits, bool ignores)
{
    int count = -1, indices[END_MOST];
    MPI_Status statuses[END_MOST], *to = ignores ? MPI_STATUSES_IGNORE : statuses;
    good(waits ? VIA(Waitsome)(e->count, e->requests, &count, indices, to)
               : VIA(Testsome)(e->count, e->requests, &count, indices, to),
         waits ? "MPI_Waitsome" : "MPI_Testsome");
    some_done(e, count, indices, ignores ? NULL : statuses);
}

static void all(struct end *e, bool waits, bool ignores)
{
    int flag = 1;
    MPI_Status *to = ignores ? MPI_STATUSES_IGNORE : e->statuses;
    good(waits ? VIA(Waitall)(e->count, e->requests, to)
               : VIA(Testall)(e->count, e->requests, &flag, to),
         waits ? "MPI_Waitall" : "MPI_Testall");
    if (flag)
        all_done(e, !ignores);
}

static bool own_calls_there(void)
{
    return mode_exists(SPLIT) && !program.plain && has(CLASS_begin);
}

/* Through crestacoll's own calls, in the linked form. */
static void own_calls(struct end *e, bool waits)
{
#ifndef PLAIN_MPI
    if (own_calls_there()) {
        int flag = 1;
        good(waits ? CRESTA_Coll_end(e->count, e->requests)
                   : CRESTA_Coll_test(e->count, e->requests, &flag),
             waits ? "CRESTA_Coll_end" : "CRESTA_Coll_test");
        if (flag)
            all_done(e, false);
        return;
    }
#endif
    all(e, waits, true);
}

static const char *const names[] = {"get_status", "test",      "testany", "testsome",
                                    "testall",    "coll_test", "waitany", "waitsome",
                                    "waitall",    "coll_end",  "wait"};
enum {
    ASK,
    TEST,
    TESTANY,
    TESTSOME,
    TESTALL,
    COLL_TEST,
    WAITANY,
    WAITSOME,
    WAITALL,
    COLL_END,
    WAIT,
    CALLS
};

static bool has_persistent(const struct end *e)
{
    for (int i = 0; i < e->count; i++)
        if (e->items[i] && e->items[i]->persistent && e->items[i]->task->partner == NO_PARTNER)
            return true;
    return false;
}

/* MPI_Testall of MPICH 4.0 fails when a persistent collective has ended: docs/mpi-defects.md. */
static bool testall_fine(const struct end *e)
{
#ifdef LIKE_MPICH
    return !has_persistent(e);
#else
    return e->count > 0;
#endif
}

/* A look of MPICH 5 and Intel MPI ends a persistent request that is over: its status is lost, and
 * calls for any or some do not find it (docs/mpi-defects.md). */
static bool look_fine(const struct end *e, int from, int end)
{
    bool fine = true;
#if defined(I_MPI_VERSION) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000)
    for (int i = from; i < end; i++)
        fine = fine && (e->items[i] == NULL || !e->items[i]->persistent);
#else
    (void)e, (void)from, (void)end;
#endif
    return fine;
}

static void call(struct end *e, int which, int at, bool ignores)
{
    if (which == ASK && !look_fine(e, at, at + 1))
        which = TEST;
    if (which == COLL_TEST && !look_fine(e, 0, e->count))
        which = TESTSOME;
    if ((which == TESTALL || (which == COLL_TEST && !own_calls_there())) && !testall_fine(e))
        which = TESTSOME;
    if ((which == COLL_TEST || which == COLL_END) && !has(CLASS_collend) && has_persistent(e))
        which = which == COLL_TEST ? TESTSOME : WAITALL;
    say("%s of %d requests, %d under way", names[which], e->count, e->active);
    switch (which) {
    case ASK:
        alone(e, at, false, true);
        break;
    case TEST:
    case WAIT:
        alone(e, at, which == WAIT, false);
        break;
    case TESTANY:
    case WAITANY:
        any(e, which == WAITANY);
        break;
    case TESTSOME:
    case WAITSOME:
        some(e, which == WAITSOME, ignores);
        break;
    case TESTALL:
    case WAITALL:
        all(e, which == WAITALL, ignores);
        break;
    default:
        own_calls(e, which == COLL_END);
    }
}

void end_some(struct end *e, dice *own)
{
    int which = below(own, CALLS);
    if (e->count == 0)
        return;
    if ((which == WAITANY || which == WAITSOME) && !has(CLASS_waitany))
        which = WAITALL;
    const int rounds = which == WAITANY && one_in(own, 2) ? e->active : 1;
    for (int k = 0; k < rounds; k++) /* the usual loop: as many as there are */
        call(e, which, below(own, e->count), one_in(own, 2));
}

void end_wait_for(struct end *e, dice *own)
{
    int which = below(own, CALLS);
    if ((which == WAITANY || which == WAITSOME) && !has(CLASS_waitany))
        which = WAITALL;
    while (active(e, e->wanted)) {
        call(e, which, e->wanted, one_in(own, 2));
        if (which <= COLL_TEST)
            sched_yield();
        if (which == ASK && one_in(own, 4))
            which = WAIT;
    }
}

void end_check_status(const struct end *e, int i)
{
    const struct task *t = e->items[i]->task;
    int count = -1;
    if (!e->has_status[i] || t->partner == NO_PARTNER || t->recv.bytes == 0)
        return;
    MPI_Get_count(&e->statuses[i], MPI_BYTE, &count);
    CHECK(e->statuses[i].MPI_SOURCE == t->partner && e->statuses[i].MPI_TAG == t->tag &&
              count == t->n,
          "status: source %d, tag %d, %d bytes instead of %d, %d, %d", e->statuses[i].MPI_SOURCE,
          e->statuses[i].MPI_TAG, count, t->partner, t->tag, t->n);
}
