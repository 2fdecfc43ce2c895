/* SPDX-License-Identifier: BSD-3-Clause */
/* simulate.c - crestacoll-simulate: how long a job of collectives takes on a machine, simulated.
 * People use `crestacoll simulate`.  Reads the job (job.h) from standard input, answers in JSON.
 *
 *   "end"      when each phase ends, in seconds: first rank, mean of all, last rank
 *   "start"    when the last rank begins
 *   "trace"    for a job with a trace: trace.h
 *
 * Exit code 2, and a line on standard error, for what cannot be asked. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "job.h"
#include "../json.h"
#include "trace.h"

enum { CANNOT = 2 }; /* the exit code for what cannot be asked */

static const double second = 1e12;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The phases as often as they are to be repeated. */
static phase *all_phases(const job *j)
{
    const size_t count = (size_t)j->count * (size_t)j->times;
    phase *phases = malloc(count * sizeof *phases);
    for (size_t i = 0; phases != NULL && i < count; i++)
        phases[i] = j->phases[i % (size_t)j->count];
    return phases;
}

static void put_ends(const play *p)
{
    for (int i = 0; i < p->phase_count; i++) {
        const double *end = p->end + (size_t)i * (size_t)p->ranks;
        double first = end[0], last = end[0], sum = 0;
        for (int r = 0; r < p->ranks; r++) {
            first = end[r] < first ? end[r] : first;
            last = end[r] > last ? end[r] : last;
            sum += end[r];
        }
        printf("%s[%.12g, %.12g, %.12g]", i > 0 ? ", " : "", first / second,
               sum / p->ranks / second, last / second);
    }
}

static void put_trace(const trace *t)
{
    printf("\"trace\": {\"eager\": %lld, \"waiting\": %lld, \"waiting_in_a_node\": %s}, ", t->eager,
           t->waiting, t->waiting_in_a_node ? "true" : "false");
}

static void put(const play *p, const trace *t, double built, double ran)
{
    double start = 0;
    for (int r = 0; p->start != NULL && r < p->ranks; r++)
        start = p->start[r] > start ? p->start[r] : start;
    printf("{\"start\": %.12g, \"end\": [", start / second);
    put_ends(p);
    printf("], \"busiest_interface\": %.12g, ", p->busiest / second);
    json_number("messages", p->messages, ", ");
    json_number("bytes", p->bytes, ", ");
    json_number("messages_between_nodes", p->messages_between, ", ");
    json_number("bytes_between_nodes", p->bytes_between, ", ");
    json_number("programs", p->programs->list.count, ", ");
    if (t->bandwidth > 0)
        put_trace(t);
    printf("\"seconds_to_build\": %.3f, \"seconds_to_run\": %.3f}\n", built, ran);
}

/* The exit code. */
static int run(job *j, double began)
{
    trace t = {.bandwidth = j->trace};
    play p = {.machine = &j->machine,
              .programs = &j->programs,
              .phase_count = j->count * j->times,
              .ranks = j->ranks,
              .node = j->nodes->node,
              .place = j->nodes->place,
              .nodes = j->nodes->count,
              .queues = j->queues,
              .start = j->start,
              .records = j->records};
    programs_end(&j->programs);
    phase *phases = all_phases(j);
    p.phases = phases;
    p.end = malloc((size_t)p.phase_count * (size_t)p.ranks * sizeof *p.end);
    const double built = now();
    p.why = "no memory";
    const bool ran = phases != NULL && p.end != NULL && play_run(&p);
    const bool fine = ran && (t.bandwidth == 0 || trace_write(&p, &t));
    if (fine)
        put(&p, &t, built - began, now() - built);
    else if (!ran)
        fprintf(stderr, "%s\n", p.why);
    free(phases);
    free(p.end);
    return fine ? 0 : ran ? CANNOT : 1;
}

int main(void)
{
    job j;
    const double began = now();
    const int code = job_read(&j, stdin) ? run(&j, began) : CANNOT;
    job_free(&j);
    return code;
}
