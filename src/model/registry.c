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
