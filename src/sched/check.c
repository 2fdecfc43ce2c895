/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - see check.h. */
#include "sched/check.h"

#include <stdio.h>
#include <stdlib.h>

/* Memory from `low` up to `high`, from a base. */
typedef struct range {
    ptrdiff_t low, high;
} range;

static range range_of(const cco_sched *s, cco_span span)
{
    const ptrdiff_t memory = (ptrdiff_t)cco_span_memory(s, span);
    const ptrdiff_t extent = s->layouts[span.layout].extent;
    if (extent >= 0 || span.n == 0)
        return (range){span.at, span.at + memory};
    return (range){span.at + memory / -extent * extent - extent, span.at - extent}; /* downwards */
}

/* Local memory that a step writes (b) or reads (a). */
static bool sched_check_writes(const cco_step *step)
{
    return step->kind == CCO_STEP_RECV || step->kind == CCO_STEP_COPY ||
           step->kind == CCO_STEP_REDUCE || step->kind == CCO_STEP_GET;
}

static bool sched_check_reads(const cco_step *step)
{
    return step->kind == CCO_STEP_SEND || step->kind == CCO_STEP_COPY ||
           step->kind == CCO_STEP_REDUCE || step->kind == CCO_STEP_PUT;
}

/* True if a span touches memory from a base.  Where it ends costs a division: only if need be. */
static bool sched_check_touches(const cco_sched *s, const cco_span *span, cco_base base,
                                range memory)
{
    if (span->base != base || (s->layouts[span->layout].extent >= 0 && span->at >= memory.high))
        return false;
    const range r = range_of(s, *span);
    return r.low < memory.high && memory.low < r.high;
}

/* The first two steps that touch the same memory, if there are any. */
static bool sched_check_find_pair(const cco_sched *s, int first, int end, int *one, int *other)
{
    for (int i = first; i < end; i++) {
        const cco_step *x = &s->steps[i];
        if (!sched_check_writes(x))
            continue;
        const range written = range_of(s, x->b);
        for (int j = first; j < end; j++) {
            const cco_step *y = &s->steps[j];
            if ((i != j && sched_check_reads(y) &&
                 sched_check_touches(s, &y->a, x->b.base, written)) ||
                (i < j && sched_check_writes(y) &&
                 sched_check_touches(s, &y->b, x->b.base, written))) {
                *one = i;
                *other = j;
                return true;
            }
        }
    }
    return false;
}

/* What a step reads or writes. */
typedef struct use {
    range memory;
    cco_base base;
    bool written;
} use;

/* By base and place.  What is empty comes before what begins there, and so touches none of it. */
static int sched_check_compare(const void *a, const void *b)
{
    const use *x = a, *y = b;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    if (x->memory.low != y->memory.low)
        return x->memory.low < y->memory.low ? -1 : 1;
    return (x->memory.high > y->memory.high) - (x->memory.high < y->memory.high);
}

/* True if nothing that is written meets another of these, which it sorts. */
static bool sched_check_apart(use *uses, int count)
{
    ptrdiff_t used = 0, written = 0; /* up to where, in this base */
    qsort(uses, (size_t)count, sizeof *uses, sched_check_compare);
    for (int i = 0; i < count; i++) {
        const range memory = uses[i].memory;
        if (i == 0 || uses[i].base != uses[i - 1].base)
            used = written = memory.low;
        if (memory.low < (uses[i].written ? used : written))
            return false;
        used = memory.high > used ? memory.high : used;
        if (uses[i].written)
            written = memory.high > written ? memory.high : written;
    }
    return true;
}

enum { FEW = 8, SOME = 64 }; /* steps: where sorting does not pay; where the stack has room */

/* True if all steps of a long round are known to be apart: of many steps there are too many pairs.
 * That a step may touch what it writes itself, this does not know. */
static bool known_apart(const cco_sched *s, int first, int end)
{
    use on_stack[2 * SOME], *uses = on_stack;
    int count = 0;
    if (end - first <= FEW)
        return false;
    if (end - first > SOME && (uses = malloc(2 * (size_t)(end - first) * sizeof *uses)) == NULL)
        return false;
    for (int i = first; i < end; i++) {
        const cco_step *x = &s->steps[i];
        if (sched_check_reads(x))
            uses[count++] = (use){range_of(s, x->a), x->a.base, false};
        if (sched_check_writes(x))
            uses[count++] = (use){range_of(s, x->b), x->b.base, true};
    }
    const bool known = sched_check_apart(uses, count);
    if (uses != on_stack)
        free(uses);
    return known;
}

bool cco_check_round(const cco_sched *s, int first, int end, int *one, int *other)
{
    return !known_apart(s, first, end) && sched_check_find_pair(s, first, end, one, other);
}

static void sched_check_widen(range *r, range by)
{
    if (by.low >= by.high)
        return;
    r->low = r->low < r->high && r->low < by.low ? r->low : by.low;
    r->high = r->high > by.high ? r->high : by.high;
}

/* The memory of a base that a problem may touch: all its blocks. */
static range sched_check_allowed(const cco_sched *s, const cco_problem *q, cco_base base)
{
    const cco_side *const sides[] = {&q->in, &q->out};
    range all = {0, 0};
    if (base == CCO_TMP) /* where elements lie downwards, the first is the last */
        return (range){0, (ptrdiff_t)s->scratch};
    for (int k = 0; k < 2; k++)
        for (int i = 0; sides[k]->base == base && i < sides[k]->blocks; i++)
            sched_check_widen(&all, range_of(s, sides[k]->blocks == 1 && sides[k]->n == NULL
                                                    ? cco_whole(sides[k])
                                                    : cco_block(q, sides[k], i)));
    return all;
}

static bool sched_check_inside(const cco_sched *s, cco_span span, const range *allowed)
{
    const range r = range_of(s, span);
    return span.n == 0 || (allowed[span.base].low <= r.low && r.high <= allowed[span.base].high);
}

bool cco_check(const cco_sched *s, const cco_problem *q, char *why, size_t room)
{
    const range all[CCO_BASES] = {sched_check_allowed(s, q, CCO_IN),
                                  sched_check_allowed(s, q, CCO_OUT),
                                  sched_check_allowed(s, q, CCO_TMP)};
    int one, other;
    for (int first = 0, end; first < s->count; first = end + 1) {
        for (end = first; end < s->count && s->steps[end].kind != CCO_STEP_ROUND; end++) {
            const cco_step *step = &s->steps[end];
            if ((sched_check_reads(step) && !sched_check_inside(s, step->a, all)) ||
                (sched_check_writes(step) && !sched_check_inside(s, step->b, all))) {
                snprintf(why, room, "step %d leaves the blocks of the call or the scratch", end);
                return false;
            }
        }
        if (cco_check_round(s, first, end, &one, &other)) {
            snprintf(why, room, "steps %d and %d of one round touch the same memory", one, other);
            return false;
        }
    }
    return true;
}
