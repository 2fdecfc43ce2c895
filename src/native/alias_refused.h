/* SPDX-License-Identifier: BSD-3-Clause */
/* alias_refused.h - whether the MPI refuses a call whose two buffers are one.
 *
 * The standard forbids such calls. MPICH refuses them in every collective, unless a setting of it
 * says otherwise; Open MPI in some, of more than one element. Where it does not, programs make
 * them. */
#ifndef CCO_ALIAS_REFUSED_H
#define CCO_ALIAS_REFUSED_H

#include <stdbool.h>

#include "call/call.h"

/* True if it returns an error for such a call.  Asks the MPI, once for each collective and for one
 * or several elements, on this rank alone. */
bool cco_alias_refused(const cco_call *call);

#endif
