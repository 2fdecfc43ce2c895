/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning_rule.h - one rule of a tuning file. */
#ifndef CCO_TUNING_RULE_H
#define CCO_TUNING_RULE_H

#include "tune/json.h"
#include "tune/rules.h"

/* What an object of the file says; false on an error. */
bool cco_tuning_rule(cco_json *json, int token, cco_rule *rule);

#endif
