/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fragments.c - what a rank finds in the line of a peer: whether that is in this call still,
 * has ended it, or makes another one that has the same number. */
#include <stdlib.h>

#include "call/stamp.h"
#include "testing/testing.h"
#include "transport/stream/fragment.h"
#include "transport/stream/line.h"

enum { RANKS = 2, NUMBER = 5 };

static char shares[RANKS][RANKS * CCO_LINE] __attribute__((aligned(CCO_LINE)));
static char *places[RANKS] = {shares[0], shares[1]};
static cco_area areas[RANKS] = {{.share = shares[0], .rank = 0, .size = RANKS, .shares = places},
                                {.share = shares[1], .rank = 1, .size = RANKS, .shares = places}};
static cco_fragments *calls[RANKS];

static void begin(int rank, uint64_t stamp, uint64_t number)
{
    cco_fragments_stamp(calls[rank], stamp);
    cco_fragments_begin(calls[rank], &areas[rank], number);
}

static bool passed(uint64_t *there)
{
    return cco_fragments_passed(calls[0], 1, there);
}

int main(void)
{
    const uint64_t ours = cco_stamp(CCO_BCAST, 0, 8), other = cco_stamp(CCO_BCAST, 1, 8);
    uint64_t there;
    for (int i = 0; i < RANKS; i++)
        calls[i] = cco_fragments_open(NULL, 1);
    begin(1, other, NUMBER - 1);
    begin(0, ours, NUMBER);
    CHECK(!passed(&there), "an earlier call has passed");
    begin(1, ours, NUMBER);
    CHECK(!passed(&there), "a peer in this call has passed");
    cco_fragments_end(calls[1]);
    CHECK(passed(&there), "a peer has ended this call");
    begin(1, ours, NUMBER + 1);
    CHECK(passed(&there), "a peer has come to the next call");
    begin(1, other, NUMBER);
    CHECK(passed(&there), "a peer makes another call that has the same number");
    CHECK(cco_stamp_alone(there) == other, "its stamp is %llx", (unsigned long long)there);
    for (int i = 0; i < RANKS; i++)
        free(calls[i]);
    return testing_end("fragments");
}
