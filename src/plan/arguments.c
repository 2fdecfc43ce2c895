/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments.c - see arguments.h. */
#include "plan/arguments.h"

#include <stdlib.h>

#include "reduce/classes.h"
#include "mpi/mpi_check.h"
#include "call/data.h"
#include "call/raise.h"
#include "call/reentry.h"
#include "native/alias_refused.h"
#include "native/calls.h"
#include "plan/alias.h"
#include "plan/bound.h"
#include "plan/call_cache.h"

/* MPI_BOTTOM is a null pointer: with a derived type it is right, and with displacements of its own
 * a block may lie anywhere but in the first pages, where no process has memory. */
static bool is_null(const cco_call *c, const cco_buffer *end, int i, MPI_Datatype type)
{
    enum { NO_MEMORY = 4096 };
    return CCO_NULL_BUFFERS_REFUSED && end->buffer == NULL && !cco_is_neighbor(c->coll) &&
           (end->types == NULL || cco_displ_at(c, end->displs, i) < NO_MEMORY) &&
           cco_type_predefined(type);
}

/* `standard`: its type is one of the standard's. */
static bool end_is_fine(const cco_call *c, const cco_buffer *end, bool standard)
{
    if (end->blocks > 0 && end->buffer == MPI_IN_PLACE)
        return false;
    for (int i = 0; i < end->blocks; i++) {
        if (cco_buffer_absent(c, end, i))
            continue;
        const MPI_Datatype type = end->types != NULL ? end->types[i] : end->type;
        const MPI_Count count = cco_buffer_count(c, end, i);
        const bool known = standard || (i > 0 && end->types == NULL);
        if (count < 0 || !cco_is_type(type) ||
            (!known && !cco_type_predefined(type) && cco_mpi_check_type(type, 1) != MPI_SUCCESS) ||
            (end->buffer == NULL && count > 0 && is_null(c, end, i, type)))
            return false;
        if (end->counts == NULL && end->types == NULL)
            break;
    }
    return true;
}

/* What has a kernel is of the standard, and fits. */
static bool reduction_is_fine(const cco_call *c, const cco_buffer *in, const cco_buffer *out)
{
    const bool standard = cco_kernel_of(c->op, in->type) != NULL;
    return end_is_fine(c, in, standard) && end_is_fine(c, out, standard || in->blocks > 0) &&
           (standard || !cco_op_reserved(c->op) ||
            cco_mpi_check_op(c->op, in->type) == MPI_SUCCESS);
}

/* The arrays of a side that has a block for each peer. */
static bool side_has_arrays(const cco_call *c, bool sent)
{
    const void *counts = sent ? c->sendcounts : c->recvcounts;
    const void *displs = sent ? c->senddispls : c->recvdispls;
    const bool typed = c->coll == CCO_ALLTOALLW || c->coll == CCO_NEIGHBOR_ALLTOALLW;
    return counts != NULL && displs != NULL &&
           (!typed || (sent ? c->sendtypes : c->recvtypes) != NULL);
}

static bool arguments_has_arrays(const cco_comm *state, const cco_call *c)
{
    const cco_coll_info *info = &cco_coll_infos[c->coll];
    const cco_degrees blocks = cco_comm_blocks(state, c->coll);
    const bool significant = !(info->properties & CCO_ROOTED) || state->rank == c->root;
    if (!(info->properties & CCO_COUNTS) || !significant)
        return true;
    if (info->properties & CCO_REDUCTION)
        return c->recvcounts != NULL;
    const bool sends = info->in & (CCO_EACH | CCO_NEAR), takes = info->out & (CCO_EACH | CCO_NEAR);
    return (!sends || blocks.out == 0 || c->sendbuf == MPI_IN_PLACE || side_has_arrays(c, true)) &&
           (!takes || blocks.in == 0 || side_has_arrays(c, false));
}

bool cco_arguments_valid(const cco_comm *state, const cco_call *c)
{
    const int properties = cco_coll_infos[c->coll].properties;
    cco_buffer in, out;
    if (c->coll == CCO_BARRIER)
        return true;
    if (properties & CCO_ROOTED && (c->root < 0 || c->root >= state->size))
        return false;
    if (properties & CCO_REDUCTION && !cco_is_op(c->op))
        return false;
    if (!arguments_has_arrays(state, c) || (cco_aliased(c, state->rank) && cco_alias_refused(c)))
        return false;
    const bool in_place = cco_bound_ends(state, c, &in, &out);
    if (c->sendbuf == MPI_IN_PLACE && in.blocks > 0 && !in_place)
        return false;
    return properties & CCO_REDUCTION ? reduction_is_fine(c, &in, &out)
                                      : end_is_fine(c, &in, false) && end_is_fine(c, &out, false);
}

/* Where the error ends the job, launchers often lose what the MPI says of it: then it is said
 * here, and waited for. */
int cco_arguments_refuse(const cco_call *call)
{
    const cco_natives *to = cco_natives_for(call);
    MPI_Errhandler theirs;
    cco_mark_give_back();
    if (!cco_raise_ends_job(call->comm) ||
        PMPI_Comm_get_errhandler(call->comm, &theirs) != MPI_SUCCESS)
        return cco_native_blocking(to, call);
    PMPI_Comm_set_errhandler(call->comm, MPI_ERRORS_RETURN);
    const int rc = cco_native_blocking(to, call);
    PMPI_Comm_set_errhandler(call->comm, theirs);
    return rc == MPI_SUCCESS ? rc : cco_raise_in(call->comm, call->coll, rc);
}

/* Calls that were right, by their place; NULL: none yet. */
typedef struct own {
    cco_cached_call *calls[CCO_CACHED_CALLS];
} own;

static const char own_key; /* its address is the key */

static void handed_release(void *data)
{
    own *o = data;
    for (int i = 0; i < CCO_CACHED_CALLS; i++)
        free(o->calls[i]);
    free(o);
}

static own *handed_own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    return o != NULL ? o : cco_comm_attach(state, &own_key, sizeof *o, handed_release);
}

static int handed_repeat(const cco_repeat *again, const void *sendbuf, void *recvbuf,
                         const cco_call *call)
{
    cco_cached_call *m = again->cached;
    cco_call ours = m->call;
    (void)call; /* it has no arrays */
    ours.sendbuf = sendbuf;
    ours.recvbuf = recvbuf;
    return m->way.model->run(again->state, &m->way, &ours);
}

bool cco_handed_is_right(cco_comm *state, const cco_way *way, const cco_call *call)
{
    own *o = handed_own_of(state);
    cco_cached_call **place = &o->calls[cco_cached_call_index(call)];
    const bool known = *place != NULL && (*place)->set && cco_cached_call_is_like(*place, call);
    if (!known && !cco_arguments_valid(state, call))
        return false;
    if (!known && !cco_call_lasts(state, call))
        return true;
    if (*place == NULL)
        *place = calloc(1, sizeof **place);
    if (*place == NULL)
        return true;
    if (!known)
        cco_cached_call_write_arguments(*place, state->rank, call);
    cco_cached_call_repeat(*place, state, way, o, handed_repeat);
    return true;
}

/* A call that the MPI refuses has no classes: its handles may be none. */
cco_choice *cco_choose_by_call(cco_comm *state, const cco_call *call, MPI_Count bytes)
{
    unsigned classes = 0;
    if (!(state->chosen.classed >> call->coll & 1))
        return cco_choose(state, call->coll, bytes);
    if (!cco_classes_again(call, &classes))
        classes = cco_arguments_valid(state, call) ? cco_classes_of(call) : 0;
    return cco_choose_classed(state, call->coll, bytes, classes);
}
