/* SPDX-License-Identifier: BSD-3-Clause */
/* test_json_reader.c - what the reader of JSON takes and refuses, and where it says that errors
 * are. Needs no running MPI. */
#include "tune/json_reader.h"

#include "testing/testing.h"

static char error[512];
static cco_json json;

/* The text in memory of its size, so that a sanitizer sees every read behind it. */
static char *start(const char *text, size_t length)
{
    char *copy = malloc(length > 0 ? length : 1);
    memcpy(copy, text, length);
    snprintf(testing_label, sizeof testing_label, "%.*s", (int)(length < 99 ? length : 99), text);
    cco_json_start(&json, copy, length, "test", error, sizeof error);
    return copy;
}

static bool takes(const char *text, size_t length)
{
    char *copy = start(text, length);
    const bool good = cco_json_skip(&json) && cco_json_finish(&json);
    CHECK(good == (error[0] == '\0'), "an error has a message: %s", error);
    free(copy);
    return good;
}

#define S(text) text, sizeof(text) - 1

typedef struct sample {
    const char *text;
    size_t length;
} sample;

/* What RFC 8259 allows. */
static const sample right[] = {
    {S("0")},
    {S("-0")},
    {S("-12.50e+10")},
    {S("1E9")},
    {S("0.5")},
    {S(" \t\r\n1 \t\r\n")},
    {S("true")},
    {S("false")},
    {S("null")},
    {S("\"\"")},
    {S("[]")},
    {S("{}")},
    {S("[[],{}]")},
    {S("[1,2 , 3]")},
    {S("{\"a\":{\"b\":[1,{\"c\":null}]},\"a\":2}")},
    {S("\"\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u00e9 \\uD834\\uDD1E\"")},
    {S("\"\\u0000\"")},
    {S("\"\x7f\"")},
    {S("\"\xc3\xa9\"")},
    {S("\"\xe2\x82\xac\"")},
    {S("\"\xf0\x9d\x84\x9e\"")},
    {S("\"\xef\xbf\xbf\"")},
    {S("\"\xf4\x8f\xbf\xbf\"")},
    {S("\"\xed\x9f\xbf\"")},
    {S("\"\xee\x80\x80\"")},
};

/* What it does not. */
static const sample wrong[] = {
    {S("")},
    {S(" ")},
    {S("-")},
    {S("01")},
    {S("-01")},
    {S("1.")},
    {S(".5")},
    {S("1.e1")},
    {S("1e")},
    {S("1e+")},
    {S("+1")},
    {S("0x10")},
    {S("NaN")},
    {S("Infinity")},
    {S("nan")},
    {S("True")},
    {S("tru")},
    {S("truex")},
    {S("nul")},
    {S("1 2")},
    {S("[1] []")},
    {S("[")},
    {S("[1")},
    {S("[1,")},
    {S("[1,]")},
    {S("[,1]")},
    {S("[1 2]")},
    {S("[1}")},
    {S("]")},
    {S("{")},
    {S("{\"a\"")},
    {S("{\"a\":")},
    {S("{\"a\":1")},
    {S("{\"a\":1,")},
    {S("{\"a\":1,}")},
    {S("{,}")},
    {S("{\"a\" 1}")},
    {S("{a:1}")},
    {S("{1:1}")},
    {S("{\"a\":1]")},
    {S("{\"a\":1 \"b\":2}")},
    {S("'a'")},
    {S("\"")},
    {S("\"a")},
    {S("\"\\\"")},
    {S("\"\\x\"")},
    {S("\"\\u12\"")},
    {S("\"\\u12g4\"")},
    {S("\"\\ud834\"")},
    {S("\"\\udd1e\"")},
    {S("\"\\ud834\\u0041\"")},
    {S("\"\\ud834\\ud834\"")},
    {S("\"\\")},
    {S("\"\\ud834\\u")},
    {S("\"\n\"")},
    {S("\"\t\"")},
    {S("\"\0\"")},
    {S("\0")},
    {S("1\0")},
    {S("[1]\0")},
    {S("\"\x80\"")},
    {S("\"\xc3\"")},
    {S("\"\xc3")},
    {S("\"\xc0\xaf\"")},
    {S("\"\xe0\x80\xaf\"")},
    {S("\"\xed\xa0\x80\"")},
    {S("\"\xf4\x90\x80\x80\"")},
    {S("\"\xf8\x88\x80\x80\x80\"")},
    {S("\"\xff\"")},
    {S("\xef\xbb\xbf[]")},
    {S("// a\n1")},
    {S("\xa0"
       "1")},
    {S("\v1")},
    {S("\f1")},
};

static void takes_json_and_nothing_else(void)
{
    for (int i = 0; i < LEN(right); i++)
        CHECK(takes(right[i].text, right[i].length), "%s", error);
    for (int i = 0; i < LEN(wrong); i++)
        CHECK(!takes(wrong[i].text, wrong[i].length), "case %d", i);
}

static void bounded_depth(void)
{
    char text[4 * CCO_JSON_DEPTH + 8];
    for (int depth = CCO_JSON_DEPTH - 1; depth <= CCO_JSON_DEPTH + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        CHECK(takes(text, 2 * (size_t)depth) == (depth <= CCO_JSON_DEPTH), "%d: %s", depth, error);
    }
    CHECK(strstr(error, "column 65: values are nested more than 64 deep") != NULL, "%s", error);
    enum { MUCH = 1 << 20 };
    char *much = malloc(MUCH);
    memset(much, '[', MUCH);
    CHECK(!takes(much, MUCH), "a million of brackets");
    for (size_t i = 0; i < MUCH; i += 5)
        memcpy(much + i, "{\"\":", MUCH - i < 5 ? MUCH - i : 5);
    CHECK(!takes(much, MUCH), "likewise of objects");
    free(much);
}

