/* SPDX-License-Identifier: BSD-3-Clause */
/* meeting.c - see meeting.h.  A binomial tree, whose root is the first rank. */
#include "core/meeting.h"

#include "core/transfer.h"
#include "core/wait.h"

static void end(const cco_meeting *m, int place, MPI_Request *request)
{
    if (m->channel == NULL)
        cco_wait(request);
    else if (cco_awaited_end(m->watch, m->channel, request, m->ranks[place]) != MPI_SUCCESS &&
             *request != MPI_REQUEST_NULL)
        cco_transfer_give_up(request);
}

static void to(const cco_meeting *m, int place, const void *data, size_t bytes)
{
    MPI_Request request;
    if (PMPI_Isend(data, (int)bytes, MPI_BYTE, m->ranks[place], m->tag, m->comm, &request) ==
        MPI_SUCCESS)
        end(m, place, &request);
}

static void from(const cco_meeting *m, int place, void *data, size_t bytes)
{
    MPI_Request request;
    if (PMPI_Irecv(data, (int)bytes, MPI_BYTE, m->ranks[place], m->tag, m->comm, &request) ==
        MPI_SUCCESS)
        end(m, place, &request);
}

/* The lowest bit of a place leads to its parent; the root is below all bits. */
static int bits_below(const cco_meeting *m)
{
    int bit = 1;
    while (m->place != 0 ? !(m->place & bit) : bit < m->count)
        bit <<= 1;
    return bit;
}

void cco_meeting_tell(const cco_meeting *m, void *data, size_t bytes)
{
    const int own = bits_below(m);
    if (m->place != 0)
        from(m, m->place - own, data, bytes);
    for (int bit = own >> 1; bit > 0; bit >>= 1)
        if (m->place + bit < m->count)
            to(m, m->place + bit, data, bytes);
}

bool cco_meeting_all(const cco_meeting *m, bool mine)
{
    const int own = bits_below(m);
    for (int bit = 1; bit < own; bit <<= 1) {
        bool theirs = m->place + bit >= m->count;
        if (m->place + bit < m->count)
            from(m, m->place + bit, &theirs, sizeof theirs);
        mine = mine && theirs;
    }
    if (m->place != 0) {
        to(m, m->place - own, &mine, sizeof mine);
        mine = false; /* unless it is told otherwise */
    }
    cco_meeting_tell(m, &mine, sizeof mine);
    return mine;
}
