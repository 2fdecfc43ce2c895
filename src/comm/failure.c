/* SPDX-License-Identifier: BSD-3-Clause */
/* failure.c - see failure.h. */
#include "comm/failure.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "config/config.h"
#include "base/proc.h"
#include "base/log.h"
#include "call/raise.h"
#include "mpi/service.h"
#include "mpi/ulfm.h"
#include "base/world.h"

void cco_comm_on_failure(cco_comm *state, void (*leave)(void *what, int error), void *what)
{
    cco_failure_handler *one = malloc(sizeof *one);
    if (one == NULL)
        cco_fatal("no memory for communicator '%s'", state->name);
    *one = (cco_failure_handler){leave, what, state->failure.leavers};
    state->failure.leavers = one;
}

void cco_comm_fail(cco_comm *state, int error, int lost)
{
    if (state->failure.error != MPI_SUCCESS)
        return;
    state->failure.error = error;
    state->failure.lost = lost;
    for (const cco_failure_handler *l = state->failure.leavers; l != NULL; l = l->next)
        l->leave(l->what, error);
    cco_service_leave(state->comm, error);
    cco_channel_fail(&state->channel, error);
    cco_comm_update(state);
}

static void failure_fail(void *owner, int error, int lost)
{
    cco_comm_fail(owner, error, lost);
}

cco_watch *cco_comm_watch(cco_comm *state)
{
    state->failure.watch.kind = &cco_watch_processes;
    state->failure.watch.comm = state->comm;
    state->failure.watch.fail = failure_fail;
    state->failure.watch.owner = state;
    return &state->failure.watch;
}

bool cco_comm_has_failed(cco_comm *state)
{
    if (state->failure.error == MPI_SUCCESS && cco_ulfm_revoked(state->comm))
        cco_comm_fail(state, cco_ulfm_revoked_class(), -1);
    const int lost = state->failure.error == MPI_SUCCESS ? cco_ulfm_first_failed(state->comm) : -1;
    if (lost >= 0)
        cco_comm_fail(state, cco_ulfm_failed_class(), lost);
    return state->failure.error != MPI_SUCCESS;
}

int cco_comm_no_channel(cco_comm *state)
{
    return cco_comm_has_failed(state) ? state->failure.error : MPI_ERR_COMM;
}

/* A key for the failed process, equal on all ranks of one job and one host.  Nothing is known of
 * processes on other hosts but their rank in MPI_COMM_WORLD. */
static void failure_identify(const cco_comm *state, int lost, const cco_proc *life, char *text,
                             size_t room)
{
    if (life != NULL)
        snprintf(text, room, "process-%lld-%llu", (long long)life->process,
                 (unsigned long long)life->begun);
    else
        snprintf(text, room, "job-%lld-rank-%d", (long long)getppid(),
                 cco_world_rank_of(state->comm, lost));
}

/* Whether a process of this user has the name.  Another user may have taken it before. */
static bool is_taken_by_us(const struct sockaddr_un *name, socklen_t length)
{
    enum { TRIES = 20, TRY_MS = 1 }; /* it may be about to listen */
    struct ucred who = {.uid = (uid_t)-1};
    socklen_t room = sizeof who;
    bool there = false;
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    for (int i = 0; s >= 0 && !there && i < TRIES; i++) {
        there = connect(s, (const struct sockaddr *)name, length) == 0;
        if (!there)
            poll(NULL, 0, TRY_MS);
    }
    there = there && getsockopt(s, SOL_SOCKET, SO_PEERCRED, &who, &room) == 0;
    if (s >= 0)
        close(s);
    return there && who.uid == geteuid();
}

/* One message on each host: the name is a socket without a file, which goes with the process. */
static bool failure_claim(const char *identity)
{
    enum { WAITING = 1024 }; /* the other ranks of this host ask, and nobody answers */
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "crestacoll-%d-failed-%s",
                           (int)getuid(), identity);
    const socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    if (s < 0)
        return true;
    if (bind(s, (const struct sockaddr *)&name, length) == 0) {
        listen(s, WAITING);
        return true; /* held until this process ends */
    }
    close(s);
    return !is_taken_by_us(&name, length);
}

static void name_host(int lost, const cco_proc *life, char *text, size_t room)
{
    char host[256] = "";
    if (life == NULL)
        snprintf(text, room, "rank %d", lost);
    else if (gethostname(host, sizeof host - 1) == 0)
        snprintf(text, room, "rank %d on %s (process %lld)", lost, host, (long long)life->process);
    else
        snprintf(text, room, "rank %d (process %lld)", lost, (long long)life->process);
}

