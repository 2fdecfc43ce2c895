/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - see settings.h. */
#include "race/settings.h"

#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char first_line[] = "crestacoll race 1";

/* The text that is read, a line at a time. */
typedef struct reader {
    const char *at; /* the next line */
    int line;       /* the number of this one */
    char *error;
    size_t room;
} reader;

__attribute__((format(printf, 2, 3))) static bool race_settings_fail(const reader *r,
                                                                     const char *format, ...)
{
    va_list more;
    const int used = snprintf(r->error, r->room, "CRESTA_RACE: line %d: ", r->line);
    va_start(more, format);
    vsnprintf(r->error + used, r->room - (size_t)used, format, more);
    va_end(more);
    return false;
}

/* A copy of the next line without its comment, for the caller to free; NULL after the last, or
 * without memory. */
static char *next_line(reader *r)
{
    if (*r->at == '\0')
        return NULL;
    const size_t length = strcspn(r->at, "\n");
    char *line = strndup(r->at, length);
    r->at += length + (r->at[length] == '\n');
    r->line++;
    if (line != NULL && *line == '#')
        *line = '\0';
    return line;
}

/* Cuts the first word off; what is left has no blanks at either end. */
static char *rest_of(char *line)
{
    size_t end = strlen(line);
    while (end > 0 && isspace((unsigned char)line[end - 1]))
        line[--end] = '\0';
    char *rest = line + strcspn(line, " \t");
    if (*rest != '\0')
        *rest++ = '\0';
    return rest + strspn(rest, " \t");
}

static bool read_arm(cco_race_settings *s, reader *r, char *text)
{
    cco_race_arm *arm = &s->arm[s->arms];
    char wrong[768], source[64];
    char *rules = rest_of(text);
    if (s->arms == CCO_FILED_ARMS)
        return race_settings_fail(r, "more than %d arms", CCO_FILED_ARMS);
    if (*text == '\0' || strlen(text) >= sizeof arm->name || *rules == '\0')
        return race_settings_fail(r, "expected arm NAME RULES, with a name of 1 to %zu characters",
                                  sizeof arm->name - 1);
    for (int i = 0; i < s->arms; i++)
        if (strcmp(s->arm[i].name, text) == 0)
            return race_settings_fail(r, "two arms have the name %s", text);
    for (const char *c = text; *c != '\0'; c++)
        if (!isgraph((unsigned char)*c) || *c == '"' || *c == '\\')
            return race_settings_fail(
                r, "the name of an arm has a character that cannot be printed in JSON");
    snprintf(source, sizeof source, "arm %s", text);
    arm->rules = cco_rules_parse(rules, source, wrong, sizeof wrong);
    if (arm->rules == NULL)
        return race_settings_fail(r, "%s", wrong);
    snprintf(arm->name, sizeof arm->name, "%s", text);
    s->arms++;
    return true;
}

/* The words with a number: where it goes, and the largest. */
static const struct {
    const char *word;
    size_t at;
    double most;
} numbers[] = {{"seconds", offsetof(cco_race_settings, seconds), 1e9},
               {"seed", offsetof(cco_race_settings, seed), 1e9},
               {"watch_ms", offsetof(cco_race_settings, watch_ms), 1e9},
               {"block_ms", offsetof(cco_race_settings, block_ms), 1e9},
               {"drop", offsetof(cco_race_settings, drop), 1},
               {"confirm", offsetof(cco_race_settings, confirm), 1},
               {"regret", offsetof(cco_race_settings, regret), 1},
               {"guard", offsetof(cco_race_settings, guard), 1},
               {"calls", offsetof(cco_race_settings, calls), 1000},
               {"youth", offsetof(cco_race_settings, youth), 1e6},
               {"every_call", offsetof(cco_race_settings, every_call), 1}};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static bool race_settings_read_number(cco_race_settings *s, const reader *r, int i,
                                      const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(number >= 0 && number <= numbers[i].most))
        return race_settings_fail(r, "%s %.40s: expected a number from 0 to %.0f", numbers[i].word,
                                  text, numbers[i].most);
    *(double *)((char *)s + numbers[i].at) = number;
    return true;
}

static bool race_settings_read_word(cco_race_settings *s, reader *r, const char *word, char *rest)
{
    if (strcmp(word, "arm") == 0)
        return read_arm(s, r, rest);
    if (strcmp(word, "output") == 0) {
        free(s->output);
        s->output = strdup(rest);
        return (*rest != '\0' && s->output != NULL) ||
               race_settings_fail(r, "expected output FILE");
    }
    for (int i = 0; i < NUMBERS; i++)
        if (strcmp(word, numbers[i].word) == 0)
            return race_settings_read_number(s, r, i, rest);
    char known[256] = "";
    for (int i = 0; i < NUMBERS; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s, ", numbers[i].word);
    return race_settings_fail(r, "\"%.40s\": expected %soutput or arm", word, known);
}

static bool read_lines(cco_race_settings *s, reader *r, bool wanted)
{
    bool good = true;
    for (char *line; good && (line = next_line(r)) != NULL; free(line)) {
        if (r->line == 1) {
            good = strncmp(line, first_line, sizeof first_line - 1) == 0 ||
                   race_settings_fail(r, "expected \"%s\"", first_line);
            continue;
        }
        char *word = line + strspn(line, " \t\r");
        if (*word != '\0')
            good = race_settings_read_word(s, r, word, rest_of(word));
    }
    if (good && *r->at != '\0')
        return race_settings_fail(r, "no memory");
    if (good && !wanted && s->arms > 0)
        return race_settings_fail(
            r, "CRESTA_ONLINE and CRESTA_GUARD have arms of their own: expected none here");
    if (good && !wanted && s->calls > 0)
        return race_settings_fail(
            r, "CRESTA_ONLINE and CRESTA_GUARD compare steps: expected no calls here");
    return good && wanted && s->arms < 2 ? race_settings_fail(r, "expected two arms or more")
                                         : good;
}

void cco_race_settings_preset(cco_race_settings *s)
{
    *s = (cco_race_settings){
        .seed = 1, .watch_ms = 20, .block_ms = 0.25, .drop = 1, .confirm = 1, .youth = 32};
}

bool cco_race_settings_read(cco_race_settings *s, const char *text, bool wanted, char *error,
                            size_t room)
{
    reader r = {.at = text, .error = error, .room = room};
    cco_race_settings_preset(s);
    if (wanted) {
        s->watch_ms = 500;
        s->block_ms = 1;
    }
    if (read_lines(s, &r, wanted))
        return true;
    cco_race_settings_free(s);
    return false;
}

void cco_race_settings_free(cco_race_settings *s)
{
    for (int i = 0; i < s->arms; i++)
        free(s->arm[i].rules);
    free(s->output);
    *s = (cco_race_settings){.arms = 0};
}
