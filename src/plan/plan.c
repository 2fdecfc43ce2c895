/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - see plan.h. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "base/log.h"
#include "base/own_lines.h"
#include "sched/check.h"

enum {
    KEPT = 32,        /* per communicator, */
    MEMORY = 1 << 20, /* and bytes of it; */
    PART = 4,         /* of both, for plans used once: where there are more, these go first; and */
    LARGE = MEMORY / PART, /* bytes of a plan beyond which it is kept with others of its kind */
};

typedef enum kind { ONCE, AGAIN, OF_ITS_OWN } kind;

static bool same_arrays(const cco_side *a, const cco_side *b)
{
    const size_t n = (size_t)a->blocks;
    if ((a->n == NULL) != (b->n == NULL))
        return false;
    return a->n == NULL || (memcmp(a->n, b->n, n * sizeof *a->n) == 0 &&
                            memcmp(a->at, b->at, n * sizeof *a->at) == 0);
}

static bool same_side(const cco_side *a, const cco_side *b)
{
    return a->base == b->base && a->blocks == b->blocks && a->layout == b->layout &&
           a->start == b->start && a->each == b->each && a->pitch == b->pitch && same_arrays(a, b);
}

static bool same_counts(const cco_problem *a, const cco_problem *b)
{
    if ((a->counts == NULL) != (b->counts == NULL))
        return false;
    return a->counts == NULL ||
           memcmp(a->counts, b->counts, cco_count_of_counts(a) * sizeof *a->counts) == 0;
}

static bool same_layouts(const cco_layout *a, const cco_layout *b)
{
    for (int i = 0; i < CCO_BASES; i++)
        if (a[i].size != b[i].size || a[i].extent != b[i].extent || a[i].spill != b[i].spill ||
            a[i].dense != b[i].dense) /* then eight bytes are copied as they lie */
            return false;
    return true;
}

/* True if one schedule serves both; rank and size are those of the communicator. */
static bool plan_same(const cco_problem *a, const cco_problem *b)
{
    return a->coll == b->coll && a->bytes == b->bytes && a->root == b->root && a->unit == b->unit &&
           a->pieces == b->pieces && a->commutative == b->commutative &&
           same_side(&a->in, &b->in) && same_side(&a->out, &b->out) &&
           same_layouts(a->layouts, b->layouts) &&
           memcmp(a->params, b->params, sizeof a->params) == 0 && same_counts(a, b);
}

static void free_plan(cco_plan *plan)
{
    cco_engine_free(plan->engine);
    free(plan->round_ns);
    cco_block_progress_map_free(plan->landings);
    free(plan);
}

/* Unhooks a plan and frees it. */
static void plan_drop(cco_plans *plans, cco_plan **link)
{
    cco_plan *plan = *link;
    plans->memory -= plan->memory;
    plans->drops += plan->remembered;
    *link = plan->next;
    free_plan(plan);
}

void cco_plans_empty(cco_plans *plans)
{
    while (plans->first != NULL)
        plan_drop(plans, &plans->first);
}

static kind plan_kind_of(const cco_plan *plan)
{
    return plan->memory > LARGE ? OF_ITS_OWN : plan->again ? AGAIN : ONCE;
}

/* The plans of a kind, and their memory. */
static int plan_count(const cco_plans *plans, kind kind, size_t *memory)
{
    int n = 0;
    *memory = 0;
    for (const cco_plan *plan = plans->first; plan != NULL; plan = plan->next)
        if (plan_kind_of(plan) == kind) {
            n++;
            *memory += plan->memory;
        }
    return n;
}

/* Drops the least recently used plan of a kind, if there is one. */
static void drop_oldest(cco_plans *plans, kind kind)
{
    cco_plan **oldest = NULL;
    for (cco_plan **link = &plans->first; *link != NULL; link = &(*link)->next)
        if (plan_kind_of(*link) == kind)
            oldest = link;
    if (oldest != NULL)
        plan_drop(plans, oldest);
}

/* For a new plan.  Sizes that never come again, as those of an alltoallv may be, make plans that
 * are used once: they must not drive out the others. */
static void plan_make_room(cco_plans *plans, const cco_plan *made)
{
    if (plan_kind_of(made) == OF_ITS_OWN) { /* they have as much memory for themselves */
        size_t bytes;
        while (plan_count(plans, OF_ITS_OWN, &bytes) > 0 && bytes + made->memory > MEMORY)
            drop_oldest(plans, OF_ITS_OWN);
        return;
    }
    for (;;) {
        size_t bytes_once, bytes_again;
        const int once = plan_count(plans, ONCE, &bytes_once) + 1;
        const int again = plan_count(plans, AGAIN, &bytes_again);
        bytes_once += made->memory;
        if (once + again <= KEPT && bytes_once + bytes_again <= MEMORY)
            return;
        const bool many = once > KEPT / PART || bytes_once > MEMORY / PART;
        drop_oldest(plans, many ? ONCE : AGAIN);
    }
}

static void *plan_keep(char **room, const void *array, size_t n)
{
    char *copy = *room;
    if (array == NULL)
        return NULL;
    memcpy(copy, array, n);
    *room += n;
    return copy;
}

