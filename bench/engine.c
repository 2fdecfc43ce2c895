/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c - crestacoll-engine: what it costs to find a kept plan, to start it and to finish it,
 * without communication.
 *
 *     crestacoll-engine [SAMPLES]        one process, no launcher
 *
 * Schedules of 0 to 64 steps: copies of 8 bytes, or messages over a transport that ends them at
 * once; all in one round, or each in a round of its own.  Series are interleaved sample by sample;
 * a straight line through the medians gives a fixed cost and one per step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comm/comm.h"
#include "plan/plan.h"
#include "model/registry.h"
#include "transport/hook/hook.h"
#include "transport/p2p/p2p.h"
#include "sched/engine_run.h"

enum { SIZES = 6, SERIES = 4, BATCH = 200, SAMPLES = 400, BYTES = 8 };

static const int steps[SIZES] = {0, 4, 8, 16, 32, 64};
static const char *const names[SERIES] = {"copies, one round", "copies, a round each",
                                          "messages, one round", "messages, a round each"};

typedef struct sample {
    double ns[SAMPLES];
} sample;

static sample times[SERIES][SIZES];
static sample whole; /* the path of a call through the model: 8 bytes, one rank */
static int samples = SAMPLES;

/* Steps of a series: params[0] its number, params[1] how many. */
static void build(cco_sched *s, const cco_problem *q)
{
    const long series = q->params[0];
    for (long i = 0; i < q->params[1]; i++) {
        const cco_span from = cco_scratch(s, BYTES), to = cco_scratch(s, BYTES);
        if (series % 2 == 1)
            cco_round(s);
        if (series < 2)
            cco_copy(s, from, to);
        else
            cco_send(s, 1, from);
    }
}

static const cco_algo measured = {.name = "measured", .doc = "steps to be timed", .build = build};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Finds, starts and finishes a plan so often; nanoseconds for one. */
static double run_plans(cco_plans *plans, const cco_problem *q, cco_binding *binding)
{
    const double start = now();
    for (int i = 0; i < BATCH; i++) {
        cco_plan *plan;
        if (cco_plan_find(plans, &measured, q, &plan) != MPI_SUCCESS ||
            cco_engine_run(plan->engine, binding) != MPI_SUCCESS)
            abort();
    }
    return (now() - start) / BATCH;
}

static double run_calls(cco_comm *state, const cco_way *way)
{
    double in = 1, out = 0;
    const cco_call call = {.coll = CCO_ALLREDUCE,
                           .comm = state->comm,
                           .op = MPI_SUM,
                           .sendbuf = &in,
                           .recvbuf = &out,
                           .sendcount = 1,
                           .recvcount = 1,
                           .sendtype = MPI_DOUBLE,
                           .recvtype = MPI_DOUBLE};
    const double start = now();
    for (int i = 0; i < BATCH; i++)
        if (way->model->run(state, way, &call) != MPI_SUCCESS)
            abort();
    return (now() - start) / BATCH;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(sample *s, double q)
{
    qsort(s->ns, (size_t)samples, sizeof s->ns[0], by_value);
    return s->ns[(int)(q * (samples - 1))];
}

/* Least squares over the medians. */
static void fit(int series, double *fixed, double *each)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < SIZES; k++) {
        const double median = quantile(&times[series][k], 0.5);
        x += steps[k];
        y += median;
        xx += (double)steps[k] * steps[k];
        xy += steps[k] * median;
    }
    *each = (SIZES * xy - x * y) / (SIZES * xx - x * x);
    *fixed = (y - *each * x) / SIZES;
}

static void report(void)
{
    printf(
        "# ns to find a kept plan, start it and finish it: median [p10 p90] of %d samples of %d\n"
        "# %-22s",
        samples, BATCH, "steps");
    for (int k = 0; k < SIZES; k++)
        printf(" %6d", steps[k]);
    printf("   fixed  per step\n");
    for (int series = 0; series < SERIES; series++) {
        double fixed, each;
        fit(series, &fixed, &each);
        printf("%-24s", names[series]);
        for (int k = 0; k < SIZES; k++)
            printf(" %6.1f", quantile(&times[series][k], 0.5));
        printf("  %6.1f  %8.1f\n", fixed, each);
    }
    printf("no step at all: %.1f [%.1f %.1f]\n", quantile(&times[0][0], 0.5),
           quantile(&times[0][0], 0.1), quantile(&times[0][0], 0.9));
    printf("allreduce of 8 bytes on one rank, model p2p, all of it: %.1f [%.1f %.1f]\n",
           quantile(&whole, 0.5), quantile(&whole, 0.1), quantile(&whole, 0.9));
}

static void measure(cco_comm *state)
{
    static char scratch[1 << 20];
    static const cco_layout bytes = {1, 1, 0, true, MPI_DATATYPE_NULL};
    cco_hook hook = {.inner = NULL};
    cco_plans plans = {.transport = &cco_transport_hook, .shared = &hook};
    cco_binding binding = {.layouts = {bytes, bytes, bytes}, .operation.op = MPI_OP_NULL};
    const cco_way way = {.model = &cco_model_p2p};
    for (int base = 0; base < CCO_BASES; base++)
        binding.base[base] = scratch;
    for (int i = -1; i < samples; i++) /* the first makes what is kept */
        for (int series = 0; series < SERIES; series++)
            for (int k = 0; k < SIZES; k++) {
                const cco_problem q = {.coll = CCO_BARRIER,
                                       .size = 2,
                                       .unit = 1,
                                       .layouts = binding.layouts,
                                       .params = {series, steps[k]}};
                const double ns = run_plans(&plans, &q, &binding);
                const double call = run_calls(state, &way);
                if (i >= 0)
                    times[series][k].ns[i] = ns;
                if (i >= 0)
                    whole.ns[i] = call;
            }
    cco_plans_empty(&plans);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        samples = atoi(argv[1]);
    if (argc > 2 || samples < 1 || samples > SAMPLES) {
        fprintf(stderr, "crestacoll-engine: expected a number of samples, 1 to %d\n", SAMPLES);
        return 2;
    }
    PMPI_Init(&argc, &argv);
    cco_comm *state = cco_comm_create(MPI_COMM_SELF);
    if (state == NULL)
        return 1;
    measure(state);
    report();
    cco_comm_end();
    PMPI_Finalize();
    return 0;
}
