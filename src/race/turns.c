/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.c - see turns.h. */
#include "race/turns.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "mpi/service.h"
#include "base/world.h"
#include "race/arms.h"
#include "race/complete.h"
#include "race/output.h"
#include "race/sequence.h"
#include "race/turn.h"

enum {
    MOST_WRITERS = 64,  /* ranks that write their times: enough for a mean */
    MOST_YOUTHS = 20000 /* that a rank writes: some programs make communicators in each step */
};

/* The calls of a collective and size class on a communicator. */
typedef struct row {
    int size_class;
    int young_calls; /* in its youth, */
    double young_s;  /* and their seconds */
    cco_turn turn;
    double seconds[CCO_BLOCKS]; /* of this round, those that count */
    struct row *next;
} row;

/* Attached to a communicator. */
typedef struct turns {
    cco_comm *state;
    uint64_t number, lead; /* by which its ranks know it: see agree */
    int youth;             /* the arm of its first calls */
    int young;             /* how many of those are still to come; then -1 */
    row *rows[CCO_COLLECTIVES];
    row *on;      /* the row of the call that is being made, NULL if none is */
    double since; /* when it began */
} turns;

static const char key; /* its address is the key */

static const cco_race_settings *race;
static uint64_t numbers; /* the largest number of a communicator of this process */
static int youths;       /* written */

/* Bit per arm that this rank has seen run a collective of a size class. */
static uint32_t seen[CCO_COLLECTIVES][CCO_SIZE_CLASSES];

static cco_race_point point_of(const turns *t, cco_coll coll, const row *r)
{
    return (cco_race_point){t->number, t->lead, coll, r->size_class, t->state->size};
}

static bool race_turns_is_spawned(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

void cco_turns_begin(const cco_race_settings *settings)
{
    int rank = 0, size = 1;
    race = settings;
    cco_arms_begin(settings);
    if (!cco_world_rank(&rank) || race_turns_is_spawned())
        return;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    const int stride = (size + MOST_WRITERS - 1) / MOST_WRITERS;
    if (rank % stride != 0)
        return;
    cco_race_output_open_own(settings->output, rank);
    if (rank == 0)
        cco_race_tell_turns(settings, size);
}

/* A youth that is over, or was cut short: rows of it. */
static void end_youth(turns *t)
{
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        for (row *r = t->rows[coll]; r != NULL; r = r->next) {
            const cco_race_point point = point_of(t, (cco_coll)coll, r);
            if (r->young_calls > 0 &&
                __atomic_add_fetch(&youths, 1, __ATOMIC_RELAXED) <= MOST_YOUTHS)
                cco_race_note_first_calls(&point, t->youth, r->young_calls, r->young_s);
            r->young_calls = 0;
        }
    }
}

static void race_turns_release(void *data)
{
    turns *t = data;
    end_youth(t);
    for (int coll = 0; coll < CCO_COLLECTIVES; coll++) {
        while (t->rows[coll] != NULL) {
            row *first = t->rows[coll];
            t->rows[coll] = first->next;
            free(first);
        }
    }
    free(t);
}

/* The number of a communicator is beyond all that its ranks know: those that a rank meets one after
 * the other go through the arms.  Two that have no rank in common may have one number; the first
 * of their ranks in the world tells them apart. */
