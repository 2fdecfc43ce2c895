/* SPDX-License-Identifier: BSD-3-Clause */
/* presence.c - see presence.h.  Ranks meet on a binomial tree, up to rank 0 and down again. */
#include "tune/presence.h"

#include <stdbool.h>

#include "core/log.h"
#include "core/wait.h"
#include "tune/neighbours.h"

enum { TAG = 32749, GO = 1, KNOWN = 2 };

typedef struct meeting {
    MPI_Comm world;
    int rank, size;
    int answered; /* ranks from this one on: those below it in the tree that have come */
    bool told;    /* somebody has said who is missing */
} meeting;

static void send_word(const meeting *m, int to, int word)
{
    MPI_Request request;
    if (PMPI_Isend(&word, 1, MPI_INT, to, TAG, m->world, &request) == MPI_SUCCESS)
        cco_wait(&request);
}

/* To those below whose answers are here. */
static void pass_on(const meeting *m, int word)
{
    for (int bit = 1; bit < m->answered; bit <<= 1)
        if (m->rank + bit < m->size)
            send_word(m, m->rank + bit, word);
}

static void tell(const meeting *m)
{
    char here[1600];
    if (!cco_neighbours(here, sizeof here))
        return; /* another process of this host speaks */
    cco_say("rank %d of %d waits in MPI_Init for ranks that do not answer (%d to %d have). Those"
            " may be late, or run without crestacoll, or with CRESTA_OFF=1: it must run in all"
            " ranks or in none."
            " On this host:%s",
            m->rank, m->size, m->rank, m->rank + m->answered - 1, here);
}

static void late(void *what)
{
    meeting *m = what;
    if (m->told)
        return;
    m->told = true;
    tell(m);
    pass_on(m, KNOWN);
}

static int await_word(meeting *m, int from, int seconds)
{
    int word = GO;
    MPI_Request request;
    if (PMPI_Irecv(&word, 1, MPI_INT, from, TAG, m->world, &request) == MPI_SUCCESS)
        cco_wait_patiently(&request, seconds, late, m);
    return word;
}

/* Those below answer by themselves; the one above, who may have to wait for others, speaks first.
 */
void cco_presence_await(MPI_Comm world)
{
    meeting m = {.world = world, .answered = 1};
    int bit = 1;
    PMPI_Comm_rank(world, &m.rank);
    PMPI_Comm_size(world, &m.size);
    for (; bit < m.size && !(m.rank & bit); bit <<= 1) {
        if (m.rank + bit < m.size)
            await_word(&m, m.rank + bit, CCO_PATIENCE);
        m.answered = m.rank + 2 * bit < m.size ? 2 * bit : m.size - m.rank;
    }
    if (m.rank > 0) {
        send_word(&m, m.rank - bit, GO);
        while (await_word(&m, m.rank - bit, 2 * CCO_PATIENCE) == KNOWN) {
            m.told = true;
            pass_on(&m, KNOWN);
        }
    }
    pass_on(&m, GO);
}

void cco_presence_report(MPI_Comm comm)
{
    char here[1600], name[MPI_MAX_OBJECT_NAME] = "";
    int length;
    PMPI_Comm_get_name(comm, name, &length);
    if (cco_neighbours(here, sizeof here))
        cco_log(CCO_LOG_WARN,
                "communicator '%s' waits in its first collective for ranks that do not answer."
                " They may be late, or run without crestacoll, which must be in all ranks or in"
                " none. On this host:%s",
                name, here);
}
