/* SPDX-License-Identifier: BSD-3-Clause */
/* awaited.c - a long wait for many messages asks about few of them at a time, and about all in
 * turn; it ends when nothing can come, and so does that of an exchange.  One rank, whose messages
 * to itself come late. */
#include <stdbool.h>

#include "wait/awaited.h"
#include "mpi/ulfm.h"
#include "progress/exchange.h"
#include "testing/testing.h"

enum { MESSAGES = 1000, OVER = 600, AT_ONCE = 16, IN_ALL = 256, ENOUGH = 100, LOOKS = 3 };

int __real_PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);
int __wrap_PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);

static MPI_Request requests[MESSAGES];
static int peers[MESSAGES], asked[MESSAGES]; /* each: how often */
static int in_all, under_way;                /* in this look */

int __wrap_PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    for (int i = 0; i < MESSAGES; i++)
        asked[i] += requests[i] == request;
    const int rc = __real_PMPI_Request_get_status(request, flag, status);
    in_all++;
    under_way += !*flag;
    return rc;
}

static bool ended; /* this process, as it seems */

bool __wrap_cco_watch_ended(MPI_Comm comm, int rank);
bool __wrap_cco_watch_ended(MPI_Comm comm, int rank)
{
    (void)comm, (void)rank;
    return ended;
}

static bool due(cco_watch *watch)
{
    (void)watch;
    return true;
}

static int error;

static int error_of(cco_watch *watch)
{
    (void)watch;
    return error;
}

static int told = MPI_SUCCESS, expected = -1;

static int fail(const cco_watch *watch, int class, int lost)
{
    (void)watch;
    CHECK(lost == expected, "lost %d", lost);
    told = class;
    return class;
}

static const cco_watch_kind kind = {.due = due, .error = error_of, .fail = fail};

static int look(cco_awaited *awaited, cco_channel *channel)
{
    cco_watch watch = {.kind = &kind};
    in_all = under_way = 0;
    return cco_awaited_lost(awaited, &watch, channel, MESSAGES, requests, peers, NULL);
}

/* A process that has ended counts in the third look that finds it so, one after the other. */
static void try_ended(cco_channel *channel)
{
    cco_awaited awaited = {.at = OVER};
    ended = true;
    expected = 0;
    for (int i = 1; i < LOOKS; i++)
        CHECK(look(&awaited, channel) == MPI_SUCCESS, "look %d", i);
    CHECK(in_all <= 2, "its message comes first: %d", in_all);
    ended = false;
    CHECK(look(&awaited, channel) == MPI_SUCCESS, "not ended");
    ended = true;
    for (int i = 1; i < LOOKS; i++)
        CHECK(look(&awaited, channel) == MPI_SUCCESS, "look %d again", i);
    told = MPI_SUCCESS;
    CHECK(look(&awaited, channel) == cco_ulfm_failed_class() && told == cco_ulfm_failed_class(),
          "the third look");
    ended = false;
}

/* What becomes of the sender of a message that an exchange has in part, past its barrier. */
static void try_incoming(const cco_channel *channel)
{
    cco_watch watch = {.kind = &kind};
    cco_exchange_message came = {.source = 0};
    cco_exchange x = {.comm = channel->comm,
                      .size = 1,
                      .sent = true,
                      .distance = 1,
                      .barrier = {MPI_REQUEST_NULL, MPI_REQUEST_NULL},
                      .incoming = requests[MESSAGES - 1],
                      .list = &came,
                      .came = 1};
    CHECK(cco_exchange_lost(&x, &watch, channel) == MPI_SUCCESS, "it may come");
    ended = true;
    expected = 0;
    for (int i = 1; i < LOOKS; i++)
        CHECK(cco_exchange_lost(&x, &watch, channel) == MPI_SUCCESS, "look %d", i);
    CHECK(cco_exchange_lost(&x, &watch, channel) == cco_ulfm_failed_class(), "the third look");
    ended = false;
}

int main(int argc, char **argv)
{
    static int data[MESSAGES];
    cco_channel channel = {.comm = MPI_COMM_NULL};
    cco_awaited awaited = {0};
    MPI_Init(&argc, &argv);
    testing_watchdog(30);
    CHECK(cco_channel_open(&channel, MPI_COMM_SELF), "a channel");
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 0, 0, channel.comm, &requests[i]);
    for (int i = 0; i < OVER; i++) /* what is over costs the MPI nothing */
        MPI_Send(&i, 1, MPI_INT, 0, 0, channel.comm);
    for (int i = 0; i < ENOUGH; i++) {
        CHECK(look(&awaited, &channel) == MPI_SUCCESS, "nobody has failed");
        CHECK(under_way <= AT_ONCE && in_all <= IN_ALL, "look %d: %d, %d of them under way", i,
              in_all, under_way);
    }
    int missed = 0;
    for (int i = OVER; i < MESSAGES; i++)
        missed += asked[i] == 0;
    CHECK(missed == 0, "%d messages were never looked at", missed);
    try_ended(&channel);
    try_incoming(&channel);
    error = cco_ulfm_failed_class();
    expected = -1;
    CHECK(look(&awaited, &channel) == error && told == error, "an error");
    for (int i = OVER; i < MESSAGES; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 0, channel.comm);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    cco_channel_close(&channel);
    MPI_Finalize();
    return testing_end("awaited");
}
