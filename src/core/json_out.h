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

/* Opens the file that was `asked` for; `path` gets its name.  A world that another has `spawned`
 * must not overwrite the file of its parents, nor that of another one which ends in the same
 * microsecond.  NULL, and errno, if it cannot. */
FILE *cco_open_output(char *path, size_t room, const char *asked, bool spawned);

/* Returns 0, or an errno value if anything of it was not written. */
int cco_close_output(FILE *file);

#endif
