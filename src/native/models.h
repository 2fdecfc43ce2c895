/* SPDX-License-Identifier: BSD-3-Clause */
/* models.h - the models that are the MPI's own calls, each in the file of its name. */
#ifndef CCO_MODELS_H
#define CCO_MODELS_H

#include "call/data.h"
#include "wait/progress_thread.h"
#include "comm/model.h"

extern const cco_model cco_model_mpi, cco_model_nonblock, cco_model_persist;

/* True for a reduction with an operation of the program, while which is under way in a non-blocking
 * call the progress thread may have to stay out of the MPI (cco_progress_thread_hold_call). */
static inline bool cco_native_holds(const cco_call *call)
{
    return cco_progress_thread_runs_no_ops() &&
           cco_coll_infos[call->coll].properties & CCO_REDUCTION && !cco_op_predefined(call->op);
}

#endif
