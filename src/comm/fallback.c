/* SPDX-License-Identifier: BSD-3-Clause */
/* fallback.c - see fallback.h. */
#include "comm/fallback.h"

#include "config/config.h"
#include "base/log.h"

static bool first_time(uint32_t *reported, int bit)
{
    return !(__atomic_fetch_or(reported, 1u << bit, __ATOMIC_RELAXED) >> bit & 1);
}

int cco_fall_back(const cco_comm *state, const cco_fallback *f, uint32_t *reported, int bit)
{
    const cco_fallback_policy policy = f->forbidden ? CCO_FALLBACK_ERROR : cco_configured.fallback;
    const char *call = f->call != NULL ? f->call : "", *on = f->call != NULL ? " on " : "";
    const bool prints = policy != CCO_FALLBACK_SILENT && f->reports && first_time(reported, bit);
    if (prints && policy == CCO_FALLBACK_ERROR)
        cco_say("%s%scommunicator '%s': %s: %s (%s)", call, on, state->name, f->asked, f->why,
                f->forbidden ? "CRESTA_REPRODUCIBLE=1" : "CRESTA_FALLBACK=error");
    else if (prints)
        cco_log(CCO_LOG_WARN, "%s%scommunicator '%s': %s: %s; %s runs instead", call, on,
                state->name, f->asked, f->why, f->instead);
    return policy == CCO_FALLBACK_ERROR ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_SUCCESS;
}
