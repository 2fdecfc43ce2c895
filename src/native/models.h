/* SPDX-License-Identifier: BSD-3-Clause */
/* models.h - the models that are the MPI's own calls, each in the file of its name. */
#ifndef CCO_MODELS_H
#define CCO_MODELS_H

#include "core/model.h"

extern const cco_model cco_model_mpi, cco_model_nonblock, cco_model_persist;

#endif
