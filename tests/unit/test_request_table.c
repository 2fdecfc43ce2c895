/* SPDX-License-Identifier: BSD-3-Clause */
/* test_request_table.c - entries by request: one of each handle, and none that came later is taken
 * for one that was there. */
#include "mpi/request_table.h"

#include <string.h>

#include "testing/testing.h"

enum { MANY = 500 };

static cco_request_table table = CCO_REQUEST_TABLE;
static cco_request_entry many[MANY];
static int seen, dropped;

/* The table never looks behind a handle. */
static MPI_Request handle(int i)
{
    MPI_Request request;
    uint64_t bits = 0x10 + 8 * (uint64_t)i;
    memcpy(&request, &bits, sizeof request);
    return request;
}

static void see(cco_request_entry *entry)
{
    seen += entry == &many[0];
}

static void drop(cco_request_entry *entry)
{
    dropped += entry >= many && entry < many + MANY;
}

static void given_again(void)
{
    cco_request_entry later = {.request = handle(0)};
    const uint64_t serial = cco_request_table_look(&table, handle(0), see);
    CHECK(serial != 0 && seen == 1, "serial %d, seen %d times", (int)serial, seen);
    CHECK(cco_request_table_put(&table, &later) == &many[0], "the first one is replaced");
    CHECK(cco_request_table_take(&table, handle(0), serial) == NULL, "one that came later stays");
    CHECK(cco_request_table_find(&table, handle(0)) == &later, "and is found");
    CHECK(cco_request_table_take(&table, handle(0), 0) == &later, "and is taken");
    CHECK(cco_request_table_look(&table, handle(0), see) == 0 && seen == 1, "nothing is left");
}

int main(void)
{
    for (int i = 0; i < MANY; i++) {
        many[i].request = handle(i);
        CHECK(cco_request_table_put(&table, &many[i]) == NULL, "%d replaces nothing", i);
    }
    for (int i = 0; i < MANY; i++)
        CHECK(cco_request_table_find(&table, handle(i)) == &many[i], "%d is found", i);
    given_again();
    for (int i = 1; i < MANY; i += 2)
        CHECK(cco_request_table_take(&table, handle(i), many[i].serial) == &many[i], "%d", i);
    cco_request_table_empty(&table, drop);
    CHECK(dropped == MANY / 2 - 1, "%d were left", dropped);
    CHECK(cco_request_table_find(&table, handle(2)) == NULL, "none is left");
    return testing_end("request_table");
}
