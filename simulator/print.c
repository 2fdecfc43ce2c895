/* SPDX-License-Identifier: BSD-3-Clause */
/* print.c - see print.h. */
#include "simulator/print.h"

static void print_span(const cco_sched *s, cco_span span, FILE *file)
{
    static const char *const names[CCO_BASES] = {"in", "out", "tmp"};
    fprintf(file, "%s[%td..%td]", names[span.base], span.at,
            span.at + (ptrdiff_t)cco_span_memory(s, span));
}

static void print_step(const cco_sched *s, const cco_step *step, FILE *file)
{
    switch (step->kind) {
    case CCO_STEP_SEND:
        fprintf(file, "send    ");
        print_span(s, step->a, file);
        fprintf(file, " -> %d\n", step->peer);
        break;
    case CCO_STEP_RECV:
        fprintf(file, "recv    ");
        print_span(s, step->b, file);
        fprintf(file, " <- %d\n", step->peer);
        break;
    case CCO_STEP_EXPOSE:
        fprintf(file, "expose  ");
        print_span(s, step->a, file);
        fprintf(file, " as slot %d\n", step->slot);
        break;
    case CCO_STEP_PUT:
    case CCO_STEP_GET:
        fprintf(file, step->kind == CCO_STEP_PUT ? "put     " : "get     ");
        print_span(s, step->kind == CCO_STEP_PUT ? step->a : step->b, file);
        fprintf(file, " %s %d slot %d at %zu\n", step->kind == CCO_STEP_PUT ? "->" : "<-",
                step->peer, step->slot, step->place);
        break;
    case CCO_STEP_NOTIFY:
        fprintf(file, "notify  -> %d\n", step->peer);
        break;
    case CCO_STEP_AWAIT:
        fprintf(file, "await   <- %d\n", step->peer);
        break;
    default:
        fprintf(file, step->kind == CCO_STEP_COPY ? "copy    "
                      : step->fold                ? "fold    "
                                                  : "reduce  ");
        print_span(s, step->a, file);
        fprintf(file, step->kind == CCO_STEP_COPY ? " to " : " into ");
        print_span(s, step->b, file);
        fprintf(file, "\n");
        break;
    }
}

void cco_print(const cco_sched *s, FILE *file)
{
    int round = 0;
    for (int i = 0; i < s->count; i++) {
        if (s->steps[i].kind == CCO_STEP_ROUND) {
            round++;
            continue;
        }
        fprintf(file, "%3d ", round);
        print_step(s, &s->steps[i], file);
    }
}
