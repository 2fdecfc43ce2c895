/* SPDX-License-Identifier: BSD-3-Clause */
/* json_reader.h - reads JSON (RFC 8259) from memory, value by value.
 *
 * There is no tree and no recursion: the caller asks for what it expects next, and skips what it
 * does not want.  What is skipped is checked all the same.  The first error sticks, and names its
 * line and column; after it, all functions return false. */
#ifndef CCO_JSON_READER_H
#define CCO_JSON_READER_H

#include "tune/json_text.h"

typedef enum cco_json_kind {
    CCO_JSON_NOTHING, /* no value begins here */
    CCO_JSON_OBJECT,
    CCO_JSON_ARRAY,
    CCO_JSON_STRING,
    CCO_JSON_NUMBER,
    CCO_JSON_WORD, /* true, false, null */
} cco_json_kind;

/* What the next value is; json->at is then where it begins. */
cco_json_kind cco_json_peek(cco_json *json);

/* Goes into the object or the array that comes next; an error if something else does. */
bool cco_json_open(cco_json *json, cco_json_kind kind);

/* Goes to the next member of the innermost object, whose name is cut to `room`; false at its end,
 * which closes it. */
bool cco_json_member(cco_json *json, char *name, size_t room);

/* Goes to the next element of the innermost array; false at its end, which closes it. */
bool cco_json_element(cco_json *json);

/* The value that comes next, as a string that fits and has no control characters, so that it can be
 * shown; `what` it is, for messages. */
bool cco_json_string(cco_json *json, const char *what, char *text, size_t room);

/* As a whole number, written in digits only. */
bool cco_json_whole(cco_json *json, const char *what, long long *number);

/* Whatever comes next. */
bool cco_json_skip(cco_json *json);

/* False, and an error, if anything follows. */
bool cco_json_finish(cco_json *json);

#endif
