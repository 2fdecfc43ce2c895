/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - see guard.h. */
#include "core/guard.h"

_Thread_local int cco_guard_depth __attribute__((tls_model("initial-exec")));
