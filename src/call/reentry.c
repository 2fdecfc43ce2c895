/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry.c - see reentry.h. */
#include "call/reentry.h"

_Thread_local int cco_reentry_depth __attribute__((tls_model("initial-exec")));
_Thread_local uint64_t *cco_mark_held __attribute__((tls_model("initial-exec")));

void cco_mark_give_back(void)
{
    if (cco_mark_held != NULL)
        __atomic_store_n(cco_mark_held, *cco_mark_held | CCO_MARK_FREE, __ATOMIC_RELEASE);
    cco_mark_held = NULL;
}
