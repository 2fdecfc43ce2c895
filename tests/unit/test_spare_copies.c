/* SPDX-License-Identifier: BSD-3-Clause */
/* test_spare_copies.c - an engine leaves out the copy of an operand that a kernel reads where it
 * is, and makes it where there is no kernel, or where somebody reads the copy before. */
#include "sched/engine_run.h"
#include "sched/sched.h"
#include "testing/testing.h"

enum { N = 16 }; /* copies of 8 bytes are none of the transport */

static int copies, reductions;
static const void *kernel_left, *kernel_right, *kernel_to;

static void *open_transfer(void *shared, int messages)
{
    (void)messages;
    return shared;
}

static void nothing(void *transfer)
{
    (void)transfer;
}

static int start(void *transfer, int peer, const cco_data *data)
{
    (void)transfer, (void)peer, (void)data;
    return MPI_SUCCESS;
}

static int test(void *transfer, bool *done)
{
    (void)transfer;
    *done = true;
    return MPI_SUCCESS;
}

static int copy(void *transfer, const cco_data *from, const cco_data *to)
{
    (void)transfer, (void)from, (void)to;
    copies++;
    return MPI_SUCCESS;
}

static int reduce(void *transfer, const cco_data *from, const cco_data *into,
                  const cco_reduce_op *op)
{
    (void)transfer, (void)from, (void)into, (void)op;
    reductions += copies; /* they come first */
    return MPI_SUCCESS;
}

static void kernel(const void *left, const void *right, void *to, size_t n)
{
    CHECK(n == N, "%zu elements", n);
    kernel_left = left;
    kernel_right = right;
    kernel_to = to;
}

static const cco_transport transport = {.name = "told",
                                        .words = true,
                                        .open = open_transfer,
                                        .close = nothing,
                                        .begin = nothing,
                                        .recv = start,
                                        .send = start,
                                        .test = test,
                                        .abandon = nothing,
                                        .copy = copy,
                                        .reduce = reduce};

/* The operand is copied, something comes, and is combined with it; what is sent is `sent`. */
static cco_sched *build(const cco_problem *q, cco_base sent)
{
    const cco_span in = cco_whole(&q->in), out = cco_whole(&q->out);
    cco_sched *s = cco_sched_new(q);
    const cco_span got = cco_scratch(s, N);
    cco_copy(s, in, out);
    if (sent == CCO_OUT)
        cco_round(s);
    cco_send(s, 0, sent == CCO_OUT ? out : in);
    cco_recv(s, 0, got);
    cco_round(s);
    cco_reduce(s, got, out);
    return s;
}

static void run(const cco_problem *q, cco_base sent, cco_kernel op)
{
    static char in[N], out[N], scratch[64];
    cco_binding binding = {.base = {in, out, scratch}, .operation.kernel = op};
    cco_sched *s = build(q, sent);
    cco_engine *e = cco_engine_new(s, &transport, &copies);
    for (int i = 0; i < CCO_BASES; i++)
        binding.layouts[i] = q->layouts[i];
    copies = reductions = 0;
    kernel_right = NULL;
    CHECK(cco_engine_run(e, &binding) == MPI_SUCCESS, "it fails");
    const void *right = sent == CCO_OUT ? out : in;
    CHECK(op == NULL || kernel_right == right, "the kernel reads another right operand");
    CHECK(op == NULL || kernel_left == scratch, "the kernel reads another left operand");
    CHECK(op == NULL || kernel_to == out, "the kernel writes elsewhere");
    cco_engine_free(e);
    cco_sched_free(s);
}

int main(void)
{
    static const cco_layout bytes = {.size = 1, .extent = 1, .dense = true};
    const cco_layout layouts[CCO_BASES] = {bytes, bytes, bytes};
    const cco_side in = {.base = CCO_IN, .blocks = 1, .layout = CCO_IN, .each = N, .pitch = N};
    const cco_side out = {.base = CCO_OUT, .blocks = 1, .layout = CCO_OUT, .each = N, .pitch = N};
    const cco_problem q = {.coll = CCO_ALLREDUCE,
                           .rank = 1,
                           .size = 2,
                           .bytes = N,
                           .unit = 1,
                           .in = in,
                           .out = out,
                           .layouts = layouts};
    run(&q, CCO_IN, kernel);
    CHECK(copies == 0 && reductions == 0, "%d copies, %d reductions", copies, reductions);
    run(&q, CCO_IN, NULL);
    CHECK(copies == 1 && reductions == 1, "%d copies, %d reductions", copies, reductions);
    run(&q, CCO_OUT, NULL);
    CHECK(copies == 1 && reductions == 1, "%d copies, %d reductions", copies, reductions);
    run(&q, CCO_OUT, kernel);
    return testing_end("spare copies");
}
