/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - see json.h.  What jsmn lets pass is checked here: characters, depth, what stands between
 * values, and how numbers are written. */
#include "tune/json.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

static const jsmntok_t *json_token(const cco_json *json, int token)
{
    return (const jsmntok_t *)json->tokens + token;
}

bool cco_json_failed(const cco_json *json)
{
    return json->error[0] != '\0';
}

size_t cco_json_place(const cco_json *json, int token)
{
    const jsmntok_t *t = json_token(json, token);
    return token < json->count ? (size_t)t->start - (t->type == JSMN_STRING) : 0;
}

static size_t json_end(const cco_json *json, int token)
{
    const jsmntok_t *t = json_token(json, token);
    return (size_t)t->end + (t->type == JSMN_STRING);
}

static void json_locate(const cco_json *json, size_t place, int *line, int *column)
{
    *line = *column = 1;
    for (const char *c = json->text; c < json->text + place; c++) {
        if (*c == '\n') {
            ++*line;
            *column = 1;
        } else {
            *column += ((unsigned char)*c & 0xc0) != 0x80; /* not inside a character */
        }
    }
}

void cco_json_fail_at(cco_json *json, size_t place, const char *format, ...)
{
    int line, column;
    if (cco_json_failed(json))
        return;
    json_locate(json, place, &line, &column);
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

void cco_json_where(const cco_json *json, int token, int *line, int *column)
{
    json_locate(json, cco_json_place(json, token), line, column);
}

/* The character at `at`: how many bytes, or an error. */
static int json_character(cco_json *json, size_t at, size_t length, bool in_string)
{
    unsigned code = 0;
    const int bytes = cco_utf8_decode(json->text + at, json->text + length, &code);
    const unsigned byte = (unsigned char)json->text[at];
    if (bytes == 0)
        cco_json_fail_at(json, at, "the byte 0x%02x is no UTF-8 here", byte);
    else if (code < 0x20 && in_string)
        cco_json_fail_at(json, at, "a string cannot hold the byte 0x%02x: write \\u%04x", byte,
                         byte);
    else if (code == 0)
        cco_json_fail_at(json, at, "expected a value, found the byte 0x00");
    return bytes;
}

/* Characters and depth. jsmn takes time by the square of the depth, and stops at a zero. */
static void json_check_text(cco_json *json, size_t length)
{
    bool in_string = false;
    size_t start = 0;
    int depth = 0;
    if (length > CCO_JSON_MOST)
        cco_json_fail_at(json, CCO_JSON_MOST,
                         "here it exceeds the %d bytes that a tuning file may have", CCO_JSON_MOST);
    for (size_t at = 0; at < length && !cco_json_failed(json);) {
        const char c = json->text[at];
        if (c == '"') {
            in_string = !in_string;
            start = at;
        }
        depth += in_string ? 0 : (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth > CCO_JSON_DEPTH)
            cco_json_fail_at(json, at, "values are nested more than %d deep", CCO_JSON_DEPTH);
        at += in_string && c == '\\' && at + 1 < length;
        at += (size_t)json_character(json, at, length, in_string);
    }
    if (in_string)
        cco_json_fail_at(json, start, "this string does not end");
}

/* What jsmn takes for a number or a word, which begins as one. */
static bool json_is_primitive(const char *at, size_t length)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (strlen(words[i]) == length && strncmp(at, words[i], length) == 0)
            return true;
    const size_t sign = *at == '-';
    return sign < length && at[sign] >= '0' && at[sign] <= '9' &&
           strspn(at, "0123456789+-.eE") >= length;
}

/* What stands from one token to the next, or to the end of the text, besides blanks: the ends of
 * values, which jsmn has matched, and then what is `wanted`, if anything is. */
static void json_check_between(cco_json *json, size_t from, size_t to, char wanted, bool last)
{
    bool seen = false;
    for (size_t at = from; at < to; at++) {
        const char c = json->text[at];
        const bool found = c == wanted && !seen, closes = wanted == ',' && (c == ']' || c == '}');
        seen = seen || found;
        if (strchr(" \t\r\n", c) == NULL && !found && (seen || !closes))
            cco_json_fail_at(json, at, "expected a value, found '%c'", c);
    }
    if (seen && last)
        cco_json_fail_at(json, to, "expected a value, but the text ends here");
    if (!seen && !last && wanted != '\0')
        cco_json_fail_at(json, to, "expected '%c', found '%c'", wanted, json->text[to]);
}

