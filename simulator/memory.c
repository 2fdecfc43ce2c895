/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - see memory.h. */
#include "simulator/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const cco_sim_bases[CCO_BASES] = {"in", "out", "tmp"};

bool cco_sim_wrong(cco_sim *sim, const char *format, ...)
{
    va_list arguments;
    if (sim->why[0] != '\0')
        return false;
    va_start(arguments, format);
    vsnprintf(sim->why, sizeof sim->why, format, arguments);
    va_end(arguments);
    return false;
}

static bool inside(cco_sim *sim, int rank, cco_span span)
{
    const size_t size = sim->ranks[rank].memory[span.base].size;
    const size_t end = (size_t)span.at + cco_span_memory(sim->ranks[rank].sched, span);
    if (span.n == 0 || (span.at >= 0 && end <= size))
        return true;
    return cco_sim_wrong(sim, "rank %d reaches outside of %s: bytes %td to %zu of %zu", rank,
                         cco_sim_bases[span.base], span.at, end, size);
}

/* Copies the data of a span to or from `packed`, keeping account of what is written. */
static bool transfer(cco_sim *sim, int rank, cco_span span, unsigned char *packed, bool out)
{
    const cco_memory *memory = &sim->ranks[rank].memory[span.base];
    const cco_layout *layout = &sim->ranks[rank].sched->layouts[span.layout];
    const bool dense = layout->extent == (ptrdiff_t)layout->size;
    const size_t n = dense ? span.n : layout->size; /* bytes that lie together */
    ptrdiff_t at = span.at;
    for (size_t left = span.n; left > 0; left -= n, at += layout->extent) {
        if (at < 0 || (size_t)at + n > memory->size)
            return cco_sim_wrong(sim, "rank %d reaches outside of %s: byte %td of %zu", rank,
                                 cco_sim_bases[span.base], at, memory->size);
        if (out) {
            memcpy(memory->data + at, packed, n);
            memset(memory->written + at, 1, n);
        } else {
            if (memchr(memory->written + at, 0, n) != NULL)
                return cco_sim_wrong(sim, "rank %d reads byte %td of %s, which nobody wrote", rank,
                                     at, cco_sim_bases[span.base]);
            memcpy(packed, memory->data + at, n);
        }
        packed += n;
    }
    return true;
}

bool cco_sim_move(cco_sim *sim, int from, cco_span a, int to, cco_span b)
{
    if (sim->count_only)
        return inside(sim, from, a) && inside(sim, to, b);
    unsigned char *packed = malloc(a.n + 1);
    const bool fine = packed != NULL && transfer(sim, from, a, packed, false) &&
                      transfer(sim, to, b, packed, true);
    free(packed);
    return fine;
}

/* As cco_fold_into says, operand by operand. */
static void combine(const cco_sim_op *op, const unsigned char *from, size_t n, unsigned char *into,
                    size_t each, bool fold)
{
    if (fold)
        memcpy(into, from + n - each, each);
    for (size_t left = n - (fold ? each : 0); left > 0; left -= each)
        for (size_t i = 0; i < each; i += op->element)
            op->reduce(from + left - each + i, into + i, op->element);
}

bool cco_sim_reduce(cco_sim *sim, int rank, cco_span a, cco_span b, int operation, bool fold)
{
    if (sim->count_only)
        return inside(sim, rank, a) && inside(sim, rank, b);
    const cco_sim_op typed = {sim->reduce, sim->ranks[rank].sched->layouts[b.layout].size};
    const cco_sim_op *op = operation > 0 ? &sim->operations[operation - 1] : &typed;
    unsigned char *from = malloc(a.n + 1), *into = malloc(b.n + 1);
    bool fine = from != NULL && into != NULL && transfer(sim, rank, a, from, false) &&
                (fold || transfer(sim, rank, b, into, false));
    if (fine)
        combine(op, from, a.n, into, b.n, fold);
    fine = fine && transfer(sim, rank, b, into, true);
    free(from);
    free(into);
    return fine;
}
