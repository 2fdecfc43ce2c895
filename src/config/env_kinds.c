/* SPDX-License-Identifier: BSD-3-Clause */
/* env_kinds.c - see env_kinds.h. */
#include "config/env_kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core_place.h"
#include "base/imposed_nodes.h"

enum { SHOWN = 200, ERROR = sizeof cco_configured.error }; /* SHOWN: of a text that is shortened */

static void env_kinds_expected(const cco_env_value *v, const char *what)
{
    snprintf(v->error, ERROR, "%s=%.40s: expected %s", v->row->name, v->text, what);
}

void cco_show_text(const char *text, char line[CCO_VALUE])
{
    size_t used = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (used + 2 > SHOWN) {
            snprintf(line + used, CCO_VALUE - used, "... (%zu characters, %016llx)", strlen(text),
                     (unsigned long long)cco_hash(0, text));
            return;
        }
        if (*c == '\n' || *c == '\\')
            line[used++] = '\\';
        line[used++] = *c;
        if (*c == '\n')
            line[used - 1] = 'n';
    }
    line[used] = '\0';
}

/* All that is left of a file; NULL and errno if it cannot be read, as a folder, which opens. */
static char *read_all(FILE *file)
{
    size_t used = 0, room = 4096;
    char *text = malloc(room);
    while (text != NULL) {
        const size_t got = fread(text + used, 1, room - used - 1, file);
        used += got;
        if (got == 0)
            break;
        if (used + 1 == room) {
            char *larger = realloc(text, room *= 2);
            if (larger == NULL)
                free(text);
            text = larger;
        }
    }
    const int error = ferror(file) ? errno : 0;
    if (text == NULL || error) {
        free(text);
        errno = error ? error : ENOMEM;
        return NULL;
    }
    text[used] = '\0';
    return text;
}

static char *env_kinds_read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    char *text = read_all(file);
    const int error = errno;
    fclose(file);
    errno = error;
    return text;
}

/* The text of rules, or of a file of rules: @FILE. */
static void env_kinds_read_rules(void *member, const cco_env_value *v)
{
    char **rules = member;
    const bool in_file = *v->text == '@';
    free(*rules);
    snprintf(cco_configured.impl_source, sizeof cco_configured.impl_source, "%s%s%.200s",
             v->row->name, in_file ? "=" : "", in_file ? v->text : "");
    *rules = in_file ? env_kinds_read_file(v->text + 1) : strdup(v->text);
    if (*rules != NULL)
        return;
    snprintf(v->error, ERROR, "%s=%.200s: cannot read this file: %s", v->row->name, v->text,
             strerror(errno));
    *rules = calloc(1, 1);
}

static void show_rules(const void *member, char *text)
{
    cco_show_text(*(char *const *)member, text);
}

/* The name of a file, NULL if empty; a copy, since the program may change its environment. */
static void read_file_name(void *member, const cco_env_value *v)
{
    char **name = member;
    free(*name);
    *name = *v->text != '\0' ? strdup(v->text) : NULL;
    if (*name == NULL && *v->text != '\0')
        snprintf(v->error, ERROR, "no memory for the environment");
}

/* The text of a file, NULL without one. */
static void env_kinds_read_contents(void *member, const cco_env_value *v)
{
    char **text = member;
    free(*text);
    *text = *v->text != '\0' ? env_kinds_read_file(v->text) : NULL;
    if (*text == NULL && *v->text != '\0')
        snprintf(v->error, ERROR, "%s=%.200s: cannot read this file: %s", v->row->name, v->text,
                 strerror(errno));
}

static void show_contents(const void *member, char *text)
{
    cco_show_text(*(char *const *)member != NULL ? *(char *const *)member : "", text);
}

/* Rank 0 writes it: the others need only know that it will be. */
static void show_file_name(const void *member, char *text)
{
    cco_show_text(*(char *const *)member != NULL ? "(set)" : "", text);
}

/* Rank 0 reads it: all must mean the same. */
static void show_same_file(const void *member, char *text)
{
    const char *name = *(char *const *)member;
    cco_show_text(name != NULL ? name : "", text);
}

static void read_flag(void *member, const cco_env_value *v)
{
    *(bool *)member = *v->text == '1';
    if ((*v->text != '0' && *v->text != '1') || v->text[1] != '\0')
        env_kinds_expected(v, "0 or 1");
}