static void race_turns_agree(turns *t)
{
    int rank = 0;
    uint64_t known = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED), most[2];
    cco_world_rank(&rank);
    const uint64_t mine[] = {known, UINT64_MAX - (uint64_t)rank};
    cco_race_complete(t->state,
                      cco_service_allreduce(mine, most, 2, MPI_UINT64_T, MPI_MAX, t->state->comm));
    t->number = most[0];
    t->lead = UINT64_MAX - most[1];
    while (known < t->number && !__atomic_compare_exchange_n(&numbers, &known, t->number, false,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* Communicators of one number after the other have all arms as their youth, in random order. */
static int arm_of_youth(uint64_t number)
{
    int8_t order[CCO_BLOCKS];
    const uint64_t blocks = 2 * (uint64_t)race->arms;
    const cco_race_next next = {.stage = CCO_RACE_CONFIRM,
                                .alive = (uint32_t)((1ull << race->arms) - 1),
                                .round = (uint32_t)(number / blocks)};
    cco_race_order((uint64_t)race->seed, &next, order);
    return order[number % blocks];
}

void cco_turns_set_up(cco_comm *state)
{
    cco_arms_set_up(state);
    if (state->size == 1 || cco_comm_attached(state, &key) != NULL)
        return;
    turns *t = cco_comm_attach(state, &key, sizeof *t, race_turns_release);
    t->state = state;
    race_turns_agree(t);
    t->young = (int)race->youth;
    t->youth = arm_of_youth(t->number);
    state->watched |= CCO_WATCHED_CALLS | CCO_WATCHED_TIMES;
    cco_comm_update(state);
}

static row *find_row(turns *t, cco_coll coll, int size_class)
{
    row *r = t->rows[coll];
    while (r != NULL && r->size_class != size_class)
        r = r->next;
    if (r != NULL)
        return r;
    r = calloc(1, sizeof *r);
    if (r == NULL)
        cco_fatal("no memory for a race");
    r->size_class = size_class;
    r->next = t->rows[coll];
    t->rows[coll] = r;
    const uint64_t place = cco_mix((uint64_t)coll + 1, (uint64_t)size_class);
    cco_turn_begin(&r->turn, cco_mix(cco_mix((uint64_t)race->seed, place), t->number), race->arms,
                   (int)race->calls);
    return r;
}

/* Before what may be the last thing that this rank does. */
static void race_turns_tell_first(const turns *t, cco_coll coll, const row *r, int arm)
{
    const uint32_t bit = 1u << arm;
    if (__atomic_fetch_or(&seen[coll][r->size_class], bit, __ATOMIC_RELAXED) & bit)
        return;
    const cco_race_point point = point_of(t, coll, r);
    cco_race_tell_first_at(&point, arm);
}

void cco_turns_call(cco_comm *state, cco_coll coll, MPI_Count bytes)
{
    turns *t = cco_comm_attached(state, &key);
    if (t == NULL)
        return;
    if (t->young == 0)
        end_youth(t);
    row *r = find_row(t, coll, cco_size_class(bytes));
    const int arm = t->young > 0 ? t->youth : cco_turn_arm(&r->turn);
    cco_arms_take(state, arm);
    race_turns_tell_first(t, coll, r, arm);
    t->on = r;
    t->since = cco_seconds();
}

static void race_turns_end_round(turns *t, cco_coll coll, row *r)
{
    const cco_race_point point = point_of(t, coll, r);
    if (cco_turn_counted(&r->turn) > 0)
        cco_race_tell_turn(&point, &r->turn, r->seconds);
    for (int i = 0; i < CCO_BLOCKS; i++)
        r->seconds[i] = 0;
    cco_turn_begin_round(&r->turn);
}

void cco_turns_called(cco_comm *state, cco_coll coll)
{
    const double now = cco_seconds();
    turns *t = cco_comm_attached(state, &key);
    if (t == NULL || t->on == NULL)
        return;
    row *r = t->on;
    t->on = NULL;
    cco_arms_take(state, 0);
    if (t->young > 0) {
        t->young--;
        r->young_calls++;
        r->young_s += now - t->since;
        return;
    }
    t->young = -1;
    if (cco_turn_counts(&r->turn))
        r->seconds[r->turn.block] += now - t->since;
    if (cco_turn_next(&r->turn))
        race_turns_end_round(t, coll, r);
}

static void end_of(cco_comm *state)
{
    turns *t = cco_comm_attached(state, &key);
    if (t != NULL)
        end_youth(t);
}

void cco_turns_end(void)
{
    cco_comm_for_each(end_of);
}
