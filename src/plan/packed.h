/* SPDX-License-Identifier: BSD-3-Clause */
/* packed.h - a bound reduction whose elements are packed bytes on their way: for transports that
 * know bytes only, and unpack operands where they are reduced. */
#ifndef CCO_PACKED_H
#define CCO_PACKED_H

#include "plan/bound.h"
#include "transport/local/elements.h"

/* True if its elements are no bytes where they lie.  Local: ranks may differ. */
bool cco_packed_wanted(const cco_bound *f);

/* Makes it one of packed bytes, in memory of the workspace, for cco_bound_pack and
 * cco_bound_unpack; `e` gets memory of the workspace too, and the operation.  Elements have a size.
 * MPI_SUCCESS or MPI_ERR_NO_MEM. */
int cco_packed_make(cco_bound *f, cco_elements *e, cco_workspace *workspace);

#endif
