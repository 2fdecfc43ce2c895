/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - see json.h. */
#include "json.h"

#include <stdio.h>

void json_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar((unsigned char)*text < 0x20 ? ' ' : *text);
    }
    putchar('"');
}

void json_field(const char *key, const char *text, const char *after)
{
    json_text(key);
    printf(": ");
    json_text(text);
    printf("%s", after);
}

void json_number(const char *key, unsigned long long number, const char *after)
{
    json_text(key);
    printf(": %llu%s", number, after);
}
