/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/our_requests.h"

int cco_our_requests;
