/* SPDX-License-Identifier: BSD-3-Clause */
/* copies_send.h - a copy of a call's send buffer (CRESTA_PROTECTED_BUFFER). */
#ifndef CCO_COPIES_SEND_H
#define CCO_COPIES_SEND_H

#include "progress/call_shape.h"

/* Points a call to a copy of its send buffer, which the caller frees.  Returns MPI_SUCCESS or an
 * MPI error class. */
int cco_copy_send(cco_call *call, const cco_call_shape *shape, char **copy);

#endif
