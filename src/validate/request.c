/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c - see request.h. */
#include "validate/request.h"

#include <pthread.h>
#include <stdlib.h>

#include "comm/channel.h"
#include "base/clock.h"
#include "config/config.h"
#include "call/data.h"
#include "base/log.h"
#include "base/pause.h"
#include "mpi/service.h"
#include "native/blocking_defects.h"
#include "native/calls.h"
#include "native/defects.h"
#include "progress/queue.h"
#include "validate/budget.h"
#include "validate/compare.h"
#include "validate/own.h"
#include "validate/report.h"
#include "validate/tally.h"

typedef enum stage {
    AGREE,  /* whether all ranks can check it */
    REPEAT, /* the reference */
    WEIGH,  /* the weights of a reduction */
    AWAIT,  /* the end of the call itself */
    JUDGE,  /* whether somebody found a difference */
    OVER
} stage;

enum { SKIP, ODD, IN_PLACE, WEIGHS_NOT, WORDS }; /* of AGREE */
enum { FAILED, WHO };                            /* of JUDGE */

/* How far the call itself is. */
typedef enum far {
    UNDER_WAY,
    TAKING, /* its result is being copied */
    TAKEN,
    GONE /* it failed, or nobody wants its result any more */
} far;

typedef struct cco_validate_request {
    cco_check check;
    cco_choice choice; /* as it was then */
    cco_own own;
    stage stage;
    bool posted, failed;
    bool kept; /* for its file: rank `who` found the first difference */
    int who;
    MPI_Request request;
    int64_t mine[WORDS], most[WORDS];
    cco_call again;
    cco_difference first;
    uint64_t unjudged;
    int call;  /* far */
    int users; /* the operation, and the list */
    struct cco_validate_request *next;
} cco_validate_request;

typedef struct cco_validate_request_checks {
    cco_validated *of;
    MPI_Comm comm; /* of ours; MPI_COMM_NULL: the MPI refuses one */
    cco_validate_request *first, *last;
    cco_validate_request *told; /* those whose difference was reported, for their files */
    struct cco_validate_request_checks
        *next; /* by the number on which the ranks agreed, the least first */
} cco_validate_request_checks;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all lists */
static cco_validate_request_checks *all;
static int active; /* checks in lists */

static void request_leave(cco_validate_request *b)
{
    if (__atomic_sub_fetch(&b->users, 1, __ATOMIC_ACQ_REL) == 0)
        free(b);
}

/* Its copies go now; the operation may still come to its end, and another thread copy its result.
 */
