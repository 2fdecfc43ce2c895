/* SPDX-License-Identifier: BSD-3-Clause */
/* where_comm.c - see where_comm.h. */
#include "observe/where_comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/observe.h"

static const char here; /* the key of what is attached to a state */

static void where_comm_release(void *data)
{
    cco_where_lock(true);
    cco_where_forget(data);
    cco_where_lock(false);
    free(data);
}

/* "0-3,7"; empty if there is no room. */
static void write_ranges(char *text, const int *ranks, int count)
{
    size_t used = 0;
    for (int i = 0, last; i < count && used < CCO_WHERE_MEMBERS; i = last + 1) {
        for (last = i; last + 1 < count && ranks[last + 1] == ranks[last] + 1; last++)
            ;
        const int n = snprintf(text + used, CCO_WHERE_MEMBERS - used, last > i ? "%s%d-%d" : "%s%d",
                               used > 0 ? "," : "", ranks[i], ranks[last]);
        used += (size_t)n;
    }
    if (used >= CCO_WHERE_MEMBERS)
        text[0] = '\0';
}

static bool find_ranks(MPI_Group members, int count, int *theirs)
{
    MPI_Group world;
    int *ranks = malloc(sizeof *ranks * (size_t)count);
    bool known = ranks != NULL && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS;
    if (known) {
        for (int i = 0; i < count; i++)
            ranks[i] = i;
        known = PMPI_Group_translate_ranks(members, count, ranks, world, theirs) == MPI_SUCCESS;
        PMPI_Group_free(&world);
    }
    for (int i = 0; known && i < count; i++)
        if (theirs[i] == MPI_UNDEFINED)
            theirs[i] = -1;
    free(ranks);
    return known;
}

/* Where its ranks are in MPI_COMM_WORLD. */
static void find_members(cco_where_comm *w, MPI_Comm comm)
{
    MPI_Group members;
    int *theirs = malloc(sizeof *theirs * (size_t)w->size);
    int initialized = 0;
    w->leader = -1;
    PMPI_Initialized(&initialized);
    if (theirs != NULL && initialized && PMPI_Comm_group(comm, &members) == MPI_SUCCESS) {
        if (find_ranks(members, w->size, theirs)) {
            bool all = true;
            w->leader = theirs[0];
            for (int i = 0; i < w->size; i++)
                all = all && theirs[i] >= 0;
            if (all)
                write_ranges(w->members, theirs, w->size);
        }
        PMPI_Group_free(&members);
    }
    free(theirs);
}

static cco_where_comm *where_comm_of(cco_comm *state)
{
    if (state == NULL)
        return NULL;
    cco_where_comm *w = cco_comm_attached(state, &here);
    if (w != NULL)
        return w;
    w = cco_comm_attach(state, &here, sizeof *w, where_comm_release);
    snprintf(w->name, sizeof w->name, "%.*s", (int)sizeof w->name - 1, state->name);
    w->rank = state->rank;
    w->size = state->size;
    w->inter = state->inter;
    w->leader = -1;
    if (!state->inter)
        find_members(w, state->comm);
    return w;
}

cco_where_comm *cco_where_comm_of_handle(MPI_Comm comm)
{
    cco_comm *state = cco_comm_find(comm);
    return where_comm_of(state != NULL ? state : cco_comm_create(comm));
}

/* If it has been made: threads may send and receive on one communicator at the same time. */
static cco_where_comm *where_comm_known(MPI_Comm comm)
{
    cco_comm *state = cco_comm_find(comm);
    return state != NULL ? cco_comm_attached(state, &here) : NULL;
}

const char *cco_where_op_name(MPI_Op op)
{
    const struct {
        MPI_Op op;
        const char *name;
    } names[] = {
        {MPI_SUM, "MPI_SUM"},   {MPI_MAX, "MPI_MAX"},       {MPI_MIN, "MPI_MIN"},
        {MPI_PROD, "MPI_PROD"}, {MPI_LAND, "MPI_LAND"},     {MPI_BAND, "MPI_BAND"},
        {MPI_LOR, "MPI_LOR"},   {MPI_BOR, "MPI_BOR"},       {MPI_LXOR, "MPI_LXOR"},
        {MPI_BXOR, "MPI_BXOR"}, {MPI_MAXLOC, "MPI_MAXLOC"}, {MPI_MINLOC, "MPI_MINLOC"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].op == op)
            return names[i].name;
    return "user-defined";
}

