/* SPDX-License-Identifier: BSD-3-Clause */
/* json_reader.c - see json_reader.h. */
#include "tune/json_reader.h"

#include <limits.h>
#include <string.h>

#include "tune/json_string.h"

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

cco_json_kind cco_json_peek(cco_json *json)
{
    cco_json_place(json);
    const int c = cco_json_byte(json);
    switch (c) {
    case '{':
        return CCO_JSON_OBJECT;
    case '[':
        return CCO_JSON_ARRAY;
    case '"':
        return CCO_JSON_STRING;
    case 't':
    case 'f':
    case 'n':
        return CCO_JSON_WORD;
    default:
        return c == '-' || is_digit(c) ? CCO_JSON_NUMBER : CCO_JSON_NOTHING;
    }
}

bool cco_json_open(cco_json *json, cco_json_kind kind)
{
    if (cco_json_failed(json))
        return false;
    if (cco_json_peek(json) != kind)
        return cco_json_unexpected(json, kind == CCO_JSON_OBJECT ? "an object, {" : "an array, [");
    if (json->depth == CCO_JSON_DEPTH) {
        cco_json_fail(json, json->at, "values are nested more than %d deep", CCO_JSON_DEPTH);
        return false;
    }
    json->open[json->depth++] = *json->at++;
    json->fresh = true;
    return true;
}

/* Before the next member or element: the comma between two, or the end.  False at the end. */
static bool json_reader_go_on(cco_json *json, char close)
{
    if (cco_json_failed(json))
        return false;
    cco_json_place(json);
    if (cco_json_byte(json) == close) {
        json->at++;
        json->depth--;
        json->fresh = false;
        return false;
    }
    if (!json->fresh) {
        if (cco_json_byte(json) != ',')
            return cco_json_unexpected(json, close == '}' ? "',' or '}'" : "',' or ']'");
        json->at++;
    }
    json->fresh = false;
    return true;
}

/* At least one digit. */
static bool take_digits(cco_json *json)
{
    if (!is_digit(cco_json_byte(json)))
        return cco_json_unexpected(json, "a digit");
    while (is_digit(cco_json_byte(json)))
        json->at++;
    return true;
}

static bool take_number(cco_json *json)
{
    if (cco_json_byte(json) == '-')
        json->at++;
    if (cco_json_byte(json) == '0') {
        json->at++;
        if (is_digit(cco_json_byte(json)))
            return cco_json_unexpected(json, "no digit after a leading 0");
    } else if (!take_digits(json)) {
        return false;
    }
    if (cco_json_byte(json) == '.') {
        json->at++;
        if (!take_digits(json))
            return false;
    }
    if (cco_json_byte(json) == 'e' || cco_json_byte(json) == 'E') {
        json->at++;
        if (cco_json_byte(json) == '+' || cco_json_byte(json) == '-')
            json->at++;
        return take_digits(json);
    }
    return true;
}

static bool take_word(cco_json *json)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(words[i]);
        if ((size_t)(json->end - json->at) >= length && memcmp(json->at, words[i], length) == 0) {
            json->at += length;
            return true;
        }
    }
    return cco_json_unexpected(json, "true, false or null");
}

bool cco_json_member(cco_json *json, char *name, size_t room)
{
    cco_json_sink s = {.text = name, .room = room};
    if (!json_reader_go_on(json, '}'))
        return false;
    if (cco_json_peek(json) != CCO_JSON_STRING)
        return cco_json_unexpected(json, "the name of a member, in \"\"");
    const char *place = json->at;
    if (!cco_json_take_string(json, &s))
        return false;
    json->name = place;
    cco_json_place(json);
    if (cco_json_byte(json) != ':')
        return cco_json_unexpected(json, "':' after a name");
    json->at++;
    if (name != NULL && s.zero)
        cco_json_fail(json, place, "a name cannot hold \\u0000");
    return !cco_json_failed(json);
}

bool cco_json_element(cco_json *json)
{
    return json_reader_go_on(json, ']');
}

bool cco_json_string(cco_json *json, const char *what, char *text, size_t room)
{
    cco_json_sink s = {.text = text, .room = room};
    if (cco_json_failed(json))
        return false;
    const char *place = cco_json_place(json);
    if (cco_json_peek(json) != CCO_JSON_STRING) {
        cco_json_fail(json, place, "%s must be a string", what);
        return false;
    }
    if (!cco_json_take_string(json, &s))
        return false;
    if (s.used >= room)
        cco_json_fail(json, place, "%s is longer than %zu bytes", what, room - 1);
    for (size_t i = 0; i < s.used; i++)
        if (!cco_json_failed(json) && ((unsigned char)text[i] < 0x20 || text[i] == 0x7f))
            cco_json_fail(json, place, "%s has a control character", what);
    return !cco_json_failed(json);
}

bool cco_json_whole(cco_json *json, const char *what, long long *number)
{
    if (cco_json_failed(json))
        return false;
    const char *place = cco_json_place(json);
    bool whole = cco_json_peek(json) == CCO_JSON_NUMBER;
    if (whole && !take_number(json))
        return false;
    *number = 0;
    for (const char *c = place; whole && c < json->at; c++) {
        whole = is_digit(*c);
        if (whole && *number > (LLONG_MAX - 9) / 10) {
            cco_json_fail(json, place, "%s is too large", what);
            return false;
        }
        *number = *number * 10 + (*c - '0');
    }
    if (!whole)
        cco_json_fail(json, place, "%s must be a whole number, written in digits only", what);
    return whole;
}

/* A value that holds no others. */
static bool take_scalar(cco_json *json)
{
    cco_json_sink none = {.text = NULL};
    switch (cco_json_peek(json)) {
    case CCO_JSON_STRING:
        return cco_json_take_string(json, &none);
    case CCO_JSON_NUMBER:
        return take_number(json);
    case CCO_JSON_WORD:
        return take_word(json);
    default:
        return cco_json_unexpected(json, "a value");
    }
}

/* To the next value that is inside of more than `depth` others; false if there is none. */
static bool go_to_next(cco_json *json, int depth)
{
    while (json->depth > depth && !cco_json_failed(json))
        if (json->open[json->depth - 1] == '{' ? cco_json_member(json, NULL, 0)
                                               : cco_json_element(json))
            return true;
    return false;
}

bool cco_json_skip(cco_json *json)
{
    const int depth = json->depth;
    do {
        if (cco_json_failed(json))
            return false;
        const cco_json_kind kind = cco_json_peek(json);
        if (kind == CCO_JSON_OBJECT || kind == CCO_JSON_ARRAY)
            cco_json_open(json, kind);
        else
            take_scalar(json);
    } while (go_to_next(json, depth));
    return !cco_json_failed(json);
}

bool cco_json_finish(cco_json *json)
{
    if (cco_json_failed(json))
        return false;
    cco_json_place(json);
    return cco_json_byte(json) < 0 || cco_json_unexpected(json, "nothing more");
}