static void request_drop(cco_validate_request *b)
{
    int call = UNDER_WAY;
    if (!__atomic_compare_exchange_n(&b->call, &call, GONE, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        for (int tries = 0; __atomic_load_n(&b->call, __ATOMIC_ACQUIRE) == TAKING;)
            cco_pause(&tries);
    cco_check_empty(&b->check);
    cco_own_free(&b->own);
    request_leave(b);
}

void cco_validate_request_ended(void *begun, int rc)
{
    cco_validate_request *b = begun;
    int call = UNDER_WAY;
    if (__atomic_compare_exchange_n(&b->call, &call, rc == MPI_SUCCESS ? TAKING : GONE, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) &&
        rc == MPI_SUCCESS) {
        cco_own_take(&b->own);
        __atomic_store_n(&b->call, TAKEN, __ATOMIC_RELEASE);
    }
    request_leave(b);
}

void cco_validate_request_prepare(cco_validated *of)
{
    if (of->begun != NULL)
        return;
    cco_validate_request_checks *c = calloc(1, sizeof *c);
    if (c == NULL) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for CRESTA_VALIDATE on communicator '%s'", of->state->name);
    *c = (cco_validate_request_checks){.of = of, .comm = cco_comm_copy(of->state->comm)};
    pthread_mutex_lock(&lock);
    cco_validate_request_checks **link = &all;
    while (*link != NULL && (*link)->of->sample.seed < of->sample.seed)
        link = &(*link)->next;
    c->next = *link;
    *link = c;
    pthread_mutex_unlock(&lock);
    of->begun = c;
    cco_queue_also(CCO_QUEUE_CHECKS, cco_validate_request_progress);
}

bool cco_validate_request_can_check(const cco_call *call)
{
    const int properties = cco_coll_infos[call->coll].properties;
    return !(properties & CCO_NEIGHBORS) && !cco_is_neighbor(call->coll) &&
           (!(properties & CCO_REDUCTION) || cco_op_predefined(call->op));
}

static void request_prepare(cco_validate_request *b)
{
    cco_check *k = &b->check;
    const cco_skip skip = cco_own_make(&b->own, k);
    b->mine[SKIP] = skip;
    if (skip != CCO_CHECKED) { /* the other ranks learn of it */
        cco_check_empty(k);
        cco_own_free(&b->own);
        return;
    }
    b->mine[ODD] = cco_blocking_call_is_odd(k->of->state, &k->call);
    b->mine[IN_PLACE] = cco_in_place_defect(&k->call);
    b->mine[WEIGHS_NOT] = !k->weighs;
    k->call.comm = k->of->begun->comm;
    cco_tally_bytes(cco_budget_taken());
}

static void request_append(cco_validate_request_checks *list, cco_validate_request *b)
{
    pthread_mutex_lock(&lock);
    if (list->first == NULL)
        list->first = b;
    else
        list->last->next = b;
    list->last = b;
    pthread_mutex_unlock(&lock);
    __atomic_fetch_add(&active, 1, __ATOMIC_RELEASE);
}

cco_validate_request *cco_validate_request_check(cco_validated *of, const cco_choice *choice,
                                                 const cco_call *call, MPI_Count bytes)
{
    if (of->begun->comm == MPI_COMM_NULL)
        return NULL;
    cco_validate_request *b = calloc(1, sizeof *b);
    if (b == NULL)
        cco_fatal("no memory for CRESTA_VALIDATE on communicator '%s'", of->state->name);
    const double began = cco_seconds();
    b->choice = *choice;
    b->users = 2;
    b->request = MPI_REQUEST_NULL;
    b->check = (cco_check){.of = of,
                           .choice = &b->choice,
                           .call = *call,
                           .bytes = bytes,
                           .number = of->begins.calls,
                           .begun = true};
    request_prepare(b);
    request_append(of->begun, b);
    cco_tally_spent(cco_seconds() - began);
    return b;
}

/* Starts the call of a stage. */
static int request_post(cco_validate_request *b)
{
    const MPI_Comm comm = b->check.of->begun->comm;
    if (b->stage == AGREE || b->stage == JUDGE)
        return cco_service_start_max(b->mine, b->most, WORDS, comm, &b->request);
    return cco_native_nonblocking(&cco_native[CCO_CALLER_INTERNAL], &b->again, &b->request);
}

static cco_skip request_agreed(cco_validate_request *b)
{
    cco_check *k = &b->check;
    const cco_comm *state = k->of->state;
    if (b->most[SKIP] != CCO_CHECKED)
        return (cco_skip)b->most[SKIP];
    k->weighs = k->weighs && !b->most[WEIGHS_NOT];
    k->reference = cco_reference_for(state, &k->choice->way, &k->call, b->most[ODD]);
    return k->reference.defect != NULL || b->most[IN_PLACE] ? CCO_SKIP_SAME : CCO_CHECKED;
}

static stage end_without(cco_validate_request *b, cco_skip skip)
{
    if (b->check.of->state->rank == 0)
        cco_tally_count(&cco_tally_here.skips[skip], 1);
    return OVER;
}

static stage request_repeat(cco_validate_request *b)
{
    const cco_skip skip = request_agreed(b);
    if (skip != CCO_CHECKED)
        return end_without(b, skip);
    b->again = cco_check_call(&b->check);
    if (cco_copy_for_mpi(&b->again, b->own.arrays) != MPI_SUCCESS)
        cco_fatal("no memory for CRESTA_VALIDATE on communicator '%s'", b->check.of->state->name);
    return REPEAT;
}

static stage request_weigh(cco_validate_request *b)
{
    if (!b->check.weighs)
        return AWAIT;
    const cco_call done = cco_check_call(&b->check);
    b->again = cco_check_weighing(&b->check, &done);
    return WEIGH;
}

static stage request_judge(cco_validate_request *b)
{
    const cco_comm *state = b->check.of->state;
    b->failed = b->failed || __atomic_load_n(&b->call, __ATOMIC_ACQUIRE) != TAKEN;
    const bool same = b->failed || cco_compare(&b->check, &b->first, &b->unjudged);
    for (int i = 0; i < WORDS; i++)
        b->mine[i] = 0;
    b->mine[FAILED] = b->failed;
    b->mine[WHO] = same ? 0 : state->size - state->rank;
    return JUDGE;
}

/* The first rank that found a difference says so now; the file needs all ranks. */
static void request_tell(cco_validate_request *b, int who)
{
    cco_validated *v = b->check.of;
    const uint32_t bit = 1u << b->check.call.coll;
    if (v->state->rank == 0)
        cco_tally_count(&cco_tally_here.differ, 1);
    if (v->begun_reported & bit)
        return;
    v->begun_reported |= bit;
    if (v->state->rank == who)
        cco_report_begun(&b->check, &b->first);
    if (v->state->rank == who && cco_configured.validate_stop)
        cco_fatal("CRESTA_VALIDATE_STOP=1: the job stops at the first difference");
    b->who = who;
    b->kept = true;
}

static stage request_end(cco_validate_request *b)
{
    if (b->most[FAILED])
        return end_without(b, CCO_SKIP_FAILED);
    cco_tally_count(&cco_tally_here.unjudged, b->unjudged);
    if (b->most[WHO] > 0)
        request_tell(b, b->check.of->state->size - (int)b->most[WHO]);
    return end_without(b, CCO_CHECKED);
}

/* The stage that comes after one that is over. */
static stage request_after(cco_validate_request *b)
{
    switch (b->stage) {
    case AGREE:
        return request_repeat(b);
    case REPEAT:
        return request_weigh(b);
    case WEIGH:
        return AWAIT;
    case AWAIT:
        return request_judge(b);
    default:
        return request_end(b);
    }
}

/* Whether a stage is over.  An error of the MPI is one on all ranks, or ends the job: they agree on
 * nothing without it. */
static bool request_is_over(cco_validate_request *b, bool gives_up)
{
    int over = 0;
    if (b->stage == AWAIT)
        return b->failed || gives_up || __atomic_load_n(&b->call, __ATOMIC_ACQUIRE) >= TAKEN;
    int rc = b->posted ? MPI_SUCCESS : request_post(b);
    b->posted = true;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Test(&b->request, &over, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS && (b->stage == AGREE || b->stage == JUDGE))
        cco_fatal("CRESTA_VALIDATE: the MPI's allreduce failed");
    b->failed = b->failed || rc != MPI_SUCCESS;
    return over || rc != MPI_SUCCESS;
}

/* The first check of a list is over. */
static void request_pop(cco_validate_request_checks *list)
{
    cco_validate_request *b = list->first;
    list->first = b->next;
    __atomic_fetch_sub(&active, 1, __ATOMIC_RELEASE);
    if (!b->kept) {
        request_drop(b);
        return;
    }
    b->next = list->told;
    list->told = b;
}

/* With the lock. */
static bool request_move(cco_validate_request_checks *list, bool gives_up)
{
    bool moved = false;
    while (list->first != NULL && request_is_over(list->first, gives_up)) {
        cco_validate_request *b = list->first;
        b->posted = false;
        b->stage = request_after(b);
        if (b->stage == OVER)
            request_pop(list);
        moved = true;
    }
    return moved;
}

bool cco_validate_request_progress(bool calls_mpi)
{
    bool moved = false;
    if (!calls_mpi || __atomic_load_n(&active, __ATOMIC_ACQUIRE) == 0 ||
        pthread_mutex_trylock(&lock) != 0)
        return false;
    const double began = cco_seconds();
    for (cco_validate_request_checks *list = all; list != NULL; list = list->next)
        moved = request_move(list, false) || moved;
    cco_tally_spent(cco_seconds() - began);
    pthread_mutex_unlock(&lock);
    return moved;
}

static bool request_is_empty(cco_validate_request_checks *list)
{
    pthread_mutex_lock(&lock);
    request_move(list, true);
    const bool empty = list->first == NULL;
    pthread_mutex_unlock(&lock);
    return empty;
}

/* All ranks have the same checks, and come here. */
static void request_finish(cco_validate_request_checks *list)
{
    const double began = cco_seconds();
    for (int tries = 0; !request_is_empty(list); cco_pause_after_mpi(&tries))
        cco_queue_progress(true); /* another rank may come here only after a call of ours */
    while (list->told != NULL) {
        cco_validate_request *b = list->told;
        list->told = b->next;
        cco_report_file(&b->check, &b->first, b->who, list->comm);
        request_drop(b);
    }
    if (list->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&list->comm);
    cco_tally_spent(cco_seconds() - began);
}

void cco_validate_request_finish(cco_validated *of)
{
    cco_validate_request_checks *list = of->begun;
    if (list == NULL)
        return;
    request_finish(list);
    of->begun = NULL;
    pthread_mutex_lock(&lock);
    cco_validate_request_checks **link = &all;
    while (*link != list)
        link = &(*link)->next;
    *link = list->next;
    pthread_mutex_unlock(&lock);
    free(list);
}

void cco_validate_request_finish_all(void)
{
    while (all != NULL)
        cco_validate_request_finish(all->of);
}
