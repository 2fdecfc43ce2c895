/* SPDX-License-Identifier: BSD-3-Clause */
/* test_json.c - what the reader of JSON takes and refuses, and where it says that errors are. Needs
 * no running MPI. */
#include "tune/json.h"

#include "testing/testing.h"

static char error[512];
static cco_json json;

/* The text in memory of its size, so that a sanitizer sees every read behind it. */
static char *start(const char *text, size_t length)
{
    char *copy = malloc(length > 0 ? length : 1);
    memcpy(copy, text, length);
    snprintf(testing_label, sizeof testing_label, "%.*s", (int)(length < 99 ? length : 99), text);
    cco_json_parse(&json, copy, length, "test", error, sizeof error);
    return copy;
}

static void end(char *copy)
{
    cco_json_free(&json);
    free(copy);
}

static bool takes(const char *text, size_t length)
{
    char *copy = start(text, length);
    const bool good = !cco_json_failed(&json);
    CHECK(good == (error[0] == '\0'), "an error has a message: %s", error);
    end(copy);
    return good;
}

#define S(text) text, sizeof(text) - 1

typedef struct sample {
    const char *text;
    size_t length;
} sample;

/* What RFC 8259 allows. */
static const sample right[] = {
    {S("[0]")},
    {S("[-0]")},
    {S("[-12.50e+10]")},
    {S("[1E9]")},
    {S("[0.5]")},
    {S(" \t\r\n[1] \t\r\n")},
    {S("[true]")},
    {S("[false]")},
    {S("[null]")},
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
    {S("[tru]")},
    {S("[-]")},
    {S("[1x]")},
    {S("[truex]")},
    {S("[1:2]")},
    {S("[\"a\":1]")},
    {S("{\"a\":1:2}")},
    {S("{\"a\":1,\"b\"}")},
    {S("{\"a\":}")},
    {S("{} {}")},
    {S("{},{}")},
    {S("[],")},
    {S(",[]")},
    {S("[[1,],2]")},
    {S("{{}:1}")},
    {S("[1]]")},
    {S("1.")},
    {S(".5")},
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
        {"[1,\n 2,\n  x]", "test: line 3, column 3: expected a value, or the name of a member in "
                           "\"\", found 'x'"},
        {"{\"\xc3\xa9\xc3\xa9\": ?}", "line 1, column 8: expected a value, or"},
        {"{\"a\": \"b", "line 1, column 7: this string does not end"},
        {"{\"a\": [1, 2]",
         "line 1, column 13: expected the end of a value, but the text ends here"},
        {"{\"a\": 1\n\"b\": 2}", "line 2, column 1: expected ',', found '\"'"},
        {"{\"a\": {\"b\": 2},}", "line 1, column 16: expected a value, found '}'"},
        {"[1 2]", "line 1, column 4: expected ',', found '2'"},
        {"[\"a\x01\"]", "line 1, column 4: a string cannot hold the byte 0x01: write \\u0001"},
        {"[\"a\xff\"]", "line 1, column 4: the byte 0xff is no UTF-8 here"},
        {"[\"a\\x\"]", "line 1, column 2: after \\ this string has none of"},
        {"[] []", "line 1, column 4: expected nothing more"},
        {"[\x1b]",
         "line 1, column 2: expected a value, or the name of a member in \"\", found '?'"},
        {"[1, tru]", "line 1, column 5: expected a value: this is neither"},
    };
    for (int i = 0; i < LEN(cases); i++) {
        takes(cases[i].text, strlen(cases[i].text));
        CHECK(strstr(error, cases[i].said) != NULL, "%s", error);
    }
}

static const char *reads(const char *text, size_t length, char *read, size_t room)
{
    char *copy = start(text, length);
    cco_json_string(&json, 1, "it", read, room);
    end(copy);
    return error;
}

