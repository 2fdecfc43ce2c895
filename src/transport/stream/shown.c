/* SPDX-License-Identifier: BSD-3-Clause */
/* shown.c - see shown.h. */
#include "transport/stream/shown.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/process_read.h"
#include "transport/stream/line.h"

static const cco_process_id *process_of(const cco_area *area, int rank)
{
    const char *line = area->shares[rank] + (size_t)rank * CCO_LINE;
    return (const cco_process_id *)(const void *)(line + CCO_LINE_PROCESS);
}

void cco_shown_open(cco_area *area)
{
    const cco_process_id me = cco_process_me();
    memcpy(area->share + (size_t)area->rank * CCO_LINE + CCO_LINE_PROCESS, &me, sizeof me);
}

bool cco_shown_readable(const cco_area *area)
{
    for (int i = 0; i < area->size; i++)
        if (i != area->rank && !cco_process_readable(process_of(area, i)))
            return false;
    return true;
}

int cco_shown_show(cco_shown *shown, cco_area *area, const cco_fragment *message)
{
    const size_t gone = cco_data_bytes(&message->data) - message->left;
    const uint64_t address = (uint64_t)(uintptr_t)(message->at - gone);
    const size_t at = (size_t)area->rank * CCO_LINE + CCO_LINE_ADDRESS;
    int rc = area->kind->put(area, message->peer, at, &address, sizeof address);
    if (rc == MPI_SUCCESS)
        rc = area->kind->complete(area, message->peer);
    if (rc != MPI_SUCCESS)
        return rc;
    shown->waits = true;
    return cco_line_tell(area, message->peer, CCO_LINE_SHOWN, ++shown->shown);
}

int cco_shown_look(cco_shown *shown, const cco_area *area, cco_fragment *message)
{
    if (cco_line_word(area, message->peer, CCO_LINE_READ) != shown->shown)
        return MPI_SUCCESS;
    shown->waits = false;
    shown->refused = cco_line_word(area, message->peer, CCO_LINE_REFUSED) != 0;
    if (!shown->refused)
        cco_fragment_advance(message, message->left);
    return MPI_SUCCESS;
}

void cco_shown_withdraw(cco_shown *shown, cco_area *area, int peer)
{
    if (shown->waits)
        cco_line_tell(area, peer, CCO_LINE_SHOWN, --shown->shown);
    shown->waits = false;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* before the memory is used for other data */
}

/* A process says it once. */
static void shown_report(const cco_area *area, int peer, int error)
{
    static bool reported;
    if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
        cco_log(CCO_LOG_WARN,
                "shm?copy=single: rank %d cannot read the memory of rank %d of a communicator of %d"
                " (%s): what that rank sends is copied twice from now on",
                area->rank, peer, area->size, strerror(error));
}

/* All that was shown will come through the ring. */
static int shown_refuse(cco_area *area, cco_fragment *message, size_t rest)
{
    shown_report(area, message->peer, errno);
    message->at -= rest - message->left;
    message->left = rest;
    return cco_line_tell(area, message->peer, CCO_LINE_REFUSED, 1);
}

int cco_shown_take(cco_shown *shown, cco_area *area, cco_fragment *message)
{
    const int peer = message->peer;
    const char *line = area->share + (size_t)peer * CCO_LINE;
    const size_t n = message->left < CCO_SHOWN_MOST ? message->left : CCO_SHOWN_MOST;
    uint64_t from;
    int rc = MPI_SUCCESS;
    memcpy(&from, line + CCO_LINE_ADDRESS, sizeof from);
    from += cco_data_bytes(&message->data) - message->left;
    if (shown->rest == 0)
        shown->rest = message->left;
    const bool came = cco_process_read(process_of(area, peer), from, message->at, n) == n;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the look comes after the read */
    if (!cco_shown_waits(shown, area, peer))
        return rc; /* withdrawn: it may have been other data */
    if (came) {
        cco_fragment_advance(message, n);
        if (message->left > 0)
            return rc;
    } else {
        rc = shown_refuse(area, message, shown->rest);
    }
    shown->rest = 0;
    return rc != MPI_SUCCESS ? rc : cco_line_tell(area, peer, CCO_LINE_READ, ++shown->read);
}
