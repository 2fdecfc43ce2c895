/* SPDX-License-Identifier: BSD-3-Clause */
/* content.h - text and data that grow, as a part of a file. */
#ifndef CCO_CONTENT_H
#define CCO_CONTENT_H

#include <stdbool.h>
#include <stddef.h>

/* Zero to begin with; errors stick. */
typedef struct cco_content {
    char *data;
    size_t used, room;
    bool failed; /* memory has run out, or the content cannot be written */
} cco_content;

__attribute__((format(printf, 2, 3))) void cco_content_print(cco_content *content,
                                                             const char *format, ...);

/* `n` bytes, zero to begin with, for the caller to write; NULL when memory runs out. */
char *cco_content_add(cco_content *content, size_t n);
void cco_content_free(cco_content *content);

#endif
