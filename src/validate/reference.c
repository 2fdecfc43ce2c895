/* SPDX-License-Identifier: BSD-3-Clause */
/* reference.c - see reference.h. */
#include "validate/reference.h"

#include <string.h>

#include "algo/algo.h"
#include "model/registry.h"
#include "native/blocking_defects.h"
#include "native/calls.h"

/* Algorithms that refuse no problem, the simplest that a collective has. */
static const cco_algo *plain_algo(cco_coll coll)
{
    static const char *const names[] = {"linear", "reduce_bcast", "pairwise", "ring",
                                        "dissemination"};
    const cco_algo *algo = NULL;
    for (size_t i = 0; algo == NULL && i < sizeof names / sizeof *names; i++)
        algo = cco_algo_named(coll, names[i], strlen(names[i]));
    return algo;
}

cco_reference cco_reference_for(const cco_comm *state, const cco_way *way, const cco_call *call,
                                bool odd)
{
    cco_reference found = {.defect = cco_blocking_defect(state, call, odd)};
    if (found.defect == NULL)
        return found;
    const cco_algo *algo = plain_algo(call->coll);
    if (algo == NULL || algo == way->algo)
        return found;
    found.way = (cco_way){.model = &cco_model_p2p, .algo = algo};
    for (int i = 0; i < CCO_PARAMS && algo->params[i].name != NULL; i++)
        found.way.params[i] = algo->params[i].preset;
    return found;
}

int cco_reference_run(cco_comm *state, const cco_reference *reference, const cco_call *call)
{
    if (reference->defect != NULL)
        return reference->way.model->run(state, &reference->way, call);
    return cco_native_blocking(&cco_native[CCO_CALLER_INTERNAL], call);
}

const char *cco_reference_name(const cco_reference *reference)
{
    return reference->defect == NULL ? "the MPI's own call" : "plain messages";
}
