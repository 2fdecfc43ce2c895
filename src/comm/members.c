/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c - see members.h. */
#include "comm/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mpi/service.h"

int cco_member_runs(const int *ranks, int count, cco_run *run)
{
    int runs = 0;
    for (int i = 0; i < count; i++) {
        cco_run *last = runs > 0 ? &run[runs - 1] : NULL;
        if (ranks[i] < 0)
            return 0;
        if (last != NULL && last->count == 1)
            last->stride = ranks[i] - last->first;
        if (last != NULL && ranks[i] == last->first + last->count * last->stride) {
            last->count++;
            continue;
        }
        if (runs == CCO_MEMBER_RUNS)
            return 0;
        run[runs++] = (cco_run){ranks[i], 1, 1};
    }
    return runs;
}

/* The ranks of a group in MPI_COMM_WORLD; negative for one that is not there. */
static bool members_translate(MPI_Comm comm, int size, int *own, int *ranks)
{
    MPI_Group group, world;
    if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return false;
    bool done = false;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        for (int i = 0; i < size; i++)
            own[i] = i;
        done = PMPI_Group_translate_ranks(group, size, own, world, ranks) == MPI_SUCCESS;
        for (int i = 0; done && i < size; i++)
            ranks[i] = ranks[i] == MPI_UNDEFINED ? -1 : ranks[i];
        PMPI_Group_free(&world);
    }
    PMPI_Group_free(&group);
    return done;
}

/* MPIs may compare each rank with each process. */
static bool is_too_large(int size)
{
    int world = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world);
    return (int64_t)size * world > CCO_MEMBER_LOOKS;
}

cco_members *cco_members_of(MPI_Comm comm)
{
    int size = 0;
    PMPI_Comm_size(comm, &size);
    cco_members *members = calloc(1, sizeof *members);
    if (members != NULL && (comm == MPI_COMM_WORLD || is_too_large(size))) {
        members->processes = size;
        members->runs = comm == MPI_COMM_WORLD;
        members->run[0] = (cco_run){0, 1, members->runs > 0 ? size : 0};
        return members;
    }
    int *ranks = calloc((size_t)size, 2 * sizeof *ranks);
    if (members != NULL && ranks != NULL) {
        members->processes = size;
        if (members_translate(comm, size, ranks + size, ranks))
            members->runs = cco_member_runs(ranks, size, members->run);
    } else {
        free(members);
        members = NULL;
    }
    free(ranks);
    return members;
}

static cco_members *members_append(cco_member_sets *sets, int count)
{
    if (sets->count + count > sets->room) {
        const int room = 2 * sets->room + count;
        cco_members *larger = realloc(sets->list, (size_t)room * sizeof *larger);
        if (larger == NULL)
            return NULL;
        sets->list = larger;
        sets->room = room;
    }
    sets->count += count;
    return &sets->list[sets->count - count];
}

static bool members_same(const cco_members *a, const cco_members *b, const char *name)
{
    return a->processes == b->processes && a->runs == b->runs &&
           memcmp(a->run, b->run, (size_t)a->runs * sizeof a->run[0]) == 0 &&
           strcmp(a->communicator, name) == 0;
}

static double members_weight(const cco_members *members)
{
    double sum = 0;
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++)
        sum += (double)members->bytes[coll];
    return sum * members->processes;
}

/* Equal ones by name and first rank, so that the order depends on the job alone. */
static int members_compare(const void *x, const void *y)
{
    const cco_members *a = x, *b = y;
    const double wa = members_weight(a), wb = members_weight(b);
    if (wa != wb)
        return wa < wb ? 1 : -1;
    const int order = strcmp(a->communicator, b->communicator);
    return order != 0 ? order
                      : (a->run[0].first > b->run[0].first) - (a->run[0].first < b->run[0].first);
}

/* Those with the most bytes remain, in this order. */
static void members_cut(cco_member_sets *sets, int most)
{
    if (sets->count > 1)
        qsort(sets->list, (size_t)sets->count, sizeof *sets->list, members_compare);
    if (sets->count > most)
        sets->count = most;
}

void cco_members_sort(cco_member_sets *sets)
{
    members_cut(sets, CCO_MEMBER_SETS);
}

bool cco_members_add(cco_member_sets *sets, const cco_members *members, const char *name,
                     cco_coll coll, uint64_t bytes)
{
    for (int i = 0; i < sets->count; i++)
        if (members_same(&sets->list[i], members, name)) {
            sets->list[i].bytes[coll] += bytes;
            if (members->nodes.count > 0)
                sets->list[i].nodes = members->nodes;
            return true;
        }
    if (sets->count >= 2 * CCO_MEMBER_KEPT)
        members_cut(sets, CCO_MEMBER_KEPT);
    cco_members *made = members_append(sets, 1);
    if (made == NULL)
        return false;
    *made = *members;
    snprintf(made->communicator, sizeof made->communicator, "%s", name);
    made->bytes[coll] = bytes;
    return true;
}

static const void *members_give(void *what, size_t *bytes)
{
    const cco_member_sets *sets = what;
    *bytes = (size_t)sets->count * sizeof *sets->list;
    return sets->list;
}

static bool members_take(void *what, void *theirs, size_t bytes)
{
    const int count = (int)(bytes / sizeof(cco_members));
    cco_members *added = count > 0 ? members_append(what, count) : NULL;
    if (count > 0 && added == NULL)
        cco_fatal("no memory for %d communicators of the profile", count);
    if (count > 0)
        memcpy(added, theirs, bytes);
    cco_members_sort(what);
    return true;
}

void cco_members_gather(MPI_Comm comm, cco_member_sets *sets)
{
    cco_members_sort(sets);
    if (cco_service_merge(&(cco_merger){members_give, members_take, sets, NULL, NULL}, comm))
        return;
    free(sets->list);
    *sets = (cco_member_sets){0};
}
