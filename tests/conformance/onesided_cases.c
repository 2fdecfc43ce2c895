/* SPDX-License-Identifier: BSD-3-Clause */
/* onesided_cases.c - three ranks, a few steps each, written down as text: which accesses the
 * simulator must take for ordered, and which not.
 *
 * Every rank exposes 8 elements of `out`, from byte 2 on: 2 bytes of data and a gap of one each.
 *   |      the next round          Nr Ar  notify, await rank r
 *   Prab   put elements a to b     Grab   get them
 *   Wab    write own elements      Rab    read them          Uab    reduce into them
 *   Srab   send them to rank r     Vrab   receive into them; Sr Vr: other memory
 *   prab   put bytes a to b        grab   get them */
#include <ctype.h>
#include <string.h>

#include "mpi/mpi_compat.h"
#include "onesided.h"
#include "testing/testing.h"
#include "simulator/sim.h"

enum { RANKS = 3, ROOM = 1024, START = 2, ELEMENTS = 8, SIZE = 2 };

static const struct {
    const char *ranks[RANKS], *why; /* "": nothing is wrong */
    int chain;                      /* 0: whatever */
} cases[] = {
    /* What is right. */
    {{"A1|P103|N1", "N0A0|R03", ""}, "", 2},
    {{"A1|G103|N1", "N0A0|W03", ""}, "", 3},
    {{"A1|P103|N1", "N0A0R37", ""}, "", 0},
    {{"A1|P136|N1", "N0A0R03", ""}, "", 0},
    {{"A1|G103G103|G103|N1", "N0A0R03", ""}, "", 0},
    {{"A1|G103|P103|N1", "N0A0|R03", ""}, "", 0},
    {{"A1|P103|N1|A1|P103|N1", "N0A0|R03|N0A0|U03", ""}, "", 0},
    {{"A1|P103|N1", "N0A0|N2A2", "A1|G103|N1"}, "", 0},
    {{"A1|G103|N2", "N0N2A2|W03", "A1A0|N1"}, "", 0},
    {{"A1|P108|N1", "N0A0|R08", ""}, "", 0},
    {{"A1|p1af|N1", "N0A0|R57", ""}, "bytes 10 to 15 of slot 0 of rank 1: not whole", 0},
    {{"A1|g1bf|N1", "N0A0|R57", ""}, "bytes 11 to 15 of slot 0 of rank 1: not whole", 0},
    {{"A1|P179|N1", "N0A0", ""}, "puts to bytes 14 to 18 of slot 0 of rank 1, which has 16", 0},
    {{"A1|G19a|N1", "N0A0", ""}, "gets bytes 18 to 20 of slot 0 of rank 1, which has 16", 0},
    /* A notification says nothing of its own round. */
    {{"A1|G103N1", "N0A0|W03", ""},
     "rank 1 writes out[2..11] of rank 1 in round 1, not ordered after the get by rank 0 in round "
     "1",
     0},
    {{"A1|A1|P103|N1", "N0|R03N0|A0", ""}, "not ordered after the read by rank 1 in round 1", 0},
    {{"A1|P103N1", "N0A0|R03", ""}, "not ordered after the put by rank 0 in round 1", 0},
    {{"A1|P103|N1", "N0A0|N2A2", "A1|G125|N1"}, "", 0},
    {{"A1|P103|N1", "N0N2|A0|A2", "A1|G125|N1"}, "not ordered after the put by rank 0", 0},
    /* Nothing orders the steps of one round, or what is awaited in it. */
    {{"A1|P103P125|N1", "N0A0", ""}, "puts to out[8..17] of rank 1 in round 1, not ordered", 0},
    {{"A1|G103P125|N1", "N0A0", ""}, "after the get by rank 0 in round 1", 0},
    {{"A1|P103G125|N1", "N0A0", ""}, "gets out[8..17] of rank 1 in round 1, not ordered", 0},
    {{"A1|P103|N1", "N0A0R25", ""}, "not ordered after the", 0},
    {{"A1|G103|N1", "N0A0U25", ""}, "not ordered after the write by rank 1 in round 0", 0},
    /* Messages order nothing. */
    {{"A1|P103|S1|N1", "N0|V0|R25|A0", ""},
     "rank 1 reads out[8..17] of rank 1 in round 2, not ordered after the put by rank 0 in round 1",
     0},
    {{"A1|V1|G103|N1", "N0|W25|S0|A0", ""}, "not ordered after the write by rank 1 in round 1", 0},
    {{"A1|S125|N1", "N0V025|A0", ""}, "", 0},
    {{"A1S125|P103|N1", "N0V025|A0", ""}, "not ordered after the write by rank 1 in round 0", 0},
    {{"A1V103|P103|N1", "N0S025|A0", ""}, "not ordered after the read by rank 1 in round 0", 0},
    /* Nothing follows from an access for another one that it hides. */
    {{"A1|G103|N1", "N0N2A2|W03|A0", "A1|G103|N1"}, "not ordered after the get by rank 0", 0},
    {{"A1|V1|G103|N1", "N0|W03|R03|S0|A0", ""}, "after the write by rank 1 in round 1", 0},
    {{"A1|G105|N1", "N0N2A0|W13|S2|A2", "A1V1|P135|N1"}, "after the get by rank 0 in round 1", 0},
    {{"A1|G105|N1", "N0N2A0|W37|S2|A2", "A1V1|P112|N1"}, "after the get by rank 0 in round 1", 0},
    {{"A1|G125|N1", "N0N2A0|W03|S2|A2", "A1V1|P145|N1"}, "after the get by rank 0 in round 1", 0},
    /* Who may leave, and who may come. */
    {{"A1|G103", "N0", ""}, "rank 1 ends after round 0, not ordered after the get by rank 0", 0},
    {{"A1|P103|N1", "N0", ""}, "rank 1 ends after round 0, not ordered after the put by rank 0", 0},
    {{"A1|P103|N1", "N0|A0", ""}, "", 0},
    {{"A1|N1", "N0", ""}, "nobody awaits a notification from rank 0 to rank 1", 0},
    {{"A2|P103|N1", "N2A0", "A1|N0"}, "puts to slot 0 of rank 1 before a notification by it", 0},
    {{"A1|P103|N1", "N0A0A0", ""}, "rank 1 waits in step 3 for a notification by rank 0", 0},
};

