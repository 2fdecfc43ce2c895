/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning.h - the text of a tuning file as data: what it was made on, and its rules.
 *
 * docs/reference/file-formats.md describes the file.  Its rules become those that a spec would
 * give, by the same parser.  They are read last, and only if they are to be used: a file that was
 * made elsewhere may name implementations that do not exist here. */
#ifndef CCO_TUNING_H
#define CCO_TUNING_H

#include "tune/json.h"
#include "tune/machine.h"
#include "tune/rules.h"

#define CCO_TUNING_SCHEMA "crestacoll-tuning-1"

enum { CCO_TUNING_MOST = CCO_JSON_MOST }; /* bytes of such a file */

/* The text of a file, all of which is JSON, with a head that says all that it must. */
typedef struct cco_tuning {
    cco_machine made; /* on what */
    cco_json json;
    int rules; /* where they stand in it */
} cco_tuning;

/* False on an error: `error` has place and expectation.  Text, source and error are needed until
 * the rules are read; then cco_json_free(&tuning->json), after an error, too. */
bool cco_tuning_read(cco_tuning *tuning, const char *text, size_t length, const char *source,
                     char *error, size_t room);

/* Rules to be freed with free(), whose source is `name` for messages; NULL on an error. */
cco_rules *cco_tuning_rules(cco_tuning *tuning, const char *name);

/* What an object of the file says; false on an error. */
bool cco_tuning_rule(cco_json *json, int token, cco_rule *rule);

#endif
