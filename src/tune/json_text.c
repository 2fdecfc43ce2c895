/* SPDX-License-Identifier: BSD-3-Clause */
/* json_text.c - see json_text.h. */
#include "tune/json_text.h"

#include <stdarg.h>
#include <stdio.h>

void cco_json_start(cco_json *json, const char *text, size_t length, const char *source,
                    char *error, size_t room)
{
    *json = (cco_json){.text = text, .at = text, .end = text + length};
    json->source = source;
    json->error = error;
    json->room = room;
    error[0] = '\0';
}

bool cco_json_failed(const cco_json *json)
{
    return json->error[0] != '\0';
}

void cco_json_where(const cco_json *json, const char *place, int *line, int *column)
{
    *line = *column = 1;
    for (const char *c = json->text; c < place; c++) {
        if (*c == '\n') {
            ++*line;
            *column = 1;
        } else {
            *column += ((unsigned char)*c & 0xc0) != 0x80; /* not inside a character */
        }
    }
}

void cco_json_fail(cco_json *json, const char *place, const char *format, ...)
{
    int line, column;
    if (cco_json_failed(json))
        return;
    cco_json_where(json, place, &line, &column);
    const int used = snprintf(json->error, json->room, "%s: line %d, column %d: ", json->source,
                              line, column);
    va_list arguments;
    va_start(arguments, format);
    if (used > 0 && (size_t)used < json->room)
        vsnprintf(json->error + used, json->room - (size_t)used, format, arguments);
    va_end(arguments);
    for (char *c = json->error; *c != '\0'; c++) /* parts of the text go to a terminal */
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

bool cco_json_unexpected(cco_json *json, const char *expected)
{
    const int c = cco_json_byte(json);
    if (c < 0)
        cco_json_fail(json, json->at, "expected %s, but the text ends here", expected);
    else if (c > 0x20 && c < 0x7f)
        cco_json_fail(json, json->at, "expected %s, found '%c'", expected, c);
    else
        cco_json_fail(json, json->at, "expected %s, found the byte 0x%02x", expected, (unsigned)c);
    return false;
}

const char *cco_json_place(cco_json *json)
{
    int c = cco_json_byte(json);
    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        json->at++;
        c = cco_json_byte(json);
    }
    return json->at;
}
