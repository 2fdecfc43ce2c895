/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.c - all models, from registry.def. */
#include "model/registry.h"

#include <stddef.h>

const cco_model *const cco_models[] = {
#define CCO_MODEL(name) &cco_model_##name,
#include "model/registry.def"
#undef CCO_MODEL
    NULL,
};

static unsigned named; /* bit per model */

void cco_model_name(const cco_model *model)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i] == model)
            named |= 1u << i;
}

void cco_models_begin(void)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (named >> i & 1 && cco_models[i]->job_begin != NULL)
            cco_models[i]->job_begin();
}

void cco_models_end(void)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i]->job_end != NULL)
            cco_models[i]->job_end();
}

void cco_models_free(void)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i]->job_free != NULL)
            cco_models[i]->job_free();
}
