/* SPDX-License-Identifier: BSD-3-Clause */
/* outermost.c - tells a roll-call of crestacoll which call each thread is in
 * (hang/whereabouts.h). */
#include <stdio.h>

#include "calls/count.h"
#include "calls/module.h"
#include "calls/next.h"

static bool is_first; /* all calls of the program come here first */

static cco_outermost *outermost_here(void)
{
    cco_calls_thread *t = cco_calls_own_thread();
    if (cco_calls_ask())
        is_first = cco_calls_ahead() == NULL;
    return t != NULL ? &t->outermost : NULL;
}

/* Roll-calls know threads that come to crestacoll; of others they hear nothing. */
static bool outermost_sees_all(void)
{
    const cco_calls_thread *t = cco_calls_threads();
    return is_first && cco_calls_on && t != NULL && t->next == NULL;
}

/* A field of an answer (rollcall/answer_format.h), as long as there is room. */
static char *outermost_put(char *at, const char *end, const char *name, const char *value)
{
    at += snprintf(at, (size_t)(end - at), "\t%s=", name);
    for (const char *c = value; *c != '\0' && end - at > 4; c++)
        if ((unsigned char)*c < ' ' || *c == '\\' || *c == 127)
            at += snprintf(at, (size_t)(end - at), "\\x%02x", (unsigned char)*c);
        else
            *at++ = *c;
    return at;
}

static size_t outermost_tell(const void *site, char *text, size_t room)
{
    cco_calls_module m;
    uint64_t offset;
    char build_id[2 * sizeof m.id + 1] = "", number[24], *at = text;
    if (room < 4 * sizeof m || !cco_calls_module_of(site, &m, &offset))
        return 0;
    for (uint32_t i = 0; i < m.id_bytes; i++)
        snprintf(&build_id[2 * i], 3, "%02x", m.id[i]);
    snprintf(number, sizeof number, "%llu", (unsigned long long)offset);
    at = outermost_put(at, text + room, "module", m.path);
    at = outermost_put(at, text + room, "function", m.function);
    at = outermost_put(at, text + room, "build_id", build_id);
    return (size_t)(outermost_put(at, text + room, "offset", number) - text);
}

CCO_EXPORT extern const cco_ahead cresta_ahead;
const cco_ahead cresta_ahead = {outermost_here, outermost_sees_all, outermost_tell};
