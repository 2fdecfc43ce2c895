/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_merge.c - rows of all ranks become one set on rank 0, up a binomial tree: ceil(log2 p)
 * messages at most on a rank, and no rank ever holds more rows than there are keys. */
#include "profile/profile_merge.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "comm/comm.h"
#include "base/log.h"
#include "base/json_out.h"
#include "base/node_key.h"
#include "mpi/mpi_compat.h"
#include "profile/profile_waiting.h"
#include "mpi/service.h"

static int profile_merge_compare(const void *x, const void *y)
{
    const cco_row *a = x, *b = y;
    int order = strcmp(a->communicator, b->communicator);
    if (order == 0)
        order = (a->processes > b->processes) - (a->processes < b->processes);
    if (order == 0)
        order = (a->coll > b->coll) - (a->coll < b->coll);
    if (order == 0)
        order = (a->mode > b->mode) - (a->mode < b->mode);
    if (order == 0)
        order = (a->size_class > b->size_class) - (a->size_class < b->size_class);
    return order != 0 ? order : strcmp(a->impl, b->impl);
}

/* Two sets of rows of one key, of different ranks. */
static void profile_merge_absorb(cco_row *into, const cco_row *row)
{
    into->ranks += row->ranks;
    into->calls_max = row->calls_max > into->calls_max ? row->calls_max : into->calls_max;
    into->calls += row->calls;
    into->bytes += row->bytes;
    into->us_min = row->us_min < into->us_min ? row->us_min : into->us_min;
    into->us_max = row->us_max > into->us_max ? row->us_max : into->us_max;
    into->us_sum += row->us_sum;
    into->timed = row->timed > into->timed ? row->timed : into->timed;
    into->us_error = row->us_error > into->us_error ? row->us_error : into->us_error;
    cco_waiting_absorb(&into->waiting, &row->waiting);
    into->nodes = row->nodes > into->nodes ? row->nodes : into->nodes;
    cco_internode_traffic_add(&into->between, &row->between);
}

/* Both sets are sorted; so is the result, which replaces `a`. */
static bool profile_merge_merge(cco_rows *a, const cco_rows *b)
{
    cco_rows sum = {0};
    int i = 0, j = 0;
    while (i < a->count || j < b->count) {
        int order = i == a->count   ? 1
                    : j == b->count ? -1
                                    : profile_merge_compare(&a->list[i], &b->list[j]);
        if (!cco_rows_add(&sum, order <= 0 ? &a->list[i] : &b->list[j])) {
            free(sum.list);
            return false;
        }
        if (order == 0)
            profile_merge_absorb(&sum.list[sum.count - 1], &b->list[j]);
        i += order <= 0;
        j += order >= 0;
    }
    free(a->list);
    *a = sum;
    return true;
}

static const void *give_rows(void *what, size_t *bytes)
{
    const cco_rows *rows = what;
    *bytes = (size_t)rows->count * sizeof *rows->list;
    return rows->list;
}

static bool take_rows(void *what, void *theirs, size_t bytes)
{
    const cco_rows rows = {.list = theirs, .count = (int)(bytes / sizeof *rows.list)};
    if (!profile_merge_merge(what, &rows))
        cco_log(CCO_LOG_WARN, "no memory for the profile of all ranks");
    return true;
}

MPI_Comm cco_profile_comm(MPI_Comm world)
{
    MPI_Comm comm = MPI_COMM_NULL;
    return cco_service_copy(world, &comm) == MPI_SUCCESS ? comm : MPI_COMM_NULL;
}

static void sort_rows(cco_rows *rows)
{
    if (rows->count > 1)
        qsort(rows->list, (size_t)rows->count, sizeof(cco_row), profile_merge_compare);
}

void cco_rows_merge(MPI_Comm comm, cco_rows *rows)
{
    sort_rows(rows);
    if (cco_service_merge(&(cco_merger){give_rows, take_rows, rows, NULL, NULL}, comm))
        return;
    free(rows->list);
    *rows = (cco_rows){0};
}

static cco_timelines merge_timelines(MPI_Comm comm, double wall_s)
{
    cco_timeline_reach(&cco_timeline_here, cco_ticks());
    return cco_timeline_merge(comm, &cco_timeline_here, cco_profile_tick_us(), 1e6 * wall_s,
                              CCO_TIMELINE_ROWS);
}

/* If all ranks have it; and whether it is merged. */
static struct {
    const cresta_profile_part_table *table;
    bool merged;
} part;

void cco_profile_part_begin(void)
{
    const cresta_profile_part_table *mine = dlsym(RTLD_DEFAULT, "cresta_profile_part");
    const uint64_t node = cco_node_key();
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t *nodes = malloc(sizeof *nodes * (size_t)ranks);
    if (!cco_service_all(mine != NULL && nodes != NULL, MPI_COMM_WORLD))
        mine = NULL;
    else if (cco_service_allgather(&node, nodes, sizeof node, MPI_COMM_WORLD) == MPI_SUCCESS)
        mine->begin(nodes, ranks);
    free(nodes);
    part.table = mine;
}

static void profile_merge_part(MPI_Comm comm)
{
    if (part.table == NULL)
        return;
    part.table->end();
    part.merged = cco_service_merge(
        &(cco_merger){part.table->give, part.table->take, NULL, NULL, NULL}, comm);
}

void cco_profile_part_put(FILE *file)
{
    if (!part.merged)
        return;
    fprintf(file, ",\n \"%s\": ", part.table->member);
    part.table->put(file, cco_put_string);
}

cco_rows cco_profile_merge(MPI_Comm world, double wall_s, cco_timelines *timelines,
                           cco_member_sets *members, const cco_merger *more)
{
    int rank;
    cco_comm_for_each(cco_comm_drop_choices);
    cco_rows rows = cco_profile_take(members);
    *timelines = (cco_timelines){0};
    MPI_Comm comm = cco_profile_comm(world);
    PMPI_Comm_rank(world, &rank);
    if (comm == MPI_COMM_NULL) {
        if (rank == 0)
            cco_log(CCO_LOG_WARN, "the profile has rank 0 only: the MPI could not make a"
                                  " communicator");
        sort_rows(&rows);
        cco_members_sort(members);
        return rows;
    }
    cco_profile_evaluate(comm, &rows, INT64_MIN, true);
    cco_rows_finish(&rows);
    cco_rows_merge(comm, &rows);
    cco_members_gather(comm, members);
    *timelines = merge_timelines(comm, wall_s);
    profile_merge_part(comm);
    cco_service_merge(more, comm);
    PMPI_Comm_free(&comm);
    return rows;
}
