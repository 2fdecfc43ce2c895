/* SPDX-License-Identifier: BSD-3-Clause */
/* json_string.h - strings of JSON, which become UTF-8. */
#ifndef CCO_JSON_STRING_H
#define CCO_JSON_STRING_H

#include "tune/json_text.h"

/* Where a string goes; text is NULL for one that is only checked. */
typedef struct cco_json_sink {
    char *text;
    size_t room, used; /* used: what it takes, perhaps more than there is */
    bool zero;         /* it has a zero character, which C takes for the end */
} cco_json_sink;

/* Takes a string, whose quote comes next.  What does not fit is cut off. */
bool cco_json_take_string(cco_json *json, cco_json_sink *sink);

#endif
