/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tuning_fuzz.c - tuning files changed at random: each is read, or refused with its line and
 * column. Needs no running MPI.
 *
 *     test_tuning_fuzz [MUTANTS [SEED]]
 *
 * A few thousand by default; an address sanitizer sees reads past the end, because each text lies
 * in memory of its size. */
#include "tune/tuning.h"

#include "model/registry.h"
#include "testing/testing.h"

enum { MOST = 16 * 1024 };

static const char whole[] =
    "{\n \"schema\": \"crestacoll-tuning-1\",\n \"head\": {\n"
    "  \"machine\": {\"cpu\": \"AMD \\u00c9PYC \xe2\x84\xa2\", \"cores\": 2, \"memory_gib\": "
    "7.5},\n"
    "  \"mpi\": \"Open MPI v4.1.4\", \"date\": \"2026-11-22T14:43:21+00:00\", \"crestacoll\":"
    " \"0.1.0\"\n },\n \"rules\": [\n"
    "  {\"collective\": \"alltoall\", \"bytes\": [4096, \"inf\"], \"ranks\": [2, 8], "
    "\"communicator\": \"row*\", \"implementation\": \"nonblock\", \"changes_rounding\": false, "
    "\"note\": \"\\ud834\\udd1e\", \"earned\": {\"arms\": [\"mpi\", \"nonblock\"], \"blocks\": 12, "
    "\"gain\": 0.12, \"low\": -1e-2, \"high\": 1.5E+1}},\n"
    "  {\"collective\": \"allreduce\", \"implementation\": \"p2p:ring\"},\n"
    "  {\"collective\": \"bcast\", \"bytes\": [0, 65536], \"implementation\": \"os?via=get\"},\n"
    "  {\"collective\": \"scan\", \"nodes\": [1, 4], \"ranks_per_node\": [2, \"inf\"], "
    "\"type\": \"floating\", \"operation\": \"rounding\", \"implementation\": \"p2p\"},\n"
    "  {\"collective\": \"*\", \"implementation\": \"mpi\"}\n ]\n}\n";

/* What a file is made of, and what it should not have. */
static const char *const words[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u",
    "\\ud834",
    "\\u0000",
    "null",
    "true",
    "inf",
    "\"inf\"",
    "0",
    "-",
    "1e999",
    "99999999999999999999",
    "\xff",
    "\xc3",
    "\xe2\x82",
    "\n",
    "\t",
    "\"rules\": [",
    "\"collective\": \"*\", ",
    "\"bytes\": [1, 2], ",
    "\"implementation\": \"caf\"",
    "\"nodes\": [2, 2], ",
    "\"operation\": \"user\", ",
    "\"type\": ",
    "{type=other}",
    "}",
    "p2p:pairwise",
    "?chunk=4K",
    "&",
    "#",
    "=",
    "@",
    "(",
    "/*",
    "[[[[[[[[[[[[[[[[",
    "{\"a\":{\"a\":",
    "\"\"",
    "\x7f",
    "\x1b[0m",
    "\xef\xbb\xbf",
    "NaN",
};

static unsigned long long state;
static char error[1024];
static long taken, refused;

/* xorshift: the same everywhere. */
static size_t dice(size_t sides)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state % sides);
}

/* Replaces `gone` bytes at `at` by others, as far as there is room. */
static size_t splice(char *text, size_t length, size_t at, size_t gone, const char *other,
                     size_t more)
{
    char kept[MOST];
    gone = gone < length - at ? gone : length - at;
    if (length - gone + more > MOST)
        return length;
    memcpy(kept, other, more); /* it may be part of the text */
    memmove(text + at + more, text + at + gone, length - at - gone);
    memcpy(text + at, kept, more);
    return length - gone + more;
}

