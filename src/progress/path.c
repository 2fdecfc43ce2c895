/* SPDX-License-Identifier: BSD-3-Clause */
/* path.c - see path.h. */
#include "progress/path.h"

#include "call/data.h"
#include "plan/arguments.h"
#include "progress/operation_pool.h"

/* The path that begins of an implementation take, where the ranks can have it. */
static cco_path path_for(const cco_comm *state, const cco_way *way)
{
    const char *why;
    const cco_path path = cco_has_paths(state, way) ? way->model->path(state, way, &why)
                                                    : CCO_PATH_NONE;
    if (cco_path_is_memory(path) && state->facts.linked)
        return path;
    if (path == CCO_PATH_NONE || state->facts.progress < CCO_PROGRESS_MPI)
        return CCO_PATH_NONE;
    return path == CCO_PATH_NODES ? path : CCO_PATH_MESSAGES;
}

static bool visit_paths(cco_comm *state, bool make)
{
    bool any = false;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        for (int i = 0; i < state->chosen.of[coll].count; i++) {
            const cco_path path = path_for(state, &state->chosen.of[coll].list[i].way);
            any = any || path != CCO_PATH_NONE;
            if (make && path != CCO_PATH_NONE)
                cco_operation_pool_make(state, path);
        }
    return any;
}

bool cco_paths_possible(cco_comm *state)
{
    return state->facts.progress != CCO_PROGRESS_NONE && visit_paths(state, false);
}

void cco_paths_prepare(cco_comm *state)
{
    if (state->facts.progress != CCO_PROGRESS_NONE)
        visit_paths(state, true);
}

/* Why no begin of such a call goes over a path, wherever it is; NULL if it can.  The operation of
 * a program may be freed before the end, and it would run on another thread.  In memory reductions
 * are ours, since nobody may call the MPI; which they are, all ranks know. */
static const char *path_unfit(const cco_call *call, cco_path path)
{
    if (!(cco_coll_infos[call->coll].properties & CCO_REDUCTION))
        return NULL;
    if (!cco_op_predefined(call->op))
        return "the operation is the program's";
    if (cco_path_is_memory(path) &&
        (!cco_type_dense(call->recvtype) || cco_kernel_of(call->op, call->recvtype) == NULL))
        return "only the MPI can reduce this type";
    return NULL;
}

/* What a progress thread must be allowed to do. */
static cco_progress_level level_of(cco_path path)
{
    return cco_path_is_memory(path) ? CCO_PROGRESS_MEMORY : CCO_PROGRESS_MPI;
}

/* What a path lacks here; NULL if nothing. */
static const char *path_missing(const cco_comm *state, cco_path path)
{
    if (state->facts.progress < level_of(path))
        return cco_path_is_memory(path)
                   ? "there is no progress thread (CRESTA_ASYNC)"
                   : "there is no progress thread that may call the MPI (CRESTA_ASYNC=thread)";
    if (!state->begins.ready)
        return "the next blocking call on this communicator makes it ready";
    if (!cco_path_is_memory(path) && !cco_operation_pool_has(state, CCO_PATH_MESSAGES))
        return "the MPI has too few tags";
    if (cco_operation_pool_has(state, path))
        return NULL;
    return path == CCO_PATH_NODES ? "the ranks of a node share no memory for begins"
                                  : "the ranks share no memory for begins";
}

static const char *path_lacking(const cco_comm *state, const cco_call *call, cco_path path)
{
    const char *why = path_unfit(call, path);
    return why != NULL ? why : path_missing(state, path);
}

static bool path_could(const cco_comm *state, cco_path path)
{
    return path != CCO_PATH_NONE && state->facts.progress >= level_of(path);
}

/* Over messages, or not at all. */
static void leave_to_messages(cco_begin_path *b, const cco_comm *state, const cco_call *call)
{
    const char *why = path_lacking(state, call, CCO_PATH_MESSAGES);
    b->path = why == NULL ? CCO_PATH_MESSAGES : CCO_PATH_NONE;
    if (b->why == NULL)
        b->why = why;
}

/* Where the ranks cannot read each other's memory, all data go through what they share.  A reason
 * for those who asked for that. */
static const char *path_unreadable(const cco_comm *state, cco_path *path)
{
    const bool asked = *path == CCO_PATH_SHM_COPY_ONCE;
    if (!cco_path_reads(*path) || !cco_operation_pool_has(state, CCO_PATH_SEGMENT) ||
        cco_operation_pool_has(state, *path))
        return NULL;
    *path = CCO_PATH_SEGMENT;
    return !asked ? NULL : "the kernel does not let the ranks read each other's memory";
}

cco_begin_path cco_path_of_begin(const cco_comm *state, const cco_way *way, const cco_call *call)
{
    cco_begin_path b = {.path = CCO_PATH_NONE};
    if (!cco_has_paths(state, way) || !cco_arguments_valid(state, call))
        return b;
    cco_path named = way->model->path(state, way, &b.why);
    const char *unread = path_unreadable(state, &named);
    const char *never = b.why != NULL ? b.why : path_unfit(call, named),
               *lacks = path_missing(state, named);
    if (never == NULL && (state->begins.ready || !path_could(state, named)))
        b.lacks = lacks != NULL ? lacks : unread;
    b.unprepared = !state->begins.ready &&
                   (path_could(state, named) || path_could(state, CCO_PATH_MESSAGES));
    b.path = named;
    if (named > CCO_PATH_MESSAGES)
        b.why = never != NULL ? never : lacks;
    if (named <= CCO_PATH_MESSAGES || b.why != NULL)
        leave_to_messages(&b, state, call);
    else
        b.why = unread;
    return b;
}
