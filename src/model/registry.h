/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.h - all models, from registry.def. */
#ifndef CCO_REGISTRY_H
#define CCO_REGISTRY_H

#include "core/model.h"

#define CCO_MODEL(name) extern const cco_model cco_model_##name;
#include "model/registry.def"
#undef CCO_MODEL

/* Ends with NULL. */
extern const cco_model *const cco_models[];

#endif