static size_t mutate(char *text, size_t length)
{
    const size_t at = dice(length + 1), from = dice(length + 1);
    const char *word = words[dice(LEN(words))];
    size_t more = dice(40) + 1;
    char byte = (char)dice(256);
    switch (dice(8)) {
    case 0: /* the end is missing */
        return at;
    case 1: /* a byte is another */
        return splice(text, length, at, 1, &byte, 1);
    case 2: /* a bit is */
        if (at < length)
            text[at] ^= (char)(1 << dice(8));
        return length;
    case 3: /* something is missing */
        return splice(text, length, at, more, "", 0);
    case 4: /* something stands at another place again */
        more = more < length - from ? more : length - from;
        return splice(text, length, at, dice(2) * more, text + from, more);
    default: /* a word comes in, often in place of what is there */
        return splice(text, length, at, dice(2) * strlen(word), word, strlen(word));
    }
}

static void check_rules(const cco_rules *rules)
{
    for (int i = 0; i < rules->count; i++) {
        const cco_rule *rule = &rules->list[i];
        CHECK(rule->model != NULL && rule->model->lacking == NULL, "rule %d: a model", i);
        CHECK(rule->collectives != 0 && rule->collectives >> CCO_COLLECTIVES == 0, "%d", i);
        CHECK(0 <= rule->min && rule->min <= rule->max, "rule %d: bytes", i);
        CHECK(0 <= rule->processes_min && rule->processes_min <= rule->processes_max, "%d", i);
        CHECK(0 <= rule->nodes_min && rule->nodes_min <= rule->nodes_max, "rule %d: nodes", i);
        CHECK(0 <= rule->on_node_min && rule->on_node_min <= rule->on_node_max, "rule %d", i);
        CHECK(strlen(rule->text) < sizeof rule->text && *rule->text != '\0', "rule %d: text", i);
    }
}

/* Either rules, or an error with a place inside of the text. */
static void try(const char *text, size_t length)
{
    char *copy = malloc(length > 0 ? length : 1);
    cco_tuning tuning;
    int line = 0, column = 0, lines = 1;
    memcpy(copy, text, length);
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    cco_rules *rules = cco_tuning_read(&tuning, copy, length, "f", error, sizeof error)
                           ? cco_tuning_rules(&tuning, "f")
                           : NULL;
    cco_json_free(&tuning.json);
    CHECK((rules == NULL) == (error[0] != '\0'), "rules or an error: %s", error);
    if (rules == NULL) {
        CHECK(sscanf(error, "f: line %d, column %d: ", &line, &column) == 2, "%s", error);
        CHECK(0 < line && line <= lines && 0 < column && column <= (int)length + 1, "%s", error);
        for (const char *c = error; *c != '\0'; c++)
            CHECK((unsigned char)*c >= 0x20 || *c == '\n', "a control character: %s", error);
        refused++;
    } else {
        check_rules(rules);
        taken++;
    }
    free(rules);
    free(copy);
}

int main(int count, char **values)
{
    static char text[MOST];
    const long mutants = count > 1 ? atol(values[1]) : 5000;
    const unsigned long long seed = count > 2 ? strtoull(values[2], NULL, 10) : 1;
    try(whole, sizeof whole - 1);
    CHECK(taken == 1, "the file itself: %s", error);
    for (long i = 0; i < mutants; i++) {
        size_t length = sizeof whole - 1;
        snprintf(testing_label, sizeof testing_label, "mutant %ld of seed %llu", i, seed);
        state = (seed + (unsigned long long)i * 0x9e3779b97f4a7c15u) | 1;
        memcpy(text, whole, length);
        for (size_t changes = dice(4) + 1; changes > 0; changes--)
            length = mutate(text, length);
        try(text, length);
    }
    CHECK(mutants < 1000 || (taken > mutants / 1000 && refused > mutants / 2),
          "%ld taken, %ld refused", taken, refused);
    printf("%ld mutants: %ld taken, %ld refused\n", mutants, taken - 1, refused);
    return testing_end("test_tuning_fuzz");
}
