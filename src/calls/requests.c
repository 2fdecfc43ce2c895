/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c - which requests are not of messages, so that the time in MPI_Wait is counted as what
 * it is.  Programs that have none do not come here.
 *
 * Requests beyond MOST are taken for messages. */
#include "calls/calls.h"

#include <sched.h>
#include <string.h>

enum { SLOTS = 4096, MOST = SLOTS / 2 };

typedef struct slot {
    uintptr_t handle;
    int of; /* 1 + cco_calls_of; 0: empty */
} slot;

static slot slots[SLOTS];
static bool taken;
int cco_calls_others;

static void calls_requests_lock(void)
{
    while (__atomic_exchange_n(&taken, true, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void calls_requests_unlock(void)
{
    __atomic_store_n(&taken, false, __ATOMIC_RELEASE);
}

static uintptr_t calls_number(MPI_Request request)
{
    uintptr_t number = 0;
    memcpy(&number, &request, sizeof request);
    return number;
}

static unsigned calls_first_slot(uintptr_t handle)
{
    return (unsigned)((uint64_t)handle * 0x9e3779b97f4a7c15u >> 52);
}
_Static_assert(SLOTS == 1 << (64 - 52), "as many as the bits say");

static unsigned calls_slot_of(uintptr_t handle)
{
    unsigned i = calls_first_slot(handle);
    while (slots[i].of != 0 && slots[i].handle != handle)
        i = (i + 1) % SLOTS;
    return i;
}

/* What comes behind moves up, so that it is still found. */
static void calls_forget(uintptr_t handle)
{
    unsigned hole = calls_slot_of(handle);
    if (slots[hole].of == 0)
        return;
    for (unsigned i = (hole + 1) % SLOTS; slots[i].of != 0; i = (i + 1) % SLOTS) {
        const unsigned first = calls_first_slot(slots[i].handle);
        if ((i - first) % SLOTS >= (i - hole) % SLOTS) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole].of = 0;
    __atomic_fetch_sub(&cco_calls_others, 1, __ATOMIC_RELAXED);
}

void cco_calls_begun(MPI_Request request, cco_calls_of of)
{
    if (request == MPI_REQUEST_NULL)
        return;
    calls_requests_lock();
    slot *s = &slots[calls_slot_of(calls_number(request))];
    if (s->of != 0 || cco_calls_others < MOST) {
        if (s->of == 0)
            __atomic_fetch_add(&cco_calls_others, 1, __ATOMIC_RELAXED);
        *s = (slot){calls_number(request), 1 + (int)of};
    }
    calls_requests_unlock();
}

/* One more request of a call, which has some `before` it. */
static void calls_look_at(cco_calls_waited *waited, int i, MPI_Request request, bool *before)
{
    if (request == MPI_REQUEST_NULL)
        return;
    const uintptr_t handle = calls_number(request);
    const int of = slots[calls_slot_of(handle)].of;
    const cco_calls_of kind = of != 0 ? (cco_calls_of)(of - 1) : CCO_CALLS_OF_MESSAGES;
    waited->of = *before && waited->of != kind ? CCO_CALLS_OF_SEVERAL : kind;
    *before = true;
    if (of != 0 && waited->count < CCO_CALLS_NOTED) {
        waited->at[waited->count] = i;
        waited->handle[waited->count++] = handle;
    }
}

void cco_calls_look(cco_calls_waited *waited, int count, const MPI_Request *requests)
{
    bool before = false;
    calls_requests_lock();
    for (int i = 0; i < count; i++)
        calls_look_at(waited, i, requests[i], &before);
    calls_requests_unlock();
}

void cco_calls_look_fortran(cco_calls_waited *waited, int count, const MPI_Fint *requests)
{
    bool before = false;
    calls_requests_lock();
    for (int i = 0; i < count; i++)
        calls_look_at(waited, i, PMPI_Request_f2c(requests[i]), &before);
    calls_requests_unlock();
}

void cco_calls_ended(const cco_calls_waited *waited, const MPI_Request *requests)
{
    calls_requests_lock();
    for (int i = 0; i < waited->count; i++)
        if (requests[waited->at[i]] == MPI_REQUEST_NULL)
            calls_forget(waited->handle[i]);
    calls_requests_unlock();
}

void cco_calls_ended_fortran(const cco_calls_waited *waited, const MPI_Fint *requests)
{
    calls_requests_lock();
    for (int i = 0; i < waited->count; i++)
        if (PMPI_Request_f2c(requests[waited->at[i]]) == MPI_REQUEST_NULL)
            calls_forget(waited->handle[i]);
    calls_requests_unlock();
}