/* Lines and columns are those of an editor: characters, from 1. */
static void places(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"[1,\n 2,\n  x]", "test: line 3, column 3: expected a value, found 'x'"},
        {"[1,\r\n 01]", "line 2, column 3: expected no digit after a leading 0, found '1'"},
        {"{\"\xc3\xa9\xc3\xa9\": ?}", "line 1, column 8: expected a value, found '?'"},
        {"{\"a\": \"b", "line 1, column 7: this string does not end"},
        {"{\"a\": [1, 2", "line 1, column 12: expected ',' or ']', but the text ends here"},
        {"{\"a\": 1\n\"b\": 2}", "line 2, column 1: expected ',' or '}', found '\"'"},
        {"[\"a\x01\"]", "line 1, column 4: a string cannot hold the byte 0x01: write \\u0001"},
        {"[\"a\xff\"]", "line 1, column 4: the byte 0xff is no UTF-8 here"},
        {"[] x", "line 1, column 4: expected nothing more, found 'x'"},
        {"[\x1b]", "line 1, column 2: expected a value, found the byte 0x1b"},
    };
    for (int i = 0; i < LEN(cases); i++) {
        takes(cases[i].text, strlen(cases[i].text));
        CHECK(strstr(error, cases[i].said) != NULL, "%s", error);
    }
}

static void strings(void)
{
    char text[16];
    char *copy = start(S("[\"a\\u00e9\\ud834\\udd1e\xc3\xa9\\n\"]"));
    CHECK(cco_json_open(&json, CCO_JSON_ARRAY) && cco_json_element(&json), "%s", error);
    CHECK(!cco_json_string(&json, "it", text, sizeof text), "a newline is no name");
    CHECK(strstr(error, "it has a control character") != NULL, "%s", error);
    CHECK(strcmp(text, "a\xc3\xa9\xf0\x9d\x84\x9e\xc3\xa9\n") == 0, "%s", text);
    free(copy);
    copy = start(S("\"123456789012345\""));
    CHECK(cco_json_string(&json, "it", text, sizeof text) && strlen(text) == 15, "%s", error);
    free(copy);
    copy = start(S("\"1234567890123456\""));
    CHECK(!cco_json_string(&json, "it", text, sizeof text), "too long");
    CHECK(strstr(error, "it is longer than 15 bytes") != NULL, "%s", error);
    free(copy);
    copy = start(S("\"a\\u0000b\""));
    CHECK(!cco_json_string(&json, "it", text, sizeof text), "a zero");
    free(copy);
    copy = start(S("7"));
    CHECK(!cco_json_string(&json, "it", text, sizeof text), "a number");
    CHECK(strstr(error, "it must be a string") != NULL, "%s", error);
    free(copy);
}

static void whole_numbers(void)
{
    static const struct {
        const char *text;
        long long number; /* -1: refused */
    } cases[] = {
        {"0", 0},
        {" 17 ", 17},
        {"9000000000000000000", 9000000000000000000},
        {"-1", -1},
        {"-0", -1},
        {"1.0", -1},
        {"1e3", -1},
        {"9999999999999999999", -1},
        {"\"1\"", -1},
        {"99999999999999999999999999999999999999999999", -1},
        {"[1]", -1},
        {"true", -1},
        {"", -1},
    };
    for (int i = 0; i < LEN(cases); i++) {
        long long number = -7;
        char *copy = start(cases[i].text, strlen(cases[i].text));
        const bool good = cco_json_whole(&json, "it", &number) && cco_json_finish(&json);
        CHECK(good == (cases[i].number >= 0), "%s", error);
        CHECK(!good || number == cases[i].number, "%lld", number);
        free(copy);
    }
}

/* Members are read one by one; what is passed over is read all the same. */
static void members(void)
{
    char name[8];
    long long sum = 0, number;
    int count = 0;
    char *copy = start(S("{\"a\": 1, \"skip\": {\"a\": [7, {\"b\": 7}]}, \"b\": [2, 4],"
                         " \"a name too long\": 0}"));
    CHECK(cco_json_open(&json, CCO_JSON_OBJECT), "%s", error);
    for (; cco_json_member(&json, name, sizeof name); count++) {
        if (strcmp(name, "a") == 0 && cco_json_whole(&json, name, &number))
            sum += number;
        else if (strcmp(name, "b") == 0)
            for (cco_json_open(&json, CCO_JSON_ARRAY); cco_json_element(&json);)
                sum += cco_json_whole(&json, name, &number) ? number : 100;
        else
            cco_json_skip(&json);
    }
    CHECK(cco_json_finish(&json) && count == 4 && sum == 7, "%d, %lld: %s", count, sum, error);
    CHECK(strcmp(name, "a name ") == 0, "cut: '%s'", name);
    free(copy);
    copy = start(S("{\"a\\u0000\": 1}"));
    CHECK(cco_json_open(&json, CCO_JSON_OBJECT), "%s", error);
    CHECK(!cco_json_member(&json, name, sizeof name), "a zero would hide the rest");
    CHECK(strstr(error, "column 2: a name cannot hold \\u0000") != NULL, "%s", error);
    CHECK(!cco_json_skip(&json) && !cco_json_element(&json) && !cco_json_finish(&json), "sticks");
    free(copy);
}

int main(void)
{
    takes_json_and_nothing_else();
    bounded_depth();
    places();
    strings();
    whole_numbers();
    members();
    return testing_end("test_json_reader");
}
