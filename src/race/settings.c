/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - see settings.h. */
#include "race/settings.h"

#include <ctype.h>
#include <stdarg.h>
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

__attribute__((format(printf, 2, 3))) static bool fail(const reader *r, const char *format, ...)
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
    if (s->arms == CCO_ARMS)
        return fail(r, "more than %d arms", CCO_ARMS);
    if (*text == '\0' || strlen(text) >= sizeof arm->name || *rules == '\0')
        return fail(r, "expected arm NAME RULES, with a name of 1 to %zu characters",
                    sizeof arm->name - 1);
    for (int i = 0; i < s->arms; i++)
        if (strcmp(s->arm[i].name, text) == 0)
            return fail(r, "two arms have the name %s", text);
    for (const char *c = text; *c != '\0'; c++)
        if (!isgraph((unsigned char)*c) || *c == '"' || *c == '\\')
            return fail(r, "the name of an arm has a character that cannot be printed in JSON");
    snprintf(source, sizeof source, "arm %s", text);
    arm->rules = cco_rules_parse(rules, source, wrong, sizeof wrong);
    if (arm->rules == NULL)
        return fail(r, "%s", wrong);
    snprintf(arm->name, sizeof arm->name, "%s", text);
    s->arms++;
    return true;
}

static bool read_number(const reader *r, const char *text, double most, double *number)
{
    char *end;
    *number = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(*number >= 0 && *number <= most))
        return fail(r, "\"%.40s\": expected a number from 0 to %.0f", text, most);
    return true;
}

static bool read_word(cco_race_settings *s, reader *r, const char *word, char *rest)
{
    double number = 0;
    if (strcmp(word, "arm") == 0)
        return read_arm(s, r, rest);
    if (strcmp(word, "output") == 0) {
        free(s->output);
        s->output = strdup(rest);
        return *rest != '\0' && s->output != NULL ? true : fail(r, "expected output FILE");
    }
    const bool is_flag = strcmp(word, "drop") == 0 || strcmp(word, "confirm") == 0;
    if (!is_flag && strcmp(word, "seconds") != 0 && strcmp(word, "seed") != 0 &&
        strcmp(word, "block_ms") != 0 && strcmp(word, "watch_ms") != 0)
        return fail(
            r,
            "\"%.40s\": expected output, seconds, seed, watch_ms, block_ms, drop, confirm or arm",
            word);
    if (!read_number(r, rest, is_flag ? 1 : 1e9, &number))
        return false;
    if (strcmp(word, "seconds") == 0)
        s->seconds = number;
    else if (strcmp(word, "seed") == 0)
        s->seed = (uint64_t)number;
    else if (strcmp(word, "watch_ms") == 0)
        s->watch_s = number / 1000;
    else if (strcmp(word, "block_ms") == 0)
        s->block_s = number / 1000;
    else
        *(*word == 'd' ? &s->drops : &s->confirms) = number > 0;
    return true;
}

static bool read_lines(cco_race_settings *s, reader *r)
{
    bool good = true;
    for (char *line; good && (line = next_line(r)) != NULL; free(line)) {
        if (r->line == 1) {
            good = strncmp(line, first_line, sizeof first_line - 1) == 0 ||
                   fail(r, "expected \"%s\"", first_line);
            continue;
        }
        char *word = line + strspn(line, " \t\r");
        if (*word != '\0')
            good = read_word(s, r, word, rest_of(word));
    }
    if (good && *r->at != '\0')
        return fail(r, "no memory");
    return good && s->arms < 2 ? fail(r, "expected two arms or more") : good;
}

bool cco_race_settings_read(cco_race_settings *s, const char *text, char *error, size_t room)
{
    reader r = {.at = text, .error = error, .room = room};
    *s = (cco_race_settings){
        .seed = 1, .watch_s = 0.5, .block_s = 1e-3, .drops = true, .confirms = true};
    if (read_lines(s, &r))
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
