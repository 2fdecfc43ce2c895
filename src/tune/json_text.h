/* SPDX-License-Identifier: BSD-3-Clause */
/* json_text.h - what the readers of JSON's parts share: a place in the text, the first error. */
#ifndef CCO_JSON_TEXT_H
#define CCO_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { CCO_JSON_DEPTH = 64 }; /* values inside of values, at most */

/* A copy of it reads on from the same place. */
typedef struct cco_json {
    const char *text, *at, *end; /* nothing is read at `end` */
    const char *name;            /* where that of the last member begins */
    const char *source;          /* of the text, for messages */
    char *error;                 /* "" while all is well */
    size_t room;
    int depth;                 /* objects and arrays that are open, */
    char open[CCO_JSON_DEPTH]; /* '{' or '[' of each; */
    bool fresh;                /* nothing of the innermost has been read */
} cco_json;

/* `error` is set to "". */
void cco_json_start(cco_json *json, const char *text, size_t length, const char *source,
                    char *error, size_t room);

bool cco_json_failed(const cco_json *json);

/* Says what is wrong at `place`, a place in the text. */
__attribute__((format(printf, 3, 4))) void cco_json_fail(cco_json *json, const char *place,
                                                         const char *format, ...);

/* Line and column of a place, as messages name them; both from 1.  Columns are characters. */
void cco_json_where(const cco_json *json, const char *place, int *line, int *column);

/* The next byte, -1 at the end. */
static inline int cco_json_byte(const cco_json *json)
{
    return json->at < json->end ? (unsigned char)*json->at : -1;
}

/* Says that something else comes next than what is expected; false. */
bool cco_json_unexpected(cco_json *json, const char *expected);

/* Goes to the next byte that is not blank, which is where the next value begins. */
const char *cco_json_place(cco_json *json);

#endif
