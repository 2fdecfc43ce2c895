/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.c - counters become rows; see profile.h. */
#include "profile/profile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "comm/comm.h"
#include "profile/common_clock.h"
#include "config/config.h"
#include "base/log.h"
#include "profile/profile_time.h"
#include "profile/timeline.h"

bool cco_profiled, cco_profiled_run, cco_profile_active;

static cco_clock_mark start;
static cco_rows kept; /* of communicators that are gone; and of sampled calls, still empty */
static cco_member_sets kept_members;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void cco_profile_begin(MPI_Comm comm, unsigned rate)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    cco_common_clock_begin(comm);
    cco_arrivals_begin(rate);
    cco_profile_time_begin();
    start = cco_clock_now();
    cco_timeline_begin(&cco_timeline_here, start.ticks, level == MPI_THREAD_MULTIPLE);
    cco_profiled = cco_profile_active = true;
}

double cco_profile_wall(void)
{
    return cco_seconds() - start.seconds;
}

double cco_profile_tick_us(void)
{
    return cco_tick_us(start, cco_clock_now());
}

cco_profile_counter *cco_profile_record_slow(cco_choice *choice, cco_mode mode, int size_class)
{
    cco_profile_counter *made = choice->records[mode];
    if (made == NULL)
        made = choice->records[mode] = calloc(CCO_SIZE_CLASSES, sizeof *made);
    for (int k = 0; made != NULL && k < CCO_SIZE_CLASSES; k++)
        made[k].timed = UINT32_MAX;
    return made != NULL ? &made[size_class] : NULL;
}

static bool same_key(const cco_row *a, const cco_row *b)
{
    return a->coll == b->coll && a->mode == b->mode && a->size_class == b->size_class &&
           a->processes == b->processes && strcmp(a->communicator, b->communicator) == 0 &&
           strcmp(a->impl, b->impl) == 0;
}

bool cco_rows_add(cco_rows *rows, const cco_row *row)
{
    if (rows->count == rows->room) {
        const int room = rows->room ? 2 * rows->room : 16;
        cco_row *larger = realloc(rows->list, (size_t)room * sizeof *larger);
        if (larger == NULL)
            return false;
        rows->list = larger;
        rows->room = room;
    }
    rows->list[rows->count++] = *row;
    return true;
}

void cco_rows_end_keys(cco_rows *rows)
{
    free(rows->places);
    rows->places = NULL;
    rows->slots = 0;
}

/* Where the place of a row is, or will be. */
static int *profile_slot_of(const cco_rows *rows, const cco_row *row)
{
    const uint64_t numbers = (uint64_t)row->coll << 40 ^ (uint64_t)row->mode << 36 ^
                             (uint64_t)row->size_class << 24 ^ (uint64_t)row->processes;
    const uint64_t hash = cco_hash(cco_hash(numbers, row->communicator), row->impl);
    const unsigned mask = (unsigned)rows->slots - 1;
    unsigned i = (unsigned)(hash ^ hash >> 32) & mask;
    while (rows->places[i] != 0 && !same_key(&rows->list[rows->places[i] - 1], row))
        i = (i + 1) & mask;
    return &rows->places[i];
}

/* Half of the slots stay empty.  False when memory runs out. */
static bool make_slots(cco_rows *rows)
{
    if (2 * rows->count < rows->slots)
        return true;
    int *old = rows->places;
    const int slots = rows->slots > 0 ? 2 * rows->slots : 64;
    rows->places = calloc((size_t)slots, sizeof *rows->places);
    if (rows->places == NULL) {
        rows->places = old;
        return false;
    }
    free(old);
    rows->slots = slots;
    for (int i = 0; i < rows->count; i++)
        *profile_slot_of(rows, &rows->list[i]) = i + 1;
    return true;
}

/* Rows of one rank: calls of communicators with one name and size are one rank's calls.  Returns
 * the place; -1 when memory runs out. */
static int keep_row(cco_rows *rows, const cco_row *row)
{
    int *slot = make_slots(rows) ? profile_slot_of(rows, row) : NULL;
    if (slot == NULL || (*slot == 0 && !cco_rows_add(rows, row))) {
        cco_log(CCO_LOG_WARN, "no memory for the profile: a row is missing");
        return -1;
    }
    if (*slot == 0)
        return (*slot = rows->count) - 1;
    cco_row *old = &rows->list[*slot - 1];
    old->calls += row->calls;
    old->calls_max = old->calls;
    old->bytes += row->bytes;
    old->nodes = row->nodes > old->nodes ? row->nodes : old->nodes;
    cco_internode_traffic_add(&old->between, &row->between);
    old->us_sum += row->us_sum;
    old->us_min = old->us_max = old->us_sum;
    old->timed += row->timed;
    old->us_error += row->us_error;
    return *slot - 1;
}

static cco_row profile_make_row(const cco_profile_counter *r, double tick_us)
{
    const double us = cco_profile_ticks(r) * tick_us;
    return (cco_row){
        .ranks = 1,
        .calls_max = r->calls,
        .calls = r->calls,
        .bytes = r->bytes,
        .us_min = us,
        .us_sum = us,
        .us_max = us,
        .timed = r->calls - r->untimed - (r->calls - r->counted),
        .us_error = cco_profile_ticks_error(r) * tick_us,
        .between = r->between,
    };
}

/* On one node nothing goes to another, whatever runs. */
static void set_nodes(cco_row *row, const cco_comm *state)
{
    row->nodes = state->nodes.count;
    if (row->nodes == 1)
        row->between = (cco_internode_traffic){.calls = row->calls};
}

