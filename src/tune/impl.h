/* SPDX-License-Identifier: BSD-3-Clause */
/* impl.h - the part of a rule that names an implementation. */
#ifndef CCO_IMPL_H
#define CCO_IMPL_H

#include "tune/parser.h"

/* The word for what measurements found (tune/auto.h). */
#define CCO_IMPL_AUTO "auto"

/* impl ::= "auto" | model [ ":" algorithm ] [ "?" param "=" value { "&" param "=" value } ]; a rule
 * for several collectives is left with those that have the algorithm. */
void cco_parse_impl(cco_parser *p, cco_rule *rule);

/* The way in which such a collective is done, as the rule says. */
void cco_rule_way(const cco_rule *rule, cco_coll coll, cco_way *way);

#endif
