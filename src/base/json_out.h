/* SPDX-License-Identifier: BSD-3-Clause */
/* json_out.h - what the JSON files of the library share: strings, names, opening and closing. */
#ifndef CCO_JSON_OUT_H
#define CCO_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A JSON string in ASCII: names of communicators and files may hold anything. */
void cco_put_string(FILE *file, const char *text);

/* The first line of what the MPI says of itself, as a string. */
void cco_put_library(FILE *file);

enum { CCO_PATH = 4096 };

/* A file that gets its name when it is complete: until then, and on a full disk, what had the name
 * before stays. */
typedef struct cco_output {
    FILE *file;
    char path[CCO_PATH];
    char made[CCO_PATH + 8]; /* what is written; empty where it is `path`, such as a device */
} cco_output;

/* Opens the file that was `asked` for.  A world that another has `spawned` must not overwrite the
 * file of its parents, nor that of another one which ends in the same microsecond.  Returns 0, or
 * an errno value if it cannot. */
int cco_output_open(cco_output *output, const char *asked, bool spawned);

/* Closes what was opened.  Returns 0, or an errno value if anything of it was not written. */
int cco_output_close(cco_output *output);

/* Whether cco_output_open() would succeed: 0, or an errno value.  Nothing is left behind. */
int cco_output_try(const char *asked);

#endif