/* A row for `record` with its key. */
static cco_row profile_row_of(const cco_comm *state, cco_coll coll, const cco_choice *choice,
                              cco_mode mode, int size_class, const cco_profile_counter *record)
{
    cco_row row = profile_make_row(record, cco_profile_tick_us());
    row.coll = (int32_t)coll;
    row.mode = (int32_t)mode;
    row.size_class = size_class;
    row.processes = state->size;
    set_nodes(&row, state);
    snprintf(row.communicator, sizeof row.communicator, "%s", state->name);
    snprintf(row.impl, sizeof row.impl, "%s", choice->impl);
    snprintf(row.rule, sizeof row.rule, "%s", choice->why);
    snprintf(row.refused, sizeof row.refused, "%s", choice->refused != NULL ? choice->refused : "");
    return row;
}

int cco_profile_row(const cco_comm *state, cco_coll coll, const cco_choice *choice, cco_mode mode,
                    int size_class)
{
    const cco_row row = profile_row_of(state, coll, choice, mode, size_class,
                                       &(cco_profile_counter){0});
    pthread_mutex_lock(&lock);
    const int place = keep_row(&kept, &row);
    pthread_mutex_unlock(&lock);
    return place >= 0 ? place + 1 : -1;
}

/* What a choice has counted goes to a set. */
static void add_choice(cco_rows *rows, const cco_comm *state, cco_coll coll,
                       const cco_choice *choice)
{
    for (int mode = 0; mode < CCO_MODES; mode++) {
        for (int k = 0; choice->records[mode] != NULL && k < CCO_SIZE_CLASSES; k++) {
            if (choice->records[mode][k].calls == 0)
                continue;
            const cco_row row = profile_row_of(state, coll, choice, (cco_mode)mode, k,
                                               &choice->records[mode][k]);
            keep_row(rows, &row);
        }
    }
}

/* The bytes of this rank, for which members it counted them. */
static void add_members(const cco_comm *state, cco_coll coll, const cco_choice *choice)
{
    uint64_t calls = 0, bytes = 0;
    for (int mode = 0; mode < CCO_MODES; mode++) {
        for (int k = 0; choice->records[mode] != NULL && k < CCO_SIZE_CLASSES; k++) {
            calls += choice->records[mode][k].calls;
            bytes += choice->records[mode][k].bytes;
        }
    }
    if (state->records.members == NULL || calls == 0)
        return;
    if (state->nodes.count > 0)
        state->records.members->nodes = (cco_member_nodes){
            state->nodes.count, state->nodes.ranks_min, state->nodes.ranks_max};
    if (!cco_members_add(&kept_members, state->records.members, state->name, coll, bytes))
        cco_log(CCO_LOG_WARN, "no memory for the profile: members of a communicator are missing");
}

void cco_profile_keep(cco_comm *state, cco_coll coll, cco_choice *choice)
{
    pthread_mutex_lock(&lock);
    add_choice(&kept, state, coll, choice);
    add_members(state, coll, choice);
    for (int mode = 0; mode < CCO_MODES; mode++) {
        free(choice->records[mode]);
        choice->records[mode] = NULL;
    }
    pthread_mutex_unlock(&lock);
}

void cco_profile_add_state(cco_rows *rows, const cco_comm *state)
{
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        for (int i = 0; i < state->chosen.of[coll].count; i++)
            add_choice(rows, state, (cco_coll)coll, &state->chosen.of[coll].list[i]);
        if (state->records.native != NULL)
            add_choice(rows, state, (cco_coll)coll, &state->records.native[coll]);
    }
}

void cco_profile_add_kept(cco_rows *rows)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < kept.count; i++)
        keep_row(rows, &kept.list[i]);
    pthread_mutex_unlock(&lock);
}

void cco_rows_finish(cco_rows *rows)
{
    for (int i = 0; i < rows->count; i++)
        rows->list[i].waiting = cco_waiting_of(&rows->list[i].sampled, rows->list[i].calls,
                                               rows->list[i].us_sum);
}

static void profile_subtract(cco_row *row, const cco_row *before)
{
    row->calls -= before->calls;
    row->calls_max = row->calls;
    row->bytes -= before->bytes;
    row->us_sum = row->us_sum > before->us_sum ? row->us_sum - before->us_sum : 0;
    row->us_min = row->us_max = row->us_sum;
    row->timed -= before->timed;
    row->us_error = row->us_error > before->us_error ? row->us_error - before->us_error : 0;
    row->between.calls -= before->between.calls;
    row->between.messages -= before->between.messages;
    row->between.bytes -= before->between.bytes;
}

void cco_rows_subtract(cco_rows *rows, const cco_rows *before)
{
    int left = 0;
    for (int i = 0; i < rows->count; i++) {
        cco_row row = rows->list[i];
        for (int k = 0; k < before->count; k++)
            if (same_key(&row, &before->list[k]))
                profile_subtract(&row, &before->list[k]);
        if (row.calls > 0)
            rows->list[left++] = row;
    }
    rows->count = left;
}

cco_rows cco_profile_take(cco_member_sets *members)
{
    pthread_mutex_lock(&lock);
    cco_rows_end_keys(&kept);
    const cco_rows rows = kept;
    *members = kept_members;
    kept = (cco_rows){0};
    kept_members = (cco_member_sets){0};
    pthread_mutex_unlock(&lock);
    return rows;
}
