/* SPDX-License-Identifier: BSD-3-Clause */
/* auto.h - the implementation `auto` of a rule: what measurements on several MPIs found faster than
 * the MPI's own calls (auto.def), and the MPI's own calls for all else. */
#ifndef CCO_AUTO_H
#define CCO_AUTO_H

#include "tune/rules.h"

/* The measured rules for the MPI of this process, as a spec. */
enum { CCO_AUTO_SPEC = 4096 }; /* characters, at most */
void cco_auto_spec(char *spec, size_t room);

/* Rules that a rule with `auto` becomes at most. */
int cco_auto_most(void);

/* Writes the rules that a rule with `auto` becomes, by the measured ones (NULL: none), to `list`,
 * which has room for cco_auto_most().  Returns how many. */
int cco_auto_expand(const cco_rules *measured, const cco_rule *rule, cco_rule *list);

/* Which measured rules hold for an MPI, by what its library says of itself: "openmpi", "mpich",
 * or "other". */
const char *cco_auto_family(const char *library);

#endif
