/* SPDX-License-Identifier: BSD-3-Clause */
/* test_members.c - ranks of a communicator as runs, sets of members. Needs no running MPI. */
#include "comm/members.h"
#include "testing/testing.h"

/* The ranks that runs stand for are those that they were made of. */
static void check_runs(const int *ranks, int count, int expected)
{
    cco_run run[CCO_MEMBER_RUNS];
    const int runs = cco_member_runs(ranks, count, run);
    int at = 0;
    CHECK(runs == expected, "%d runs, expected %d", runs, expected);
    for (int i = 0; i < runs; i++)
        for (int k = 0; k < run[i].count; k++, at++)
            CHECK(at < count && run[i].first + k * run[i].stride == ranks[at], "rank %d", at);
    CHECK(runs == 0 || at == count, "%d of %d ranks", at, count);
}

static void runs(void)
{
    enum { MANY = 300 };
    int row[16], column[16], plane[16], odd[MANY];
    for (int i = 0; i < 16; i++) {
        row[i] = 32 + i;
        column[i] = 5 + 16 * i;
        plane[i] = 64 * (i / 4) + i % 4;
    }
    check_runs(row, 16, 1);
    check_runs(column, 16, 1);
    check_runs(plane, 16, 4);
    check_runs((const int[]){7}, 1, 1);
    check_runs((const int[]){3, 2, 1, 0}, 4, 1);
    check_runs((const int[]){4, 9, 1}, 3, 2);
    check_runs((const int[]){0, -1, 2}, 3, 0);
    for (int i = 0; i < MANY; i++)
        odd[i] = i * i;
    check_runs(odd, 2 * CCO_MEMBER_RUNS, CCO_MEMBER_RUNS);
    check_runs(odd, MANY, 0);
}

static cco_members row_of(int first)
{
    return (cco_members){.processes = 4, .runs = 1, .run = {{first, 1, 4}}};
}

/* Equal names are kept apart by members; the same members add up. */
static void sets(void)
{
    cco_member_sets all = {0};
    const cco_members one = row_of(0), other = row_of(4), unknown = {.processes = 4};
    CHECK(cco_members_add(&all, &one, "row", CCO_ALLTOALL, 100), "room");
    CHECK(cco_members_add(&all, &other, "row", CCO_ALLTOALL, 1000), "room");
    CHECK(cco_members_add(&all, &one, "row", CCO_ALLTOALL, 10), "room");
    CHECK(cco_members_add(&all, &one, "col", CCO_BCAST, 1), "room");
    CHECK(cco_members_add(&all, &unknown, "odd", CCO_BCAST, 1), "room");
    CHECK(all.count == 4, "%d sets", all.count);
    cco_members_sort(&all);
    CHECK(all.list[0].run[0].first == 4 && all.list[0].bytes[CCO_ALLTOALL] == 1000, "the heaviest");
    CHECK(all.list[1].bytes[CCO_ALLTOALL] == 110, "the sum of two");
    CHECK(strcmp(all.list[2].communicator, "col") == 0, "another name");
    CHECK(all.list[3].runs == 0, "members that are not known");
    free(all.list);
}

/* Programs that make and free communicators again and again. */
static void are_bounded(void)
{
    cco_member_sets all = {0};
    for (int i = 0; i < 10 * CCO_MEMBER_KEPT; i++) {
        const cco_members one = row_of(4 * i);
        CHECK(cco_members_add(&all, &one, "row", CCO_ALLTOALL, i == 7 ? 1000 : 1), "room");
    }
    CHECK(all.count <= 2 * CCO_MEMBER_KEPT, "%d sets", all.count);
    cco_members_sort(&all);
    CHECK(all.list[0].run[0].first == 28, "the heaviest stays");
    free(all.list);
}

int main(void)
{
    runs();
    sets();
    are_bounded();
    return testing_end("test_members");
}