static void show_flag(const void *member, char *text)
{
    snprintf(text, CCO_VALUE, "%d", *(const bool *)member);
}

static void read_on_off(void *member, const cco_env_value *v)
{
    *(bool *)member = strcmp(v->text, "on") == 0;
    if (strcmp(v->text, "on") != 0 && strcmp(v->text, "off") != 0)
        env_kinds_expected(v, "on or off");
}

static void show_on_off(const void *member, char *text)
{
    snprintf(text, CCO_VALUE, "%s", *(const bool *)member ? "on" : "off");
}

static void env_kinds_read_number(void *member, const cco_env_value *v)
{
    char *end;
    const unsigned long number = strtoul(v->text, &end, 10);
    if (*v->text >= '0' && *v->text <= '9' && *end == '\0' && number <= 1000000000UL)
        *(unsigned *)member = (unsigned)number;
    else
        env_kinds_expected(v, "a number from 0 (never) to 1000000000");
}

static void show_number(const void *member, char *text)
{
    snprintf(text, CCO_VALUE, "%u", *(const unsigned *)member);
}

/* A number of bytes, or one with K, M or G; false for any other text. */
static bool parse_bytes(const char *text, size_t *bytes)
{
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    *bytes = (size_t)number << shift;
    return *text >= '0' && *text <= '9' && end[shift > 0] == '\0' && *bytes >> shift == number;
}

static void read_bytes(void *member, const cco_env_value *v)
{
    if (!parse_bytes(v->text, member))
        env_kinds_expected(v, "a number of bytes, or one with K, M or G");
}

static void env_kinds_show_bytes(const void *member, char *text)
{
    snprintf(text, CCO_VALUE, "%zu", *(const size_t *)member);
}

/* static[:SIZE] or dynamic[:SIZE]; the size that is not said is that of the table. */
static void read_store(void *member, const cco_env_value *v)
{
    cco_store *store = member;
    const size_t length = strcspn(v->text, ":");
    store->given = v->given;
    store->dynamic = length == 7 && strncmp(v->text, "dynamic", 7) == 0;
    const bool named = store->dynamic || (length == 6 && strncmp(v->text, "static", 6) == 0);
    const char *size = v->text[length] == ':' ? v->text + length : strchr(v->row->preset, ':');
    if (!named || !parse_bytes(size + 1, &store->bytes))
        env_kinds_expected(v, "static or dynamic, perhaps with a size: static:64M");
}

static void show_store(const void *member, char *text)
{
    const cco_store *store = member;
    snprintf(text, CCO_VALUE, "%s:%zu%s", store->dynamic ? "dynamic" : "static", store->bytes,
             store->given ? "" : " (not set)");
}

/* auto, or three numbers. */
static void read_shape(void *member, const cco_env_value *v)
{
    cco_node_shape *shape = member;
    const bool none = strcmp(v->text, "auto") == 0;
    if (none || !cco_node_shape_read(shape, v->text))
        *shape = (cco_node_shape){0, 0, 0};
    if (!none && shape->cores == 0) {
        env_kinds_expected(
            v, "auto, or memories, caches of each and cores of each, such as 2x4x16, of at "
               "most 4096 cores in all");
    }
}

static void show_shape(const void *member, char *text)
{
    const cco_node_shape *shape = member;
    if (shape->cores == 0)
        snprintf(text, CCO_VALUE, "auto");
    else
        snprintf(text, CCO_VALUE, "%dx%dx%d", shape->memories, shape->caches, shape->cores);
}

/* auto, or what base/imposed_nodes.h reads. */
static void read_nodes(void *member, const cco_env_value *v)
{
    char **nodes = member;
    free(*nodes);
    *nodes = NULL;
    if (strcmp(v->text, "auto") == 0)
        return;
    if (cco_imposed_ranks(v->text) > 0)
        *nodes = strdup(v->text);
    else
        env_kinds_expected(
            v, "auto, or nodes and ranks of each, such as 2x4, or 3+5, or the node of each "
               "rank, such as 0,1,0,1");
}

static void show_nodes(const void *member, char *text)
{
    const char *const *nodes = member;
    cco_show_text(*nodes != NULL ? *nodes : "auto", text);
}

