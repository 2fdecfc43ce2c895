/* SPDX-License-Identifier: BSD-3-Clause */
/* flight.c - see flight.h.  What is under way is one list, which belongs to whoever looks; begins
 * put theirs on a stack in front of it.  So neither ever waits. */
#include "model/flight.h"

#include <stdlib.h>
#include <string.h>

#include "core/data.h"
#include "core/helper.h"
#include "core/log.h"
#include "model/registry.h"
#include "model/scheduled.h"
#include "model/yard.h"

int cco_flights_running;

static cco_flight *begun;   /* stack */
static cco_flight *running; /* list, in the order of begins; of whoever holds `looking` */
static bool looking;

void cco_flights_prepare(cco_comm *state)
{
    bool wanted = false;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; i < state->choices[coll].count; i++)
            wanted = wanted || state->choices[coll].list[i].way.model->algorithms != NULL;
    if (wanted && state->size > 1)
        cco_yard_make(state);
}

/* The operation of a program may be freed before the end, and it would run on another thread. */
bool cco_flight_takes(const cco_comm *state, const cco_way *way, const cco_call *call)
{
    const bool reduces = cco_coll_infos[call->coll].properties & CCO_REDUCTION;
    return way->model->algorithms != NULL && cco_yard_of(state) != NULL &&
           cco_arguments_fine(state, call) && (!reduces || cco_op_predefined(call->op));
}

/* Types may be freed before the end: of those that are still needed then, a duplicate. */
static int hold(MPI_Datatype *type)
{
    return cco_type_predefined(*type) ? MPI_SUCCESS : PMPI_Type_dup(*type, type);
}

static void drop(MPI_Datatype *type)
{
    if (!cco_type_predefined(*type))
        PMPI_Type_free(type);
}

/* What is received in packed form is unpacked at the end. */
static int hold_types(cco_flight *f)
{
    cco_end *end = &f->frame.out;
    if (!f->frame.packs_out)
        return MPI_SUCCESS;
    if (end->types == NULL) {
        f->types = &end->type;
        const int rc = hold(f->types);
        f->held = rc == MPI_SUCCESS;
        return rc;
    }
    f->types = malloc((size_t)end->blocks * sizeof *f->types);
    if (f->types == NULL)
        return MPI_ERR_NO_MEM;
    memcpy(f->types, end->types, (size_t)end->blocks * sizeof *f->types);
    end->types = f->types;
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && f->held < end->blocks) {
        rc = hold(&f->types[f->held]);
        f->held += rc == MPI_SUCCESS;
    }
    return rc;
}

static void drop_types(cco_flight *f)
{
    for (int i = 0; i < f->held; i++)
        drop(&f->types[i]);
    if (f->types != &f->frame.out.type)
        free(f->types);
    f->types = NULL;
    f->held = 0;
}

/* Starts the schedule itself. */
static int start_own(cco_flight *f)
{
    cco_scheduled *own = &f->own;
    f->frame.problem.counts = f->algo->shares_counts ? own->counts : NULL;
    int rc = cco_plan_find(&own->plans, f->algo, &f->frame.problem, &f->plan);
    if (rc != MPI_SUCCESS)
        return rc;
    if (f->plan->engine == NULL)
        return MPI_ERR_INTERN;
    if (!cco_scheduled_bind(own, f->plan, &f->frame.binding, f->frame.low))
        return MPI_ERR_NO_MEM;
    f->shares = false;
    return cco_engine_start(f->plan->engine, &f->frame.binding);
}

/* Describes and packs the call, starts its schedule, or the one that has to come before. */
static int start(cco_flight *f, const cco_comm *state, const cco_way *way)
{
    int rc = cco_frame_make(&f->frame, state, &f->call, true, &f->own.shop);
    if (rc == MPI_SUCCESS)
        rc = hold_types(f);
    if (rc == MPI_SUCCESS)
        rc = cco_frame_fill(&f->frame);
    if (rc != MPI_SUCCESS)
        return rc;
    f->algo = cco_scheduled_algo(way, &f->frame.problem);
    if (!f->algo->shares_counts)
        return start_own(f);
    f->shares = true;
    rc = cco_scheduled_share(&f->own, &f->frame.problem, &f->sharing, &f->plan);
    return rc == MPI_SUCCESS ? cco_engine_start(f->plan->engine, &f->sharing) : rc;
}

/* One look; true at the end, good or bad. */
static bool move(cco_flight *f, bool *moved)
{
    bool done = false;
    const int at = cco_engine_at(f->plan->engine);
    f->rc = cco_engine_test(f->plan->engine, &done);
    *moved = *moved || cco_engine_at(f->plan->engine) != at;
    if (f->rc == MPI_SUCCESS && done && f->shares) {
        f->rc = start_own(f);
        done = false;
    }
    if (f->rc == MPI_SUCCESS && done)
        f->rc = cco_frame_drain(&f->frame);
    return done || f->rc != MPI_SUCCESS;
}

/* From the last line on the flight may be under way again. */
static void end(cco_flight *f)
{
    const MPI_Request request = f->request;
    drop_types(f);
    cco_workshop_trim(&f->own.shop);
    cco_yard_lands(f);
    __atomic_fetch_sub(&cco_flights_running, 1, __ATOMIC_ACQ_REL);
    cco_helper_count(-1);
    PMPI_Grequest_complete(request);
}

/* The begins since the last look, in their order, behind what is under way. */
static void adopt(void)
{
    cco_flight *stack = __atomic_exchange_n(&begun, NULL, __ATOMIC_ACQUIRE), *list = NULL;
    while (stack != NULL) {
        cco_flight *f = stack;
        stack = f->next;
        f->next = list;
        list = f;
    }
    cco_flight **link = &running;
    while (list != NULL && *link != NULL)
        link = &(*link)->next;
    if (list != NULL)
        *link = list;
}

bool cco_flights_move(void)
{
    bool moved = false;
    if (!cco_flights_any() || __atomic_exchange_n(&looking, true, __ATOMIC_ACQUIRE))
        return false;
    adopt();
    for (cco_flight **link = &running; *link != NULL;) {
        cco_flight *f = *link;
        if (!move(f, &moved)) {
            link = &f->next;
            continue;
        }
        *link = f->next;
        end(f);
        moved = true;
    }
    __atomic_store_n(&looking, false, __ATOMIC_RELEASE);
    return moved;
}

static void push(cco_flight *f)
{
    f->next = __atomic_load_n(&begun, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(&begun, &f->next, f, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

int cco_flight_begin(cco_comm *state, const cco_way *way, const cco_call *call,
                     MPI_Request *request)
{
    cco_flight *f = cco_yard_leave(state);
    if (f == NULL)
        return MPI_ERR_NO_MEM;
    f->call = *call;
    f->rc = MPI_SUCCESS;
    const int rc = start(f, state, way);
    if (rc != MPI_SUCCESS) {
        drop_types(f);
        cco_yard_lands(f);
        cco_yard_take_back(f);
        return rc;
    }
    if (cco_yard_request(f, request) != MPI_SUCCESS)
        cco_fatal("the MPI refuses a generalized request");
    __atomic_fetch_add(&cco_flights_running, 1, __ATOMIC_ACQ_REL);
    push(f);
    cco_helper_count(1);
    return MPI_SUCCESS;
}
