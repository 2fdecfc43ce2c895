/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.h - memory for the copies of checks of begun calls, which last from one call of the
 * program to another: all of them together take at most half of CRESTA_VALIDATE_MEMORY, so that a
 * check of a blocking call always finds the other half. */
#ifndef CCO_BUDGET_H
#define CCO_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* All that there is. */
size_t cco_budget_most(void);

/* Takes bytes, if there are so many; gives them back. */
bool cco_budget_take(size_t bytes);
void cco_budget_give(size_t bytes);

/* What is taken now. */
size_t cco_budget_taken(void);

#endif
