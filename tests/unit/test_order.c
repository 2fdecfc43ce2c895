/* SPDX-License-Identifier: BSD-3-Clause */
/* test_order.c - which messages of a round leave before it listens, by their size. */
#include <stdlib.h>

#include "sched/engine.h"
#include "testing/testing.h"

enum { MOST = 8 };

/* What a round started, in order: 's' and 'r'. */
typedef struct log {
    char steps[MOST];
    int count;
} log;

static void *open_transfer(void *shared, int messages)
{
    (void)messages;
    return shared;
}

static void nothing(void *transfer)
{
    (void)transfer;
}

static int write_down(void *transfer, char what)
{
    log *l = transfer;
    if (l->count < MOST - 1)
        l->steps[l->count++] = what;
    return MPI_SUCCESS;
}

static int hear(void *transfer, int peer, const cco_data *to)
{
    (void)peer, (void)to;
    return write_down(transfer, 'r');
}

static int speak(void *transfer, int peer, const cco_data *from)
{
    (void)peer, (void)from;
    return write_down(transfer, 's');
}

static int test(void *transfer, bool *done)
{
    (void)transfer;
    *done = true;
    return MPI_SUCCESS;
}

static const cco_transport writer = {.name = "writer",
                                     .open = open_transfer,
                                     .close = nothing,
                                     .begin = nothing,
                                     .recv = hear,
                                     .send = speak,
                                     .test = test,
                                     .abandon = nothing};

static const cco_layout bytes[CCO_BASES] = {{.size = 1, .extent = 1, .dense = true},
                                            {.size = 1, .extent = 1, .dense = true},
                                            {.size = 1, .extent = 1, .dense = true}};

/* Starts an exchange of so many bytes with each of two peers. */
static void check(size_t first, size_t second, const char *expected)
{
    const cco_problem q = {.coll = CCO_ALLTOALL, .size = 3, .layouts = bytes};
    const size_t n[] = {first, second};
    log l = {0};
    cco_sched *s = cco_sched_new(&q);
    for (int i = 0; i < 2; i++) {
        cco_recv(s, 1 + i, (cco_span){.base = CCO_OUT, .layout = CCO_OUT, .n = n[i]});
        cco_send(s, 1 + i, (cco_span){.base = CCO_IN, .layout = CCO_IN, .n = n[i]});
    }
    cco_engine *e = cco_engine_new(s, &writer, &l);
    cco_binding binding = {0};
    CHECK(e != NULL && cco_engine_start(e, &binding) == MPI_SUCCESS, "no engine");
    CHECK(strcmp(l.steps, expected) == 0, "%zu and %zu bytes: %s, not %s", first, second, l.steps,
          expected);
    cco_engine_free(e);
    cco_sched_free(s);
}

int main(void)
{
    check(1, 512, "ssrr");
    check(1, 513, "rrss");
    check(513, 131071, "rrss");
    check(131072, 131072, "ssrr");
    check(8, 1 << 20, "ssrr");
    check(4096, 1 << 20, "rrss");
    return testing_end("order");
}
