/* SPDX-License-Identifier: BSD-3-Clause */
/* handed.c - see handed.h. */
#include "plan/handed.h"

#include <stdlib.h>

#include "plan/arguments.h"
#include "plan/call_cache.h"

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