static int digit(const char **at)
{
    const char c = *(*at)++;
    return isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10;
}

static cco_span elements(int from, int to)
{
    return (cco_span){CCO_OUT, CCO_OUT, START + 3 * from, (size_t)((to - from) * SIZE)};
}

/* A message, of a span of the slot if one is named. */
static void message(cco_sched *s, char what, int peer, const char **at)
{
    cco_span span = {what == 'S' ? CCO_IN : CCO_TMP, CCO_IN, 0, 1};
    if (isdigit((unsigned char)**at)) {
        const int from = digit(at);
        span = elements(from, digit(at));
    }
    if (what == 'S')
        cco_send(s, peer, span);
    else
        cco_recv(s, peer, span);
}

static void step(cco_sched *s, char what, const char **at)
{
    const int peer = strchr("NAPGSVpg", what) != NULL ? digit(at) : 0;
    const int unit = strchr("pg", what) != NULL ? 1 : SIZE;
    if (what == 'N') {
        cco_notify(s, peer);
    } else if (what == 'A') {
        cco_await(s, peer);
    } else if (what == 'S' || what == 'V') {
        message(s, what, peer, at);
    } else {
        const int from = digit(at), to = digit(at);
        const size_t n = (size_t)((to - from) * unit), place = (size_t)(from * unit);
        const cco_span in = {CCO_IN, CCO_IN, from, n}, tmp = {CCO_TMP, CCO_TMP, 16 * s->count, n};
        if (toupper((unsigned char)what) == 'P')
            cco_put(s, peer, in, 0, place);
        else if (toupper((unsigned char)what) == 'G')
            cco_get(s, peer, 0, place, tmp);
        else if (what == 'R')
            cco_copy(s, elements(from, to), tmp);
        else if (what == 'W')
            cco_copy(s, in, elements(from, to));
        else
            cco_reduce(s, in, elements(from, to));
    }
}

static cco_sched *schedule(const cco_problem *q, const char *text)
{
    cco_sched *s = cco_sched_new(q);
    cco_expose(s, elements(0, ELEMENTS));
    while (*text != '\0') {
        const char what = *text++;
        if (what == '|')
            cco_round(s);
        else
            step(s, what, &text);
    }
    CHECK(cco_sched_error(s) == MPI_SUCCESS, "class %d", cco_sched_error(s));
    return s;
}

static void keep_left(const void *from, void *into, size_t n)
{
    memcpy(into, from, n);
}

void onesided_cases(void)
{
    static unsigned char data[RANKS][CCO_BASES][ROOM], written[ROOM];
    const cco_layout bytes = {.size = 1, .extent = 1, .dense = true};
    const cco_layout layouts[CCO_BASES] = {bytes, {.size = SIZE, .extent = SIZE + 1}, bytes};
    memset(written, 1, sizeof written);
    for (int k = 0; k < LEN(cases); k++) {
        cco_sim_rank ranks[RANKS] = {0};
        cco_sim sim = {.ranks = ranks, .size = RANKS, .reduce = keep_left};
        const char *const *text = cases[k].ranks;
        snprintf(testing_label, sizeof testing_label, "%s; %s; %s", text[0], text[1], text[2]);
        for (int i = 0; i < RANKS; i++) {
            const cco_problem q = {.rank = i, .size = RANKS, .layouts = layouts};
            ranks[i].sched = schedule(&q, text[i]);
            for (int base = 0; base < CCO_BASES; base++)
                ranks[i].memory[base] = (cco_memory){data[i][base], written, sizeof written};
        }
        const bool fine = cco_sim_run(&sim);
        CHECK(fine == (cases[k].why[0] == '\0') && strstr(sim.why, cases[k].why) != NULL,
              "\"%s\", expected \"%s\"", sim.why, cases[k].why);
        CHECK(cases[k].chain == 0 || cases[k].chain == sim.chain, "chain of %d", sim.chain);
        for (int i = 0; i < RANKS; i++)
            cco_sched_free((cco_sched *)(uintptr_t)ranks[i].sched);
    }
}
