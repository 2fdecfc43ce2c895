/* SPDX-License-Identifier: BSD-3-Clause */
/* env_kinds.h - how a value of an environment variable becomes a member of cco_config, and text
 * again; by kind (env_kinds.def). */
#ifndef CCO_ENV_KINDS_H
#define CCO_ENV_KINDS_H

#include "config/config.h"

enum { CCO_VALUE = 256 }; /* characters of a value as text, with its 0 */

/* A value as it was found. */
typedef struct cco_env_value {
    const cco_env_row *row;
    const char *text;
    bool given;  /* by the environment; otherwise it is a default */
    char *error; /* an error is written there, of cco_config's size */
} cco_env_value;

struct cco_env_kind {
    /* Reads a value into the member; writes an error, and leaves the member valid, if it is none.
     */
    void (*read)(void *member, const cco_env_value *value);
    /* The member as one line of text; different for different values. */
    void (*show)(const void *member, char text[CCO_VALUE]);
};

#define CCO_KIND(name) extern const cco_env_kind cco_kind_##name;
#define CCO_WORDS(name, type, a, b, c) extern const cco_env_kind cco_kind_##name;
#include "config/env_kinds.def"
#undef CCO_KIND
#undef CCO_WORDS

/* Any text as one line: a long one is shortened, and ends with its hash. */
void cco_show_text(const char *text, char line[CCO_VALUE]);

#endif
