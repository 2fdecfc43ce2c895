/* SPDX-License-Identifier: BSD-3-Clause */
/* content.c - see content.h. */
#include "validate/content.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *cco_content_add(cco_content *content, size_t n)
{
    if (content->failed)
        return NULL;
    if (content->room - content->used < n) {
        const size_t room = 2 * content->room + n + 256;
        char *larger = realloc(content->data, room);
        if (larger == NULL) {
            content->failed = true;
            return NULL;
        }
        content->data = larger;
        content->room = room;
    }
    char *added = content->data + content->used;
    content->used += n;
    return memset(added, 0, n);
}

void cco_content_print(cco_content *content, const char *format, ...)
{
    char text[1024];
    va_list more;
    va_start(more, format);
    const int n = vsnprintf(text, sizeof text, format, more);
    va_end(more);
    const size_t length = n < (int)sizeof text ? (size_t)n : sizeof text - 1;
    char *to = cco_content_add(content, length);
    if (to != NULL)
        memcpy(to, text, length);
}

void cco_content_free(cco_content *content)
{
    free(content->data);
    *content = (cco_content){0};
}