/* Whether it names a member. */
static bool json_is_key(const cco_json *json, int token)
{
    const int parent = json_token(json, token)->parent;
    return parent >= 0 && json_token(json, parent)->type == JSMN_OBJECT;
}

static void json_check_token(cco_json *json, int i, size_t length)
{
    const jsmntok_t *t = json_token(json, i);
    const bool last = i + 1 == json->count, key = json_is_key(json, i);
    const bool opens = !key && t->size > 0; /* its first part is next */
    if (i == 0)
        json_check_between(json, 0, cco_json_place(json, 0), '\0', false);
    if (!last && t[1].parent < 0)
        cco_json_fail(json, i + 1, "expected nothing more");
    if (t->type == JSMN_PRIMITIVE &&
        !json_is_primitive(json->text + t->start, (size_t)(t->end - t->start)))
        cco_json_fail(json, i, "expected a value: this is neither a number nor true, false, null");
    if (cco_json_failed(json))
        return;
    const bool container = t->type == JSMN_OBJECT || t->type == JSMN_ARRAY;
    json_check_between(json, container ? (size_t)t->start + 1 : json_end(json, i),
                       last ? length : cco_json_place(json, i + 1),
                       key     ? ':'
                       : opens ? '\0'
                               : ',',
                       last);
}

/* Says what jsmn has not taken, and where. */
static void json_refuse(cco_json *json, size_t at, size_t length)
{
    const char *text = json->text;
    if (at >= length)
        cco_json_fail_at(json, length, "expected the end of a value, but the text ends here");
    else if (text[at] == '"')
        cco_json_fail_at(json, at,
                         "after \\ this string has none of \" \\ / b f n r t u, or less"
                         " than four hexadecimal digits after \\u");
    else
        cco_json_fail_at(json, at, "expected a value, or the name of a member in \"\", found '%c'",
                         (unsigned char)text[at] < 0x80 ? text[at] : '?');
}

/* The tokens of a text, which have been counted if there is room for them. */
static void json_tokenize(cco_json *json, size_t length)
{
    jsmn_parser parser;
    jsmn_init(&parser);
    const int count = jsmn_parse(&parser, json->text, length, json->tokens, (unsigned)json->count);
    if (count < 0)
        json_refuse(json, parser.pos, length);
    json->count = count;
}

bool cco_json_parse(cco_json *json, const char *text, size_t length, const char *source,
                    char *error, size_t room)
{
    *json = (cco_json){text, source, NULL, 0, error, room};
    error[0] = '\0';
    json_check_text(json, length);
    if (!cco_json_failed(json))
        json_tokenize(json, length);
    if (json->count == 0)
        cco_json_fail_at(json, 0, "expected a value, but there is none");
    else if (json->count > 0)
        json->tokens = calloc((size_t)json->count, sizeof(jsmntok_t));
    if (json->count > 0 && json->tokens == NULL)
        cco_json_fail_at(json, 0, "no memory for this text");
    if (!cco_json_failed(json))
        json_tokenize(json, length);
    for (int i = 0; i < json->count && !cco_json_failed(json); i++)
        json_check_token(json, i, length);
    if (cco_json_failed(json))
        json->count = 0;
    return !cco_json_failed(json);
}

void cco_json_free(cco_json *json)
{
    free(json->tokens);
    json->tokens = NULL;
}

int cco_json_next(const cco_json *json, int token)
{
    const int end = json_token(json, token)->end;
    while (++token < json->count && json_token(json, token)->start < end)
        continue;
    return token;
}

bool cco_json_is(const cco_json *json, int token, const char *text)
{
    const jsmntok_t *t = json_token(json, token);
    const size_t length = (size_t)(t->end - t->start);
    return t->type == JSMN_STRING && length == strlen(text) &&
           memcmp(json->text + t->start, text, length) == 0;
}

static void json_unknown(cco_json *json, int token, const cco_json_members *members)
{
    char list[256] = "";
    const jsmntok_t *t = json_token(json, token);
    for (int i = 0; members->key[i] != NULL; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 0 ? ", " : "",
                 members->key[i]);
    cco_json_fail(json, token, "%s has no member \"%.*s\"; possible: %s", members->what,
                  t->end - t->start < 64 ? t->end - t->start : 64, json->text + t->start, list);
}

