/* SPDX-License-Identifier: BSD-3-Clause */
/* flight.c - see flight.h. */
#include "model/flight.h"

#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "core/data.h"
#include "core/fresh.h"
#include "core/helper.h"
#include "core/log.h"
#include "model/registry.h"
#include "model/scheduled.h"
#include "model/tower.h"
#include "model/yard.h"

/* The course of an implementation's begins that its ranks can have; if that is another's, why. */
static cco_course course_for(const cco_comm *state, const cco_way *way)
{
    const char *why;
    const cco_course course = way->model->course != NULL ? way->model->course(state, way, &why)
                                                         : CCO_COURSE_NONE;
    if (course > CCO_COURSE_MESSAGES && state->facts.linked)
        return course;
    return course != CCO_COURSE_NONE && state->facts.help == CCO_HELP_MPI ? CCO_COURSE_MESSAGES
                                                                          : CCO_COURSE_NONE;
}

static bool visit_courses(cco_comm *state, bool make)
{
    bool any = false;
    for (int coll = 0; coll < CCO_COLLECTIVES && state->size > 1; coll++)
        for (int i = 0; i < state->choices[coll].count; i++) {
            const cco_course course = course_for(state, &state->choices[coll].list[i].way);
            any = any || course != CCO_COURSE_NONE;
            if (make && course != CCO_COURSE_NONE)
                cco_yard_make(state, course);
        }
    return any;
}

bool cco_flights_possible(cco_comm *state)
{
    return state->facts.help != CCO_HELP_NONE && visit_courses(state, false);
}

void cco_flights_prepare(cco_comm *state)
{
    if (state->facts.help != CCO_HELP_NONE)
        visit_courses(state, true);
}

/* Why no begin of such a call goes over a course, wherever it is; NULL if it can.  The operation of
 * a program may be freed before the end, and it would run on another thread.  In memory reductions
 * are ours, since nobody may call the MPI; which they are, all ranks know. */
static const char *unfit(const cco_call *call, cco_course course)
{
    if (!(cco_coll_infos[call->coll].properties & CCO_REDUCTION))
        return NULL;
    if (!cco_op_predefined(call->op))
        return "the operation is the program's";
    if (course > CCO_COURSE_MESSAGES &&
        (!cco_type_dense(call->recvtype) || cco_kernel_of(call->op, call->recvtype) == NULL))
        return "only the MPI can reduce this type";
    return NULL;
}

/* What a course lacks here; NULL if nothing. */
static const char *missing(const cco_comm *state, cco_course course)
{
    if (course > CCO_COURSE_MESSAGES) {
        if (state->facts.help < CCO_HELP_MEMORY)
            return "there is no helper thread (CRESTA_ASYNC)";
        if (!state->begins_ready)
            return "the next blocking call on this communicator makes it ready";
        return cco_yard_has(state, course) ? NULL : "its ranks share no memory for begins";
    }
    if (state->facts.help < CCO_HELP_MPI)
        return "there is no helper thread that may call the MPI (CRESTA_ASYNC=thread)";
    if (!state->begins_ready)
        return "the next blocking call on this communicator makes it ready";
    return cco_yard_has(state, CCO_COURSE_MESSAGES) ? NULL : "the MPI has too few tags";
}

static const char *grounded(const cco_comm *state, const cco_call *call, cco_course course)
{
    const char *why = unfit(call, course);
    return why != NULL ? why : missing(state, course);
}

static bool has_course(const cco_comm *state, const cco_way *way, const cco_call *call)
{
    return way->model->course != NULL && state->size > 1 && cco_arguments_fine(state, call);
}

cco_course cco_flight_course(const cco_comm *state, const cco_way *way, const cco_call *call,
                             const char **why)
{
    *why = NULL;
    if (!has_course(state, way, call))
        return CCO_COURSE_NONE;
    const cco_course course = way->model->course(state, way, why);
    if (course > CCO_COURSE_MESSAGES) {
        *why = grounded(state, call, course);
        if (*why == NULL)
            return course;
    }
    const char *stays = grounded(state, call, CCO_COURSE_MESSAGES);
    if (*why == NULL)
        *why = stays;
    return stays == NULL ? CCO_COURSE_MESSAGES : CCO_COURSE_NONE;
}

static bool could(const cco_comm *state, cco_course course)
{
    const cco_help needed = course > CCO_COURSE_MESSAGES ? CCO_HELP_MEMORY : CCO_HELP_MPI;
    return course != CCO_COURSE_NONE && state->facts.help >= needed;
}

bool cco_flight_wants(const cco_comm *state, const cco_way *way, const cco_call *call)
{
    const char *why;
    if (state->begins_ready || !has_course(state, way, call))
        return false;
    return could(state, way->model->course(state, way, &why)) ||
           could(state, CCO_COURSE_MESSAGES);
}

