/* SPDX-License-Identifier: BSD-3-Clause */
/* rehearse.c - see rehearse.h. */
#include "record/rehearse.h"

#include <stdlib.h>

#include "wait/awaited.h"

/* What one end of a message tells the other. */
typedef struct word {
    int64_t level, bytes;
} word;

typedef struct room {
    word *mine, *theirs;
    MPI_Request *requests;
    int *peers; /* of these */
    const cco_channel *channel;
    cco_watch *watch;
    bool active; /* a request is, and the MPI may write to `theirs` */
} room;

static size_t rehearse_bytes_of(const cco_step *step)
{
    return step->kind == CCO_STEP_SEND ? step->a.n : step->b.n;
}

/* A sender's words have one tag, a receiver's the other: so they come in the order of messages. */
static int rehearse_exchange(cco_message_levels *l, room *room, int tag)
{
    const MPI_Comm comm = room->channel->comm;
    int count = 0, rc = MPI_SUCCESS;
    for (int i = l->first; i < l->end && rc == MPI_SUCCESS; i++) {
        const cco_step *step = &l->sched->steps[i];
        const int to = tag + (step->kind == CCO_STEP_RECV), from = 2 * tag + 1 - to;
        if (!cco_step_is_message(step))
            continue;
        room->peers[count] = room->peers[count + 1] = step->peer;
        room->mine[i] = (word){l->least, (int64_t)rehearse_bytes_of(step)};
        rc = PMPI_Irecv(&room->theirs[i], 2, MPI_INT64_T, step->peer, from, comm,
                        &room->requests[count++]);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Isend(&room->mine[i], 2, MPI_INT64_T, step->peer, to, comm,
                            &room->requests[count++]);
    }
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = cco_awaited_end(room->watch, room->channel, &room->requests[i], room->peers[i]);
    room->active = rc != MPI_SUCCESS;
    return rc;
}

/* False if the ends of a message differ. */
static bool rehearse_meet(cco_message_levels *l, const room *room)
{
    bool same = true;
    for (int i = l->first; i < l->end; i++) {
        if (!cco_step_is_message(&l->sched->steps[i]))
            continue;
        cco_message_levels_meet(l, i, (int)room->theirs[i].level);
        same = same && room->theirs[i].bytes == room->mine[i].bytes;
    }
    return same;
}

static int go_through(cco_message_levels *l, room *room, int tag)
{
    bool same = true;
    int rc;
    do {
        rc = rehearse_exchange(l, room, tag);
        same = rc == MPI_SUCCESS && rehearse_meet(l, room) && same;
    } while (rc == MPI_SUCCESS && cco_message_levels_next(l));
    return rc != MPI_SUCCESS || same ? rc : MPI_ERR_TRUNCATE;
}

int cco_rehearse(cco_message_levels *levels, const cco_sched *s, const cco_channel *channel,
                 cco_watch *watch, int tag)
{
    const size_t n = (size_t)s->count + 1;
    room room = {.mine = malloc(n * sizeof *room.mine),
                 .theirs = malloc(n * sizeof *room.theirs),
                 .requests = malloc(2 * n * sizeof *room.requests),
                 .peers = malloc(2 * n * sizeof *room.peers),
                 .channel = channel,
                 .watch = watch};
    int rc = MPI_ERR_NO_MEM;
    if (cco_message_levels_open(levels, s) && room.mine != NULL && room.theirs != NULL &&
        room.requests != NULL && room.peers != NULL)
        rc = go_through(levels, &room, tag);
    if (!room.active) {
        free(room.mine);
        free(room.theirs);
    }
    free(room.peers);
    free(room.requests);
    return rc;
}
