/* SPDX-License-Identifier: BSD-3-Clause */
/* json_string.c - see json_string.h. */
#include "tune/json_string.h"

#include <string.h>

#include "tune/utf8.h"

static void put_byte(cco_json_sink *s, int c)
{
    s->zero = s->zero || c == 0;
    if (s->text != NULL && s->used + 1 < s->room)
        s->text[s->used] = (char)c;
    s->used++;
}

static void put_character(cco_json_sink *s, unsigned code)
{
    unsigned char bytes[4];
    const int count = cco_utf8_encode(code, bytes);
    for (int i = 0; i < count; i++)
        put_byte(s, bytes[i]);
}

/* The four digits after \u; -1, and an error, if they are none. */
static int take_hex(cco_json *json)
{
    int code = 0;
    for (int i = 0; i < 4; i++) {
        const int c = cco_json_byte(json);
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) {
            cco_json_unexpected(json, "four hexadecimal digits after \\u");
            return -1;
        }
        code = code * 16 + digit;
        json->at++;
    }
    return code;
}

/* What follows \u; two of them may make one character. */
static bool take_code(cco_json *json, const char *start, cco_json_sink *s)
{
    int code = take_hex(json);
    if (code >= 0xd800 && code < 0xdc00 && json->end - json->at >= 2 &&
        strncmp(json->at, "\\u", 2) == 0) {
        json->at += 2;
        const int low = take_hex(json);
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + (code - 0xd800) * 1024 + low - 0xdc00
                                             : code;
    }
    if (cco_json_failed(json))
        return false;
    if (code >= 0xd800 && code < 0xe000) {
        cco_json_fail(json, start,
                      "this is half of a character: \\ud800 to \\udbff and \\udc00 to "
                      "\\udfff stand in pairs only");
        return false;
    }
    put_character(s, (unsigned)code);
    return true;
}

static bool take_escape(cco_json *json, cco_json_sink *s)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *start = json->at++;
    const int c = cco_json_byte(json);
    const char *found = c > 0 ? strchr(names, c) : NULL;
    if (found == NULL && c != 'u')
        return cco_json_unexpected(json, "one of \" \\ / b f n r t u after \\");
    json->at++;
    if (c == 'u')
        return take_code(json, start, s);
    put_byte(s, values[found - names]);
    return true;
}

/* A character as it is. */
static bool take_character(cco_json *json, cco_json_sink *s)
{
    const int c = cco_json_byte(json);
    if (c < 0x20) {
        cco_json_fail(json, json->at, "a string cannot hold the byte 0x%02x: write \\u%04x",
                      (unsigned)c, (unsigned)c);
        return false;
    }
    const int length = cco_utf8_length(json->at, json->end);
    if (length == 0) {
        cco_json_fail(json, json->at, "the byte 0x%02x is no UTF-8 here", (unsigned)c);
        return false;
    }
    for (int i = 0; i < length; i++)
        put_byte(s, (unsigned char)*json->at++);
    return true;
}

bool cco_json_take_string(cco_json *json, cco_json_sink *s)
{
    const char *start = json->at++;
    while (cco_json_byte(json) != '"') {
        if (cco_json_byte(json) < 0) {
            cco_json_fail(json, start, "this string does not end");
            return false;
        }
        if (!(cco_json_byte(json) == '\\' ? take_escape(json, s) : take_character(json, s)))
            return false;
    }
    json->at++;
    if (s->text != NULL && s->room > 0)
        s->text[s->used < s->room ? s->used : s->room - 1] = '\0';
    return true;
}
