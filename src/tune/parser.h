/* SPDX-License-Identifier: BSD-3-Clause */
/* parser.h - what the parsers of a spec's parts share: a place in the text, the first error. */
#ifndef CCO_PARSER_H
#define CCO_PARSER_H

#include "tune/rules.h"

typedef struct cco_parser {
    const char *spec, *at; /* all of it; what comes next */
    const char *source;
    char *error; /* "" while all is well */
    size_t room;
} cco_parser;

bool cco_parse_failed(const cco_parser *p);

/* Says what is wrong at `place`, with the line it stands in. */
__attribute__((format(printf, 3, 4))) void cco_parse_fail(cco_parser *p, const char *place,
                                                          const char *format, ...);

void cco_parse_skip_blanks(cco_parser *p);

/* Takes a character if it comes next. */
bool cco_parse_accept(cco_parser *p, char c);
void cco_parse_expect(cco_parser *p, char c, const char *after);

/* What a number counts.  Bytes may have K, M or G. */
typedef enum cco_counted { CCO_BYTES, CCO_PROCESSES, CCO_NODES } cco_counted;

/* A number, or inf. */
MPI_Count cco_parse_number(cco_parser *p, MPI_Count inf, cco_counted what);

/* "low-high" or "value", and the bracket behind it; '\0': none. */
void cco_parse_range(cco_parser *p, cco_counted what, char close, MPI_Count inf, MPI_Count *low,
                     MPI_Count *high);

/* What comes behind the opening brace, and the closing one. */
void cco_parse_conditions(cco_parser *p, cco_rule *rule);

#endif
