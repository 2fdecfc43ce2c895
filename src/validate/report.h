/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - tells a difference: one message, and a file with which `crestacoll reproduce` makes
 * the call again. */
#ifndef CCO_VALIDATE_REPORT_H
#define CCO_VALIDATE_REPORT_H

#include "validate/compare.h"

/* `first` is that of this rank; rank `who` is the first that has one.  Collective over the
 * communicator, whose rank 0 speaks and writes. */
void cco_report_difference(cco_check *check, const cco_difference *first, int who);

/* Reports it for a begun call, in two steps: the rank that found it tells it, and later, collective
 * over `comm`, a communicator like that of the call, there is the file. */
void cco_report_begun(const cco_check *check, const cco_difference *first);
void cco_report_file(const cco_check *check, const cco_difference *first, int who, MPI_Comm comm);

#endif
