/* SPDX-License-Identifier: BSD-3-Clause */
/* reentry.c - see reentry.h. */
#include "core/reentry.h"

_Thread_local int cco_reentry_depth __attribute__((tls_model("initial-exec")));
