/* SPDX-License-Identifier: BSD-3-Clause */
/* env_debug.c - the words of CRESTA_DEBUG. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/env_kinds.h"

/* MICROSECONDS:PPM */
static bool read_clock(cco_debug *d, const char *text, const char *end)
{
    char *at = NULL;
    d->clock_us = strtod(text, &at);
    if (at == text || *at != ':')
        return false;
    text = at + 1;
    d->clock_ppm = strtod(text, &at);
    return at == end && at > text && isfinite(d->clock_us) && isfinite(d->clock_ppm);
}

/* A word of CRESTA_DEBUG: NAME or NAME=NUMBER.  False for any other. */
static bool read_debug_word(cco_debug *d, const char *word, size_t length)
{
    char *end = NULL;
    if (length == 5 && strncmp(word, "check", 5) == 0)
        return d->check = true;
    if (length == 5 && strncmp(word, "trace", 5) == 0)
        return d->trace = true;
    if (length == 5 && strncmp(word, "match", 5) == 0)
        return (d->match = CCO_MATCH_PATIENCE) > 0;
    unsigned long *const numbers[] = {&d->match, &d->delay, &d->fail, &d->disagree};
    static const char *const names[] = {"match=", "delay=", "fail=", "disagree="};
    for (int i = 0; i < 4; i++)
        if (strncmp(word, names[i], strlen(names[i])) == 0)
            return (*numbers[i] = strtoul(word + strlen(names[i]), &end, 10)) > 0 &&
                   end == word + length;
    if (strncmp(word, "clock=", 6) == 0)
        return read_clock(d, word + 6, word + length);
    return false;
}

static void read_debug(void *member, const cco_env_value *v)
{
    cco_debug *d = member;
    *d = (cco_debug){0};
    for (const char *word = v->text; *word != '\0';) {
        const size_t length = strcspn(word, ",+");
        if (!read_debug_word(d, word, length))
            snprintf(v->error, sizeof cco_configured.error,
                     "%s: no '%.*s'; possible: check, trace, delay=SEED, fail=K, disagree=SEED, "
                     "clock=US:PPM, match, match=SECONDS",
                     v->row->name, (int)(length < 40 ? length : 40), word);
        word += length + (word[length] != '\0');
    }
}

static void show_debug(const void *member, char *text)
{
    const cco_debug *d = member;
    int used = snprintf(text, CCO_VALUE, "%s%s", d->check ? "+check" : "",
                        d->trace ? "+trace" : "");
    if (d->match > 0)
        used += snprintf(text + used, CCO_VALUE - (size_t)used, "+match=%lu", d->match);
    if (d->delay > 0)
        used += snprintf(text + used, CCO_VALUE - (size_t)used, "+delay=%lu", d->delay);
    if (d->fail > 0)
        used += snprintf(text + used, CCO_VALUE - (size_t)used, "+fail=%lu", d->fail);
    if (d->disagree > 0)
        used += snprintf(text + used, CCO_VALUE - (size_t)used, "+disagree=%lu", d->disagree);
    if (d->clock_us != 0 || d->clock_ppm != 0)
        used += snprintf(text + used, CCO_VALUE - (size_t)used, "+clock=%.17g:%.17g", d->clock_us,
                         d->clock_ppm);
    memmove(text, text + (used > 0), (size_t)used + (used == 0)); /* without the first + */
}

const cco_env_kind cco_kind_debug = {read_debug, show_debug};