/* A plan with its own copy of the problem, without an engine. */
static cco_plan *copy_of(const cco_problem *q)
{
    const size_t in = q->in.n != NULL ? (size_t)q->in.blocks * sizeof(size_t) : 0;
    const size_t out = q->out.n != NULL ? (size_t)q->out.blocks * sizeof(size_t) : 0;
    const size_t counts = q->counts != NULL ? cco_count_of_counts(q) * sizeof(size_t) : 0;
    const size_t n = sizeof(cco_plan) + 2 * in + 2 * out + counts;
    cco_plan *plan = cco_own_lines(n);
    if (plan == NULL)
        return NULL;
    char *room = (char *)(plan + 1);
    plan->memory = n;
    plan->problem = *q;
    memcpy(plan->layouts, q->layouts, sizeof plan->layouts);
    plan->problem.layouts = plan->layouts;
    plan->problem.in.n = plan_keep(&room, q->in.n, in);
    plan->problem.in.at = plan_keep(&room, q->in.at, in);
    plan->problem.out.n = plan_keep(&room, q->out.n, out);
    plan->problem.out.at = plan_keep(&room, q->out.at, out);
    plan->problem.counts = plan_keep(&room, q->counts, counts);
    return plan;
}

/* CRESTA_DEBUG=check: a schedule that is wrong is not run. */
static int plan_check(const cco_sched *s, const cco_algo *algo, const cco_problem *q)
{
    char why[128];
    if (cco_check(s, q, why, sizeof why))
        return MPI_SUCCESS;
    cco_say("the schedule of %s %s for rank %d of %d is wrong: %s", cco_coll_infos[q->coll].name,
            algo->name, q->rank, q->size, why);
    return MPI_ERR_OTHER;
}

/* What this rank sends to other nodes each time that a schedule runs. */
static cco_internode_traffic sends_of(const cco_sched *s, const cco_node_map *map)
{
    cco_internode_traffic sends = {.calls = 1};
    for (int i = 0; i < s->count; i++) {
        const cco_step *step = &s->steps[i];
        const bool data = step->kind == CCO_STEP_SEND || step->kind == CCO_STEP_PUT;
        if (!data || map->node[step->peer] == map->node[s->rank])
            continue;
        sends.messages++;
        sends.bytes += step->a.n;
    }
    return sends;
}

int cco_plan_schedule(const cco_algo *algo, const cco_problem *q, cco_sched **made)
{
    cco_sched *s = cco_sched_new(q);
    int rc = MPI_ERR_NO_MEM;
    if (s != NULL) {
        algo->build(s, q);
        rc = cco_sched_error(s);
    }
    if (rc == MPI_SUCCESS && cco_configured.debug.check)
        rc = plan_check(s, algo, q);
    *made = s;
    return rc;
}

static int plan_build(cco_plan *plan, const cco_plans *plans, const cco_algo *algo)
{
    cco_sched *s;
    cco_problem *q = &plan->problem;
    q->empties = plans->transport->empties;
    int rc = cco_plan_schedule(algo, q, &s);
    plan->algo = algo;
    if (rc == MPI_SUCCESS) {
        plan->scratch = s->scratch;
        if (q->nodes != NULL)
            plan->sends = sends_of(s, q->nodes);
        plan->engine = cco_engine_new(s, plans->transport, plans->shared);
        plan->memory += (size_t)s->count * sizeof *s->steps;
        rc = plan->engine != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
        if (plan->engine == NULL && !cco_engine_able(s, plans->transport))
            rc = MPI_ERR_UNSUPPORTED_OPERATION;
    } else if (rc == MPI_ERR_INTERN &&
               (q->layouts[CCO_IN].size > q->unit || q->layouts[CCO_OUT].size > q->unit)) {
        rc = MPI_SUCCESS; /* cut inside an element: without an engine, the data have to be packed */
    }
    cco_sched_free(s);
    return rc;
}

static int plan_make(cco_plans *plans, const cco_algo *algo, const cco_problem *q, cco_plan **made)
{
    cco_plan *plan = copy_of(q);
    const int rc = plan != NULL ? plan_build(plan, plans, algo) : MPI_ERR_NO_MEM;
    if (rc != MPI_SUCCESS) {
        if (plan != NULL)
            free_plan(plan);
        return rc;
    }
    plan_make_room(plans, plan);
    plan->next = plans->first;
    plans->first = plan;
    plans->memory += plan->memory;
    *made = plan;
    return MPI_SUCCESS;
}

int cco_plan_find(cco_plans *plans, const cco_algo *algo, const cco_problem *q, cco_plan **plan)
{
    for (cco_plan **link = &plans->first; *link != NULL; link = &(*link)->next) {
        cco_plan *found = *link;
        if (found->algo != algo || !plan_same(&found->problem, q))
            continue;
        found->again = true;
        *link = found->next;
        found->next = plans->first;
        plans->first = *plan = found;
        return MPI_SUCCESS;
    }
    return plan_make(plans, algo, q, plan);
}