/* 0, 1, or 1:RATE. */
static void read_validate(void *member, const cco_env_value *v)
{
    cco_validate_setting *setting = member;
    char *end = NULL;
    const bool rated = strncmp(v->text, "1:", 2) == 0;
    *setting = (cco_validate_setting){.rate = 0.01, .on = rated || strcmp(v->text, "1") == 0};
    if (rated)
        setting->rate = strtod(v->text + 2, &end);
    const bool fine = !rated || (end != v->text + 2 && *end == '\0' && setting->rate >= 0 &&
                                 setting->rate <= 1);
    if (fine && (setting->on || strcmp(v->text, "0") == 0))
        return;
    setting->on = false;
    env_kinds_expected(v, "0, 1, or 1: and a rate from 0 to 1, such as 1:0.05");
}

static void show_validate(const void *member, char *text)
{
    const cco_validate_setting *setting = member;
    if (setting->on)
        snprintf(text, CCO_VALUE, "1:%.17g", setting->rate);
    else
        snprintf(text, CCO_VALUE, "0");
}

static const char *const waits[] = {"auto", "polite", "mpi"};

/* One of three words; the default is none of them. */
static void read_wait(void *member, const cco_env_value *v)
{
    cco_wait_setting *wait = member;
    *wait = CCO_WAIT_UNSET;
    for (int i = CCO_WAIT_AUTO; i < CCO_WAIT_UNSET && v->given; i++)
        if (strcmp(v->text, waits[i]) == 0)
            *wait = (cco_wait_setting)i;
    if (v->given && *wait == CCO_WAIT_UNSET)
        env_kinds_expected(v, "auto, polite or mpi");
}

static void show_wait(const void *member, char *text)
{
    const cco_wait_setting wait = *(const cco_wait_setting *)member;
    snprintf(text, CCO_VALUE, "%s", wait != CCO_WAIT_UNSET ? waits[wait] : "auto (not set)");
}

const cco_env_kind cco_kind_rules = {env_kinds_read_rules, show_rules};
const cco_env_kind cco_kind_file = {read_file_name, show_file_name};
const cco_env_kind cco_kind_same_file = {read_file_name, show_same_file};
const cco_env_kind cco_kind_contents = {env_kinds_read_contents, show_contents};
const cco_env_kind cco_kind_flag = {read_flag, show_flag};
const cco_env_kind cco_kind_on_off = {read_on_off, show_on_off};
const cco_env_kind cco_kind_number = {env_kinds_read_number, show_number};
const cco_env_kind cco_kind_bytes = {read_bytes, env_kinds_show_bytes};
const cco_env_kind cco_kind_store = {read_store, show_store};
const cco_env_kind cco_kind_wait = {read_wait, show_wait};
const cco_env_kind cco_kind_nodes = {read_nodes, show_nodes};
const cco_env_kind cco_kind_shape = {read_shape, show_shape};
const cco_env_kind cco_kind_validate = {read_validate, show_validate};

/* The place of a value in a list of three words; the table's default if it is none of them. */
static unsigned env_kinds_read_word(const char *const words[3], const cco_env_value *v)
{
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(v->text, words[i]) == 0)
            return i;
    snprintf(v->error, ERROR, "%s=%.40s: expected %s, %s or %s", v->row->name, v->text, words[0],
             words[1], words[2]);
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(v->row->preset, words[i]) == 0)
            return i;
    return 0;
}

/* Words stand in the order of their enumeration. */
#define CCO_KIND(name)
#define CCO_WORDS(name, type, a, b, c)                                                             \
    static const char *const words_##name[3] = {a, b, c};                                          \
    static void read_##name(void *member, const cco_env_value *v)                                  \
    {                                                                                              \
        *(type *)member = (type)env_kinds_read_word(words_##name, v);                              \
    }                                                                                              \
    static void show_##name(const void *member, char *text)                                        \
    {                                                                                              \
        cco_show_text(words_##name[*(const type *)member], text);                                  \
    }                                                                                              \
    const cco_env_kind cco_kind_##name = {read_##name, show_##name};
#include "config/env_kinds.def"
#undef CCO_KIND
#undef CCO_WORDS
