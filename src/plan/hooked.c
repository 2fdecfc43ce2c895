/* SPDX-License-Identifier: BSD-3-Clause */
/* hooked.c - the transport of a model that runs schedules, watched or disturbed as CRESTA_DEBUG
 * says. */
#include "plan/hooked.h"

#include <stdio.h>

#include "config/config.h"
#include "base/log.h"

static void hooked_trace(void *listener, const char *what, int peer, size_t bytes)
{
    const cco_comm *state = listener;
    char with[32] = "";
    if (peer >= 0)
        snprintf(with, sizeof with, " with rank %d", peer);
    cco_say("trace: rank %d of '%s': %s %zu bytes%s", state->rank, state->name, what, bytes, with);
}

void cco_scheduled_over(cco_scheduled *own, const cco_transport *transport, void *shared,
                        cco_unlike *unlike, cco_comm *state)
{
    const cco_debug *debug = &cco_configured.debug;
    own->plans.transport = transport;
    own->plans.shared = shared;
    own->unlike = unlike;
    own->between = cco_profiled && state->nodes.count > 1 ? &state->records.between : NULL;
    if (!debug->trace && !debug->delay && !debug->fail)
        return;
    own->hook = (cco_hook){.inner = transport,
                           .shared = shared,
                           .seed = debug->delay ? debug->delay * 8191 + (uint64_t)state->rank : 0,
                           .fail = (long)debug->fail,
                           .trace = debug->trace ? hooked_trace : NULL,
                           .listener = state};
    own->plans.transport = &cco_transport_hook;
    own->plans.shared = &own->hook;
}