void cco_json_object(cco_json *json, int token, const cco_json_members *members, int *value)
{
    for (int i = 0; members->key[i] != NULL; i++)
        value[i] = 0;
    if (!cco_json_failed(json) && json_token(json, token)->type != JSMN_OBJECT)
        cco_json_fail(json, token, "expected an object, {");
    if (cco_json_failed(json))
        return;
    const int end = cco_json_next(json, token);
    for (int at = token + 1; at < end; at = cco_json_next(json, at)) {
        int i = 0;
        while (members->key[i] != NULL && !cco_json_is(json, at, members->key[i]))
            i++;
        if (members->key[i] == NULL && !members->open)
            json_unknown(json, at, members);
        else if (members->key[i] != NULL && value[i] != 0)
            cco_json_fail(json, at, "\"%s\" stands here twice", members->key[i]);
        else if (members->key[i] != NULL)
            value[i] = at + 1;
        at++;
    }
    for (int i = 0; members->key[i] != NULL; i++)
        if (members->needed >> i & 1 && value[i] == 0)
            cco_json_fail(json, token, "%s has no \"%s\"", members->what, members->key[i]);
}

int cco_json_array(cco_json *json, int token, const char *what)
{
    if (!cco_json_failed(json) && json_token(json, token)->type != JSMN_ARRAY)
        cco_json_fail(json, token, "%s must be an array, [", what);
    return cco_json_failed(json) ? 0 : json_token(json, token)->size;
}

/* The four digits after \u, which jsmn has checked. */
static unsigned json_hex(const char *at)
{
    const char digits[5] = {at[0], at[1], at[2], at[3]};
    return (unsigned)strtoul(digits, NULL, 16);
}

/* The character that an escape stands for, and how long it is; false for half of a pair. */
static bool json_escape(const char *at, const char *end, unsigned *code, int *length)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    *length = at[1] == 'u' ? 6 : 2;
    *code = at[1] == 'u' ? json_hex(at + 2) : (unsigned)values[strchr(names, at[1]) - names];
    if (*code < 0xd800 || *code >= 0xe000)
        return true;
    const unsigned low = end - at >= 12 && strncmp(at + 6, "\\u", 2) == 0 ? json_hex(at + 8) : 0;
    *length = 12;
    if (*code >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
        return false;
    *code = 0x10000 + ((*code - 0xd800) << 10) + low - 0xdc00;
    return true;
}

void cco_json_string(cco_json *json, int token, const char *what, char *text, size_t room)
{
    text[0] = '\0';
    if (cco_json_failed(json))
        return;
    const jsmntok_t *t = json_token(json, token);
    const char *at = json->text + t->start, *const end = json->text + t->end;
    size_t used = 0;
    if (t->type != JSMN_STRING)
        cco_json_fail(json, token, "%s must be a string", what);
    while (at < end && !cco_json_failed(json)) {
        int length = 1;
        unsigned code = (unsigned char)*at;
        char bytes[4] = {*at};
        const bool escaped = *at == '\\';
        if (escaped && !json_escape(at, end, &code, &length))
            cco_json_fail_at(json, (size_t)(at - json->text),
                             "this is half of a character: \\ud800"
                             " to \\udbff and \\udc00 to \\udfff stand in pairs only");
        const size_t more = escaped ? (size_t)cco_utf8_encode(code, bytes) : 1;
        if (code < 0x20 || code == 0x7f)
            cco_json_fail(json, token, "%s has a control character", what);
        if (used + more >= room)
            cco_json_fail(json, token, "%s is longer than %zu bytes", what, room - 1);
        if (!cco_json_failed(json))
            memcpy(text + used, bytes, more);
        at += length;
        used += more;
    }
    text[used < room ? used : room - 1] = '\0';
}

void cco_json_whole(cco_json *json, int token, const char *what, long long *number)
{
    *number = 0;
    if (cco_json_failed(json))
        return;
    const jsmntok_t *t = json_token(json, token);
    const size_t length = (size_t)(t->end - t->start);
    if (t->type != JSMN_PRIMITIVE || strspn(json->text + t->start, "0123456789") < length)
        cco_json_fail(json, token, "%s must be a whole number, written in digits only", what);
    else if (length > 18)
        cco_json_fail(json, token, "%s is too large", what);
    else
        *number = strtoll(json->text + t->start, NULL, 10);
}
