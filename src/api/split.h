/* SPDX-License-Identifier: BSD-3-Clause */
/* split.h - split-phase collectives: what every generated CRESTA_x_begin does. */
#ifndef CCO_SPLIT_H
#define CCO_SPLIT_H

#include "api/kept.h"
#include "api/process.h"
#include "core/call.h"
#include "core/config.h"
#include "cresta_sp_coll.h"

/* True while a call without arrays is nothing but the MPI's own. */
static inline bool cco_begin_is_plain(void)
{
    return cco_phase_now() == CCO_IDLE && !cco_configured.protect && !cco_kept_any();
}

/* Begins a call, with copies of what the MPI may read until the end; records it. */
int cco_begin(const cco_call *call, MPI_Request *request);

#endif
