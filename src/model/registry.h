/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.h - all models, from registry.def. */
#ifndef CCO_REGISTRY_H
#define CCO_REGISTRY_H

#include "comm/model.h"

#define CCO_MODEL(name) extern const cco_model cco_model_##name;
#include "model/registry.def"
#undef CCO_MODEL

/* Ends with NULL. */
extern const cco_model *const cco_models[];

/* A rule of the job names it. */
void cco_model_name(const cco_model *model);

/* `job_begin` of those that are named, before any call that only some ranks may take part in; then
 * `job_end` and `job_free` of all. */
void cco_models_begin(void);
void cco_models_end(void);
void cco_models_free(void);

#endif