static cco_open_call stay_of(cco_comm *state, const cco_call *call, cco_open_call_kind kind)
{
    const cco_coll_info *info = &cco_coll_infos[call->coll];
    cco_where_comm *w = where_comm_of(state);
    const bool sized = info->properties & CCO_SIZED && !state->inter;
    cco_open_call stay = cco_open_call_of(kind, info->mpi_name, w);
    stay.number = ++w->number;
    if (info->properties & CCO_ROOTED)
        stay.root = call->root;
    if (sized)
        stay.bytes = (int64_t)cco_bytes(call, state->rank, state->size);
    if (info->properties & CCO_REDUCTION)
        stay.op = cco_where_op_name(call->op);
    snprintf(stay.impl, sizeof stay.impl, "mpi");
    return stay;
}

static void where_comm_met(MPI_Comm comm, cco_coll coll)
{
    const cco_open_call stay = cco_open_call_of(CCO_STAY_SET_UP, cco_coll_infos[coll].mpi_name,
                                                cco_where_comm_of_handle(comm));
    if (stay.comm == NULL)
        return;
    if (stay.comm->inter) /* there is no set-up: its calls come next */
        cco_comm_find(comm)->watched |= CCO_WATCHED_WHERE;
    else
        cco_where_enter(&stay);
}

static void where_comm_named(cco_comm *state)
{
    cco_where_comm *w = where_comm_of(state);
    state->watched |= CCO_WATCHED_WHERE;
    cco_where_lock(true);
    w->id = state->number;
    snprintf(w->name, sizeof w->name, "%.*s", (int)sizeof w->name - 1, state->name);
    cco_where_lock(false);
}

static void where_comm_before(cco_comm *state, const cco_call *call)
{
    const cco_open_call stay = stay_of(state, call, CCO_STAY_COLLECTIVE);
    cco_where_enter(&stay);
}

static void *where_comm_chosen(cco_comm *state, const cco_choice *choice, const cco_call *call,
                               MPI_Count bytes)
{
    (void)state, (void)call, (void)bytes;
    cco_where_impl(choice->impl);
    return NULL;
}

static void where_comm_after(cco_comm *state, const cco_call *call, void *kept, int rc)
{
    (void)state, (void)call, (void)kept, (void)rc;
    cco_where_leave();
}

/* Only the last call that has started is kept. */
static void where_comm_started(cco_comm *state, const cco_call *call, bool persistent)
{
    if (persistent || state == NULL)
        return;
    const cco_open_call stay = stay_of(state, call, CCO_STAY_BEGUN);
    cco_where_is_begun(&stay);
}

const cco_observer cco_observer_where = {.comm_met = where_comm_met,
                                         .comm_named = where_comm_named,
                                         .before = where_comm_before,
                                         .chosen = where_comm_chosen,
                                         .after = where_comm_after,
                                         .started = where_comm_started};

static int64_t where_comm_number_of(int given, int any)
{
    return given == any ? CCO_STAY_ANY : given;
}

void cco_where_enter_message(const char *name, MPI_Comm comm, int to, int from, int tag)
{
    if (!cco_where_on())
        return;
    cco_open_call stay = cco_open_call_of(
        comm != MPI_COMM_NULL ? CCO_STAY_MESSAGE : CCO_STAY_REQUESTS, name, where_comm_known(comm));
    stay.to = to;
    stay.from = where_comm_number_of(from, MPI_ANY_SOURCE);
    stay.tag = where_comm_number_of(tag, MPI_ANY_TAG);
    cco_where_enter(&stay);
}

void cco_where_enter_wait(const char *name, int requests)
{
    cco_open_call stay = cco_open_call_of(CCO_STAY_REQUESTS, name, NULL);
    stay.requests = requests;
    cco_where_enter(&stay);
}
