/* SPDX-License-Identifier: BSD-3-Clause */
/* agreed.c - see agreed.h. */
#include "record/agreed.h"

#include <stdlib.h>
#include <string.h>

#include "comm/failure.h"
#include "base/log.h"
#include "mpi/service.h"
#include "record/recorded.h"
#include "tune/agree.h"

/* The largest of each number over all ranks. */
static int agreed_largest(const void *mine, void *all, int count, MPI_Datatype type,
                          cco_comm *state)
{
    const int rc = cco_service_allreduce(mine, all, count, type, MPI_MAX, state->comm);
    return rc == MPI_SUCCESS || !cco_comm_has_failed(state) ? rc : state->failure.error;
}

/* Why this rank has no recording, and in which call; NULL if it has one. */
static const char *agreed_failure(const cco_recorder *r, int *call)
{
    for (*call = 0; *call < r->count; ++*call)
        if (!r->calls[*call]->succeeded)
            return r->failed != NULL ? r->failed : "has failed";
    return r->failed;
}

static void agreed_say_failure(const cco_recorder *r)
{
    int call;
    const char *why = agreed_failure(r, &call);
    cco_say("CRESTA_Record_end on communicator '%s': no recording is made: call %d %s on rank %d",
            r->state->name, call + 1, why, r->state->rank);
}

/* The first call of `least` that is not the same on all ranks, or `least`. */
static int first_difference(const cco_recorder *r, int least)
{
    const size_t n = (size_t)least;
    uint64_t *mine = calloc(4 * (n + 1), sizeof *mine), *all = mine + 2 * (n + 1);
    int i = 0;
    if (mine == NULL) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for a recording on communicator '%s'", r->state->name);
    for (size_t k = 0; k < n; k++) {
        mine[k] = cco_recorded_signature(r->calls[k], r->state);
        mine[n + k] = ~mine[k];
    }
    if (agreed_largest(mine, all, 2 * least, MPI_UINT64_T, r->state) == MPI_SUCCESS)
        while (i < least && all[i] == ~all[least + i])
            i++;
    free(mine);
    return i;
}

static void say_difference(const cco_recorder *r, int least, int most, int first)
{
    const char *name = r->state->name;
    if (r->state->rank != 0)
        return;
    if (first < least)
        cco_say("CRESTA_Record_end on communicator '%s': the ranks recorded different calls: call "
                "%d is %s on rank 0, and elsewhere another collective, or one with another "
                "root, size or implementation",
                name, first + 1, cco_coll_infos[r->calls[first]->call.coll].name);
    else
        cco_say("CRESTA_Record_end on communicator '%s': the ranks recorded different calls: %d to "
                "%d of them, rank 0 %d",
                name, least, most, r->count);
}

int cco_agreed_calls(cco_recorder *r)
{
    enum { COUNT, FAILED, CALLS, WORDS };
    uint64_t words[WORDS], most[WORDS], least[WORDS];
    int call;
    const bool failed = agreed_failure(r, &call) != NULL;
    words[COUNT] = (uint64_t)r->count;
    words[FAILED] = failed ? (uint64_t)r->state->rank : UINT64_MAX;
    words[CALLS] = 0;
    for (int i = 0; i < r->count; i++)
        words[CALLS] = words[CALLS] * 31 + cco_recorded_signature(r->calls[i], r->state);
    if (cco_agree(r->state->comm, words, WORDS, least, most) != MPI_SUCCESS)
        return cco_comm_has_failed(r->state) ? r->state->failure.error : MPI_ERR_INTERN;
    if (least[FAILED] != UINT64_MAX) {
        if (least[FAILED] == (uint64_t)r->state->rank)
            agreed_say_failure(r);
        return cco_comm_refuse(r->state, MPI_ERR_OTHER);
    }
    if (least[COUNT] == most[COUNT] && least[CALLS] == most[CALLS])
        return MPI_SUCCESS;
    say_difference(r, (int)least[COUNT], (int)most[COUNT], first_difference(r, (int)least[COUNT]));
    return cco_comm_refuse(r->state, MPI_ERR_ARG);
}

static int last_dependence(const cco_recorder *r, int call)
{
    int i = call - 1;
    while (i >= 0 && !cco_touched_depend(&r->calls[i]->touched, &r->calls[call]->touched))
        i--;
    return i;
}

int cco_agreed_parts(cco_recorder *r, int *before)
{
    const int n = r->count;
    int *mine = calloc(2 * ((size_t)n + 1), sizeof *mine);
    int *all = calloc(2 * ((size_t)n + 1), sizeof *all);
    if (mine == NULL || all == NULL) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for a recording on communicator '%s'", r->state->name);
    for (int i = 0; i < n; i++) {
        cco_recorded_find_path(r->calls[i], r->state);
        mine[i] = r->calls[i]->path == CCO_PATH_NONE;
        mine[n + i] = last_dependence(r, i);
    }
    const int rc = agreed_largest(mine, all, 2 * n, MPI_INT, r->state);
    for (int i = 0; rc == MPI_SUCCESS && i < n; i++) {
        cco_recorded *call = r->calls[i];
        before[i] = all[n + i];
        if (!all[i] || call->path == CCO_PATH_NONE)
            continue;
        call->path = CCO_PATH_NONE;
        call->why = "another rank cannot merge it";
    }
    free(mine);
    free(all);
    return rc;
}

int cco_agreed(cco_comm *state, int rc)
{
    const int mine = rc;
    int all = MPI_ERR_INTERN;
    if (agreed_largest(&mine, &all, 1, MPI_INT, state) != MPI_SUCCESS)
        return state->failure.error != MPI_SUCCESS ? state->failure.error : MPI_ERR_INTERN;
    return rc != MPI_SUCCESS ? rc : all != MPI_SUCCESS ? MPI_ERR_OTHER : rc;
}