bool cco_comm_tells_failure(const cco_comm *state)
{
    char identity[64];
    const int lost = state->failure.lost;
    const cco_proc *life = lost >= 0 ? cco_proc_of(state->comm, lost) : NULL;
    failure_identify(state, lost, life, identity, sizeof identity);
    return failure_claim(identity);
}

/* Whether another rank that shares memory with this one has said it, which may have ended since. */
static bool is_told(const cco_comm *state, int lost)
{
    return state->seats != NULL &&
           __atomic_exchange_n(&state->seats[lost].told, 1, __ATOMIC_ACQ_REL) != 0;
}

static void tell_of(const cco_comm *state, int lost, const char *where)
{
    const cco_proc *life = cco_proc_of(state->comm, lost);
    char identity[64], who[400];
    failure_identify(state, lost, life, identity, sizeof identity);
    name_host(lost, life, who, sizeof who);
    if (!is_told(state, lost) && failure_claim(identity))
        cco_say("%s of communicator '%s' has failed; rank %d found out in %s", who, state->name,
                state->rank, where);
}

/* A rank that knew of the failure before it ended has not failed. */
static bool has_left(const cco_comm *state, int rank)
{
    return (state->seats != NULL &&
            __atomic_load_n(&state->seats[rank].left, __ATOMIC_ACQUIRE) != 0) ||
           (state->channel.comm != MPI_COMM_NULL &&
            cco_channel_noticed(&state->channel, rank) != 0);
}

/* Whether it ended before the launcher could know of a failure, and end others. */
static bool failure_is_early(const cco_comm *state, int rank)
{
    const cco_proc *life = cco_proc_of(state->comm, rank);
    return life == NULL || cco_proc_reaped(life);
}

/* The processes that have failed, the first one first: the wait knows of one, the MPI of some, and
 * others of this node have ended by now. */
static int find_failed(const cco_comm *state, int *failed, int most)
{
    int n = 0, first = 0;
    const int lost = state->failure.lost;
    if (lost >= 0)
        failed[n++] = lost;
    const int ended = n + cco_procs_ended(state->comm, failed + n, most - n);
    for (int i = n; i < ended; i++)
        if (failed[i] != lost && !has_left(state, failed[i]))
            failed[n++] = failed[i];
    while (first < n && !failure_is_early(state, failed[first]))
        first++;
    if (first > 0 && first < n) {
        const int early = failed[first];
        failed[first] = failed[0];
        failed[0] = early;
    }
    return n + cco_ulfm_failed(state->comm, failed + n, most - n);
}

/* Which processes have failed, and where that was found out: one rank of each host that knows says
 * so.  If the launcher is about to end the job, those that ended after the first one may have been
 * ended by it.  It ends this one too in a moment, and if it does not, they have failed. */
static void failure_tell(const cco_comm *state, const char *where, bool ends)
{
    enum { MOMENT_NS = 300 * 1000 * 1000, MOST = 64 };
    const struct timespec moment = {.tv_nsec = MOMENT_NS};
    int failed[MOST];
    const bool says = ends || cco_configured.log >= CCO_LOG_INFO;
    const int n = says ? find_failed(state, failed, MOST) : 0;
    if (n > 0)
        tell_of(state, failed[0], where);
    if (ends || n > 1)
        nanosleep(&moment, NULL); /* launchers also drop what they have not forwarded yet */
    for (int i = 1; !ends && i < n; i++)
        tell_of(state, failed[i], where);
}

/* The error that a call returns; a failure is reported here, once. */
static int failure_settle(cco_comm *state, const char *where, int error)
{
    const int class = cco_ulfm_class(error);
    if (state->failure.error == MPI_SUCCESS && class != MPI_SUCCESS) {
        /* Ours is revoked only by ranks that know of a failure. */
        const bool by_program = cco_ulfm_revoked(state->comm);
        cco_comm_fail(state, by_program ? cco_ulfm_revoked_class() : cco_ulfm_failed_class(),
                      by_program ? -1 : cco_ulfm_first_failed(state->comm));
    }
    if (state->failure.error == cco_ulfm_failed_class() && !state->failure.told) {
        state->failure.told = true;
        failure_tell(state, where, cco_raise_ends_job(state->comm));
    }
    return state->failure.error != MPI_SUCCESS ? state->failure.error : error;
}

int cco_comm_raise_in(cco_comm *state, const char *where, int error)
{
    error = failure_settle(state, where, error);
    return state->failure.error != MPI_SUCCESS ? cco_raise_said(state->comm, error)
                                               : cco_raise(state->comm, where, error);
}

int cco_comm_raise(cco_comm *state, cco_coll coll, int error)
{
    error = failure_settle(state, cco_coll_infos[coll].name, error);
    return state->failure.error != MPI_SUCCESS ? cco_raise_said(state->comm, error)
                                               : cco_raise_in(state->comm, coll, error);
}
