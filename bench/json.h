/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - the little that programs without MPI_Init need to answer in JSON. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

/* A string on standard output, quoted. */
void json_text(const char *text);

/* "key": "text", and what stands between it and the next. */
void json_field(const char *key, const char *text, const char *after);

/* "key": number, likewise. */
void json_number(const char *key, unsigned long long number, const char *after);

#endif