const char *cco_flight_lacks(const cco_comm *state, const cco_way *way, const cco_call *call)
{
    const char *never;
    if (!has_course(state, way, call))
        return NULL;
    const cco_course course = way->model->course(state, way, &never);
    if (never != NULL || unfit(call, course) != NULL)
        return NULL;
    return state->begins_ready || !could(state, course) ? missing(state, course) : NULL;
}

/* Types may be freed before the end: of those that are still needed then, another.  Blocks of
 * nothing may have none. */
static int hold(MPI_Datatype *type)
{
    return *type == MPI_DATATYPE_NULL || cco_type_predefined(*type) ? MPI_SUCCESS
                                                                    : cco_fresh_type(*type, type);
}

static void drop(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL && !cco_type_predefined(*type))
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

/* Builds the schedule itself. */
static int make_own(cco_flight *f)
{
    cco_scheduled *own = &f->own;
    f->frame.problem.counts = f->algo->shares_counts ? own->counts : NULL;
    int rc = cco_plan_find(&own->plans, f->algo, &f->frame.problem, &f->plan);
    if (rc != MPI_SUCCESS)
        return rc;
    if (f->plan->engine == NULL)
        return MPI_ERR_INTERN;
    f->shares = false;
    return cco_scheduled_bind(own, f->plan, &f->frame.binding, f->frame.low) ? MPI_SUCCESS
                                                                             : MPI_ERR_NO_MEM;
}

static int start(cco_flight *f)
{
    f->starts = false;
    if (f->runway == NULL)
        cco_rhythm_start(&f->rhythm, f->plan);
    return cco_engine_start(f->plan->engine, f->shares ? &f->sharing : &f->frame.binding);
}

/* Describes and packs the call, builds its schedule, or the one that has to come before. */
static int make(cco_flight *f, cco_comm *state, const cco_way *way)
{
    int rc = cco_frame_make(&f->frame, state, &f->call, true, &f->own.shop);
    if (rc == MPI_SUCCESS)
        rc = cco_scheduled_settle(state, way, &f->frame.problem, &f->algo);
    if (rc == MPI_SUCCESS)
        rc = hold_types(f);
    if (rc == MPI_SUCCESS)
        rc = cco_frame_fill(&f->frame);
    if (rc != MPI_SUCCESS)
        return rc;
    f->shares = f->algo->shares_counts;
    return f->shares ? cco_scheduled_share(&f->own, &f->frame.problem, &f->sharing, &f->plan)
                     : make_own(f);
}

bool cco_flight_move(cco_flight *f, bool *moved)
{
    bool done = false;
    if (f->starts && (f->rc = start(f)) != MPI_SUCCESS)
        return true;
    const int at = cco_engine_at(f->plan->engine);
    f->rc = cco_engine_test(f->plan->engine, &done);
    *moved = *moved || cco_engine_at(f->plan->engine) != at;
    if (f->runway == NULL)
        cco_rhythm_look(&f->rhythm, f->plan, at);
    if (f->rc == MPI_SUCCESS && done && f->shares) {
        f->rc = make_own(f);
        if (f->rc == MPI_SUCCESS)
            f->rc = start(f);
        done = false;
    }
    return done || f->rc != MPI_SUCCESS;
}

void cco_flight_end(cco_flight *f)
{
    if (f->rc == MPI_SUCCESS)
        f->rc = cco_frame_drain(&f->frame);
    drop_types(f);
    cco_workshop_trim(&f->own.shop);
}

/* It is not under way and will not be.  If that is so on this rank alone, what comes behind it on
 * its runway must not be taken for its data. */
static int give_up(cco_flight *f, int error)
{
    if (f->runway != NULL && error != MPI_ERR_UNSUPPORTED_OPERATION)
        __atomic_store_n(&f->runway->stream.broken, true, __ATOMIC_RELAXED);
    drop_types(f);
    cco_yard_lands(f);
    cco_yard_take_back(f);
    return error;
}

int cco_flight_begin(cco_comm *state, const cco_way *way, const cco_call *call, cco_course course,
                     MPI_Request *request)
{
    cco_flight *f = cco_yard_leave(state, course);
    if (f == NULL)
        return MPI_ERR_NO_MEM;
    f->call = *call;
    f->rc = MPI_SUCCESS;
    f->starts = f->counted = true;
    int rc = make(f, state, way);
    if (rc == MPI_SUCCESS && f->runway == NULL)
        rc = start(f);
    if (rc != MPI_SUCCESS)
        return give_up(f, rc);
    if (cco_yard_request(f, request) != MPI_SUCCESS)
        cco_fatal("the MPI refuses a generalized request");
    const cco_help kind = cco_flight_kind(f);
    cco_flights_add(f);
    if (f->runway != NULL) /* no later than now if it can */
        cco_flights_move(true);
    cco_helper_count(1, kind);
    return MPI_SUCCESS;
}
