/* SPDX-License-Identifier: BSD-3-Clause */
/* answer_format.c - see answer_format.h. */
#include "rollcall/answer_format.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "observe/where_comm.h"

/* Text that grows; what does not fit is left out, and `full` says so. */
typedef struct text {
    char *at;
    size_t used, room;
    bool full;
} text;

__attribute__((format(printf, 2, 3))) static void answer_format_add(text *t, const char *format,
                                                                    ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(t->at + t->used, t->room - t->used, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= t->room - t->used)
        t->full = true;
    else
        t->used += (size_t)n;
}

static void add_escaped(text *t, const char *name, const char *value)
{
    answer_format_add(t, "\t%s=", name);
    for (const char *c = value; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == '\\' || *c == 127)
            answer_format_add(t, "\\x%02x", (unsigned char)*c);
        else
            answer_format_add(t, "%c", *c);
}

static const char *const kinds[] = {
    [CCO_STAY_NONE] = "none",         [CCO_STAY_COLLECTIVE] = "collective",
    [CCO_STAY_SET_UP] = "set-up",     [CCO_STAY_BEGUN] = "begun",
    [CCO_STAY_MESSAGE] = "message",   [CCO_STAY_REQUESTS] = "requests",
    [CCO_STAY_FINALIZE] = "finalize", [CCO_STAY_OTHER] = "other"};

/* What comes before the name of a call; calls of crestacoll have their whole name. */
static const char *answer_format_prefix_of(const char *call)
{
    return strncmp(call, "CRESTA_", 7) == 0 ? "" : "MPI_";
}

