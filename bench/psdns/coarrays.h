/* SPDX-License-Identifier: BSD-3-Clause */
/* coarrays.h - blocks in random order by gets from large coarrays (coarrays.f90). */
#ifndef PSDNS_COARRAYS_H
#define PSDNS_COARRAYS_H

#include "psdns.h"

psdns_exchange psdns_by_coarrays;

/* Starts coarrays in this job; on all ranks why there are none, or NULL. */
const char *psdns_coarrays_begin(void);

/* The coarrays for one size, which are `send` and `recv` of both sides; NULL, or on all ranks why
 * there are none. */
const char *psdns_coarrays_open(struct psdns *h);
void psdns_coarrays_close(void);

#endif