static void strings(void)
{
    char text[16];
    CHECK(!*reads(S("[\"a\\u00e9\\ud834\\udd1e\xc3\xa9\\/\\\"\"]"), text, 16), "%s", error);
    CHECK(strcmp(text, "a\xc3\xa9\xf0\x9d\x84\x9e\xc3\xa9/\"") == 0, "%s", text);
    CHECK(!*reads(S("[\"123456789012345\"]"), text, 16) && strlen(text) == 15, "%s", error);
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"[\"a\\n\"]", "column 2: it has a control character"},
        {"[\"a\x7f\"]", "it has a control character"},
        {"[\"a\\u0000b\"]", "it has a control character"},
        {"[\"1234567890123456\"]", "it is longer than 15 bytes"},
        {"[\"12345678901234\\u00e9\"]", "it is longer than 15 bytes"},
        {"[7]", "it must be a string"},
        {"[\"\\ud834\"]", "column 3: this is half of a character"},
        {"[\"\\udd1e\"]", "this is half of a character"},
        {"[\"\\ud834\\u0041\"]", "this is half of a character"},
        {"[\"\\ud834\\ud834\"]", "this is half of a character"},
        {"[\"\\ud834......\"]", "this is half of a character"},
    };
    for (int i = 0; i < LEN(cases); i++)
        CHECK(strstr(reads(cases[i].text, strlen(cases[i].text), text, 16), cases[i].said) != NULL,
              "%s", error);
}

static void whole_numbers(void)
{
    static const struct {
        const char *text;
        long long number; /* -1: refused */
    } cases[] = {
        {"[0]", 0},
        {"[ 17 ]", 17},
        {"[900000000000000000]", 900000000000000000},
        {"[-1]", -1},
        {"[-0]", -1},
        {"[1.0]", -1},
        {"[1e3]", -1},
        {"[9999999999999999999]", -1},
        {"[\"1\"]", -1},
        {"[99999999999999999999999999999999999999999999]", -1},
        {"[[1]]", -1},
        {"[true]", -1},
    };
    for (int i = 0; i < LEN(cases); i++) {
        long long number = -7;
        char *copy = start(cases[i].text, strlen(cases[i].text));
        cco_json_whole(&json, 1, "it", &number);
        CHECK(!cco_json_failed(&json) == (cases[i].number >= 0), "%s", error);
        CHECK(cases[i].number < 0 || number == cases[i].number, "%lld", number);
        end(copy);
    }
}

/* Members are found by name; what is passed over is checked all the same. */
static void members(void)
{
    static const char *const keys[] = {"a", "b", "c", NULL};
    static const cco_json_members open = {"it", keys, 1, true}, closed = {"it", keys, 1, false};
    char *copy = start(S("{\"x\": {\"a\": [7, {\"b\": 7}]}, \"b\": [2, 4], \"a\": 1}"));
    int value[3];
    long long number = 0;
    cco_json_object(&json, 0, &open, value);
    cco_json_whole(&json, value[0], "a", &number);
    CHECK(!cco_json_failed(&json) && number == 1 && value[2] == 0, "%lld: %s", number, error);
    CHECK(cco_json_array(&json, value[1], "b") == 2, "%s", error);
    CHECK(cco_json_next(&json, value[1]) == value[0] - 1, "the name behind the list");
    cco_json_object(&json, 0, &closed, value);
    CHECK(strstr(error, "column 2: it has no member \"x\"; possible: a, b, c") != NULL, "%s",
          error);
    CHECK(cco_json_array(&json, value[1], "b") == 0, "the error sticks");
    end(copy);
    copy = start(S("{\"b\": 1, \"b\": 2}"));
    cco_json_object(&json, 0, &closed, value);
    CHECK(strstr(error, "column 10: \"b\" stands here twice") != NULL, "%s", error);
    end(copy);
    copy = start(S("{\"b\": 1}"));
    cco_json_object(&json, 0, &closed, value);
    CHECK(strstr(error, "column 1: it has no \"a\"") != NULL, "%s", error);
    end(copy);
    copy = start(S("[1]"));
    cco_json_object(&json, 0, &closed, value);
    CHECK(strstr(error, "column 1: expected an object, {") != NULL, "%s", error);
    end(copy);
}

int main(void)
{
    takes_json_and_nothing_else();
    bounded_depth();
    places();
    strings();
    whole_numbers();
    members();
    return testing_end("test_json");
}