static void add_stay(text *t, const cco_open_call *s, const char *prefix)
{
    answer_format_add(t, "\t%skind=%s", prefix, kinds[s->kind]);
    if (s->call != NULL && s->kind == CCO_STAY_BEGUN)
        answer_format_add(t, "\t%scall=MPI_I%c%s", prefix, tolower((unsigned char)s->call[0]),
                          s->call + 1);
    else if (s->call != NULL)
        answer_format_add(t, "\t%scall=%s%s", prefix, answer_format_prefix_of(s->call), s->call);
    const struct {
        const char *name;
        int64_t value, none;
    } numbers[] = {{"number", s->number, 0},         {"root", s->root, CCO_STAY_NOBODY},
                   {"to", s->to, CCO_STAY_NOBODY},   {"from", s->from, CCO_STAY_NOBODY},
                   {"tag", s->tag, CCO_STAY_NOBODY}, {"bytes", s->bytes, -1},
                   {"requests", s->requests, 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value == CCO_STAY_ANY)
            answer_format_add(t, "\t%s%s=any", prefix, numbers[i].name);
        else if (numbers[i].value != numbers[i].none)
            answer_format_add(t, "\t%s%s=%lld", prefix, numbers[i].name,
                              (long long)numbers[i].value);
    if (s->op != NULL)
        answer_format_add(t, "\t%sop=%s", prefix, s->op);
    const cco_where_comm *w = s->comm;
    if (w == NULL)
        return;
    char name[24];
    snprintf(name, sizeof name, "%scomm", prefix);
    add_escaped(t, name, w->name);
    answer_format_add(t, "\t%scomm_rank=%d\t%scomm_size=%d\t%scomm_id=%llu.%d", prefix, w->rank,
                      prefix, w->size, prefix, (unsigned long long)w->id, w->leader);
    if (w->members[0] != '\0')
        answer_format_add(t, "\t%smembers=%s", prefix, w->members);
    if (w->inter)
        answer_format_add(t, "\t%sinter=1", prefix);
}

static bool has_step(const cco_where *w)
{
    return w->now.inside && w->now.kind == CCO_STAY_COLLECTIVE;
}

/* Ranks of a ring for some of the communicator's only are other numbers. */
static bool has_peer(const cco_where *w)
{
    return has_step(w) && w->step.peer != CCO_STAY_NOBODY && w->now.comm != NULL &&
           (w->step.ranks == 0 || w->step.ranks == w->now.comm->size);
}

static void add_thread(text *t, const cco_where *w)
{
    answer_format_add(t, "thread\tversion=%llu\tinside=%d", (unsigned long long)w->version,
                      w->now.inside != 0);
    add_stay(t, &w->now, "");
    if (w->now.kind == CCO_STAY_COLLECTIVE)
        add_escaped(t, "impl", w->now.impl);
    if (has_step(w) && w->step.rounds >= 0)
        answer_format_add(t, "\tround=%lld\trounds=%lld", (long long)w->step.round + 1,
                          (long long)w->step.rounds);
    if (has_peer(w))
        answer_format_add(t, "\twaits_for=%lld", (long long)w->step.peer);
    if (w->begun.kind == CCO_STAY_BEGUN)
        add_stay(t, &w->begun, "begun_");
    if (w->seen)
        answer_format_add(t, "\tseen=1");
    t->used += cco_where_tell(w->site, t->at + t->used, t->room - t->used);
    answer_format_add(t, "\n");
}

static void add_who(text *t, const cco_teller *who)
{
    answer_format_add(t, "process\trank=%d\tsize=%d\tworld=%llx\tspawned=%d\tpid=%ld", who->rank,
                      who->size, (unsigned long long)who->world, who->spawned, who->pid);
    add_escaped(t, "host", who->host);
    answer_format_add(t, "\n");
}

size_t cco_answer_format_process(const cco_teller *who, char *at, size_t room)
{
    text t = {.at = at, .room = room};
    add_who(&t, who);
    return t.full ? room : t.used;
}

size_t cco_answer_format(const cco_teller *who, char *at, size_t room)
{
    static const char end[] = "end\n";
    text t = {.at = at, .room = room - sizeof end};
    add_who(&t, who);
    for (int k = 0; k < CCO_WHERE_THREADS; k++) {
        cco_where where;
        const size_t before = t.used;
        cco_where_lock(true);
        if (cco_where_read(k, &where))
            add_thread(&t, &where);
        cco_where_lock(false);
        if (t.full) {
            t.used = before;
            break;
        }
    }
    memcpy(at + t.used, end, sizeof end);
    return t.used + sizeof end - 1;
}

/* The part of a line that says which call. */
static void add_call(text *t, const cco_where *w)
{
    const cco_open_call *s = &w->now;
    answer_format_add(t, "%s%s", answer_format_prefix_of(s->call), s->call);
    if (s->number > 0)
        answer_format_add(t, ", call %lld", (long long)s->number);
    if (s->comm != NULL)
        answer_format_add(t, " on '%s' (%d rank%s)", s->comm->name, s->comm->size,
                          cco_plural(s->comm->size));
    if (s->kind == CCO_STAY_SET_UP)
        answer_format_add(t, ", whose set-up waits for other ranks");
    if (s->root != CCO_STAY_NOBODY)
        answer_format_add(t, ", root %lld", (long long)s->root);
    if (s->to != CCO_STAY_NOBODY)
        answer_format_add(t, ", to rank %lld", (long long)s->to);
    if (s->from == CCO_STAY_ANY)
        answer_format_add(t, ", from any rank");
    else if (s->from != CCO_STAY_NOBODY)
        answer_format_add(t, ", from rank %lld", (long long)s->from);
    if (s->op != NULL)
        answer_format_add(t, ", %s", s->op);
    if (s->bytes >= 0)
        answer_format_add(t, ", %lld byte%s", (long long)s->bytes, cco_plural(s->bytes));
    if (s->kind == CCO_STAY_COLLECTIVE)
        answer_format_add(t, ", by %s", s->impl);
    if (has_step(w) && w->step.rounds >= 0)
        answer_format_add(t, ", round %lld of %lld", (long long)w->step.round + 1,
                          (long long)w->step.rounds);
    if (has_peer(w))
        answer_format_add(t, ", waits for rank %lld", (long long)w->step.peer);
}

void cco_answer_format_line(const cco_teller *who, const cco_where *w, unsigned seconds, char *at,
                            size_t room)
{
    text t = {.at = at, .room = room};
    at[0] = '\0';
    answer_format_add(&t, "rank %d (%s, process %ld) ", who->rank, who->host, who->pid);
    if (w->now.call == NULL) {
        answer_format_add(&t, "has made no call that crestacoll sees");
        return;
    }
    if (!w->now.inside)
        answer_format_add(&t, "is in no call that crestacoll sees; its last was ");
    else if (seconds > 0)
        answer_format_add(&t, "has been for %u s in ", seconds);
    else
        answer_format_add(&t, "is in ");
    add_call(&t, w);
}
