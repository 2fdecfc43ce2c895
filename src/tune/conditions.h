/* SPDX-License-Identifier: BSD-3-Clause */
/* conditions.h - the conditions of a rule in braces: "{nodes=2-inf&operation=rounding}". */
#ifndef CCO_CONDITIONS_H
#define CCO_CONDITIONS_H

#include "tune/parser.h"

/* What comes behind the opening brace, and the closing one. */
void cco_parse_conditions(cco_parser *p, cco_rule *rule);

#endif
