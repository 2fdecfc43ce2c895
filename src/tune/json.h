/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - JSON (RFC 8259) in memory as a list of tokens, which jsmn finds.
 *
 * A token is named by its index: 0 is the whole, and a value's parts follow it.  Nothing recurs, so
 * that no file exhausts the stack.  The first error sticks, and names its line and column; after
 * it, all functions do nothing. */
#ifndef CCO_JSON_H
#define CCO_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CCO_JSON_MOST = 4 << 20, /* bytes, and */
    CCO_JSON_DEPTH = 64
}; /* values inside of values, at most */

typedef struct cco_json {
    const char *text, *source; /* source: of the text, for messages */
    void *tokens;              /* of jsmn, */
    int count;                 /* so many */
    char *error;               /* "" while all is well */
    size_t room;
} cco_json;

/* The members that an object may have. */
typedef struct cco_json_members {
    const char *what;       /* the object, for messages */
    const char *const *key; /* NULL behind the last; 16 at most */
    unsigned needed;        /* bit i: it must have key[i] */
    bool open;              /* it may have others, which are passed over */
} cco_json_members;

/* False on an error; json is to be freed in any case.  Text, source and error stay in use. */
bool cco_json_parse(cco_json *json, const char *text, size_t length, const char *source,
                    char *error, size_t room);
void cco_json_free(cco_json *json);

bool cco_json_failed(const cco_json *json);

/* Says what is wrong at a place in the text, or with a value. */
__attribute__((format(printf, 3, 4))) void cco_json_fail_at(cco_json *json, size_t place,
                                                            const char *format, ...);
#define cco_json_fail(json, token, ...)                                                            \
    cco_json_fail_at(json, cco_json_place(json, token), __VA_ARGS__)

/* Where a value begins. */
size_t cco_json_place(const cco_json *json, int token);

/* Line and column of a value, as messages name them; both from 1.  Columns are characters. */
void cco_json_where(const cco_json *json, int token, int *line, int *column);

/* Where the values of an object's members are: value[i] of key[i], 0 if it has none. */
void cco_json_object(cco_json *json, int token, const cco_json_members *members, int *value);

/* How many elements an array has; the first is token + 1. */
int cco_json_array(cco_json *json, int token, const char *what);

/* What follows a value and all that is in it. */
int cco_json_next(const cco_json *json, int token);

/* True if it is this string, written without escapes. */
bool cco_json_is(const cco_json *json, int token, const char *text);

/* A string that fits and has no control characters, so that it can be shown; `what`
 * it is, for messages. */
void cco_json_string(cco_json *json, int token, const char *what, char *text, size_t room);

/* A whole number, written in digits only. */
void cco_json_whole(cco_json *json, int token, const char *what, long long *number);

#endif
