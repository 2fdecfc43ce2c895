/* SPDX-License-Identifier: BSD-3-Clause */
/* test_profile.c - size classes, rows, the hash. Needs no running MPI. */
#include <limits.h>

#include "comm/comm.h"
#include "config/config.h"
#include "profile/profile.h"
#include "testing/testing.h"

static void size_classes(void)
{
    static const struct {
        long long bytes;
        int class;
    } cases[] = {
        {0, 0},     {1, 1},     {2, 2},     {3, 2},          {4, 3},
        {1023, 10}, {1024, 11}, {1025, 11}, {1LL << 40, 41}, {LLONG_MAX, CCO_SIZE_CLASSES - 1},
        {-1, 0}};
    for (int i = 0; i < LEN(cases); i++)
        CHECK(cco_size_class((MPI_Count)cases[i].bytes) == cases[i].class, "%lld bytes: class %d",
              cases[i].bytes, cco_size_class((MPI_Count)cases[i].bytes));
}

static cco_row row(const char *communicator, const char *impl, int mode)
{
    cco_row r = {.mode = mode,
                 .processes = 2,
                 .ranks = 1,
                 .calls_max = 3,
                 .calls = 3,
                 .bytes = 24,
                 .us_min = 5,
                 .us_sum = 5,
                 .us_max = 5};
    snprintf(r.communicator, sizeof r.communicator, "%s", communicator);
    snprintf(r.impl, sizeof r.impl, "%s", impl);
    return r;
}

/* The set grows as needed and keeps what it was given. */
static void rows(void)
{
    cco_rows set = {0};
    for (int i = 0; i < 500; i++) {
        cco_row r = row(i % 2 ? "odd" : "even", "mpi", CCO_BLOCKING);
        r.processes = i;
        CHECK(cco_rows_add(&set, &r), "room");
    }
    CHECK(set.count == 500, "%d rows", set.count);
    CHECK(set.list[0].processes == 0 && set.list[499].processes == 499, "order");
    CHECK(strcmp(set.list[499].communicator, "odd") == 0 && set.list[499].calls == 3, "contents");
    free(set.list);
}

/* Rows are kept apart by all of their key, and found again, however many there are. */
static void keys(void)
{
    static cco_comm state = {.size = 2};
    cco_choice choice = {.impl = "mpi"};
    cco_member_sets members;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3000; i++) {
            snprintf(state.name, sizeof state.name, "step %d", i / 3);
            choice.impl = i % 3 < 2 ? "mpi" : "shm";
            const int place = cco_profile_row(&state, CCO_BCAST, &choice, CCO_BLOCKING, i % 3 > 0);
            CHECK(place == i + 1, "row %d has place %d", i, place);
        }
    cco_rows rows = cco_profile_take(&members);
    CHECK(rows.count == 3000 && rows.places == NULL, "%d rows", rows.count);
    free(rows.list);
}

static void hash(void)
{
    CHECK(cco_hash(0, "*=mpi") == cco_hash(0, "*=mpi"), "equal");
    CHECK(cco_hash(0, "*=mpi") != cco_hash(0, "*=mpj"), "differs");
    CHECK(cco_hash(cco_hash(0, "a"), "b") != cco_hash(cco_hash(0, "b"), "a"), "order matters");
}

int main(void)
{
    size_classes();
    rows();
    keys();
    hash();
    return testing_end("test_profile");
}
