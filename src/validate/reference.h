/* SPDX-License-Identifier: BSD-3-Clause */
/* reference.h - what a checked call is compared with: the MPI's own call, or where that is a known
 * defect, a plain algorithm of ours over messages. */
#ifndef CCO_REFERENCE_H
#define CCO_REFERENCE_H

#include "comm/comm.h"

typedef struct cco_reference {
    const char *defect; /* why it is not the MPI's own call; NULL: it is */
    cco_way way;        /* then; without a model: there is none but what is checked */
} cco_reference;

/* The reference for a call that ran by `way`; `odd` as in native/blocking_defects.h.  Equal on
 * all ranks. */
cco_reference cco_reference_for(const cco_comm *state, const cco_way *way, const cco_call *call,
                                bool odd);

/* Makes a call by it.  Collective.  Returns MPI_SUCCESS or an MPI error class. */
int cco_reference_run(cco_comm *state, const cco_reference *reference, const cco_call *call);

/* Its name for messages. */
const char *cco_reference_name(const cco_reference *reference);

#endif
