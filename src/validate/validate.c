/* SPDX-License-Identifier: BSD-3-Clause */
/* validate.c - see validate.h. */
#include "validate/validate.h"

#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "config/config.h"
#include "base/log.h"
#include "mpi/service.h"
#include "mpi/ulfm.h"
#include "native/blocking_defects.h"
#include "native/models.h"
#include "observe/observe.h"
#include "plan/arguments.h"
#include "validate/budget.h"
#include "validate/compare.h"
#include "validate/report.h"
#include "validate/tally.h"

static const char key; /* its address is the key */
static int64_t seeds;  /* the largest seed of a communicator of this process */
static double began;   /* when the first communicator was set up */

/* The largest of each word over the ranks.  Not cco_agree, which would complain about ranks that
 * are late: here they may be. */
static void validate_greatest(const cco_comm *state, const int64_t *words, int64_t *most, int count)
{
    for (int i = 0; i < count; i++)
        most[i] = words[i];
    if (state->size == 1)
        return;
    if (cco_service_allreduce(words, most, count, MPI_INT64_T, MPI_MAX, state->comm) != MPI_SUCCESS)
        cco_fatal("CRESTA_VALIDATE: the MPI's allreduce failed");
}

static void drop_check(cco_validated *v)
{
    if (v->check != NULL)
        cco_check_empty(v->check);
    free(v->check);
    v->check = NULL;
}

/* In MPI_Comm_free, where all ranks are; after MPI_Finalize has begun, nothing is left. */
static void validate_release(void *data)
{
    cco_validate_request_finish(data);
    drop_check(data);
    free(data);
}

/* Its own calls of the MPI would end such a job, or wait for a process that has failed. */
static bool jobs_survive_failures(const cco_comm *state)
{
    static bool told;
    if (cco_ulfm() && state->rank == 0 && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        cco_log(CCO_LOG_WARN, "CRESTA_VALIDATE checks nothing here: %s", CCO_ULFM_GOES_ON);
    return cco_ulfm();
}

static void validate_ready(cco_comm *state)
{
    if (jobs_survive_failures(state))
        return;
    cco_validated *v = cco_comm_attach(state, &key, sizeof *v, validate_release);
    const int64_t mine = __atomic_add_fetch(&seeds, 1, __ATOMIC_RELAXED);
    int64_t most, known = mine;
    validate_greatest(state, &mine, &most, 1);
    while (known < most && !__atomic_compare_exchange_n(&seeds, &known, most, false,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    state->watched |= CCO_WATCHED_RESULTS;
    v->state = state;
    v->sample.seed = (uint64_t)most;
    v->begins.seed = ~(uint64_t)most; /* another series of numbers */
    if (began == 0)
        began = cco_seconds();
}

/* Counted once for all ranks of the communicator. */
static void validate_count_call(const cco_validated *v, uint64_t *number)
{
    if (v->state->rank == 0)
        cco_tally_count(number, 1);
}

static void validate_spend(const cco_check *k)
{
    cco_tally_spent(cco_seconds() - k->began);
}

/* What ranks have to agree on before a check: whether it is possible, and by which reference. */
static cco_skip agree_to_begin(cco_check *k)
{
    const cco_comm *state = k->of->state;
    size_t bytes = 0;
    cco_skip skip = cco_check_prepare(k, &bytes);
    if (skip == CCO_CHECKED)
        skip = cco_check_copy(k);
    const int64_t mine[4] = {skip, cco_blocking_call_is_odd(state, &k->call), k->weighs,
                             !k->weighs};
    int64_t most[4];
    validate_greatest(state, mine, most, 4);
    k->weighs = k->weighs && !most[3];
    k->reference = cco_reference_for(state, &k->choice->way, &k->call, most[1]);
    if (most[0] == CCO_CHECKED && k->reference.defect != NULL && k->reference.way.model == NULL)
        return CCO_SKIP_SAME;
    if (most[0] == CCO_CHECKED)
        cco_tally_bytes(bytes + cco_budget_taken());
    return (cco_skip)most[0];
}

/* Whether there is anything to compare: all ranks know that alike. */
static bool validate_is_empty(const cco_call *call, MPI_Count bytes)
{
    return call->coll == CCO_BARRIER ||
           (cco_coll_infos[call->coll].properties & CCO_SIZED && bytes == 0);
}

static cco_check *skip_call(cco_validated *v, cco_skip skip)
{
    validate_count_call(v, &cco_tally_here.skips[skip]);
    drop_check(v);
    return NULL;
}

static cco_check *validate_begin(cco_validated *v, const cco_choice *choice, const cco_call *call,
                                 MPI_Count bytes)
{
    drop_check(v); /* that of a call whose error handler has not come back */
    v->check = calloc(1, sizeof *v->check);
    if (v->check == NULL) /* to go on without it on one rank would hang the others */
        cco_fatal("no memory for CRESTA_VALIDATE on communicator '%s'", v->state->name);
    cco_check *k = v->check;
    *k = (cco_check){.of = v,
                     .choice = choice,
                     .call = *call,
                     .bytes = bytes,
                     .number = v->sample.calls,
                     .began = cco_seconds()};
    const cco_skip skip = agree_to_begin(k);
    k->ran = cco_seconds();
    if (skip == CCO_CHECKED)
        return k;
    validate_spend(k);
    return skip_call(v, skip);
}

/* Calls that the MPI refuses may be one rank's alone: they are not counted. */
static void *validate_chosen(cco_comm *state, const cco_choice *choice, const cco_call *call,
                             MPI_Count bytes)
{
    cco_validated *v = cco_comm_attached(state, &key);
    cco_validate_request_progress(true);
    if (v == NULL || state->failure.error != MPI_SUCCESS || choice->way.model == &cco_model_mpi ||
        !cco_arguments_valid(state, call))
        return NULL;
    const bool sized = cco_coll_infos[call->coll].properties & CCO_SIZED;
    const bool taken = cco_sample_takes(&v->sample, call->coll, sized ? (uint64_t)bytes : 0,
                                        cco_configured.validate.rate);
    validate_count_call(v, &cco_tally_here.calls);
    if (!taken)
        return NULL;
    if (state->facts.device)
        return skip_call(v, CCO_SKIP_DEVICE);
    if (validate_is_empty(call, bytes))
        return skip_call(v, CCO_SKIP_EMPTY);
    return validate_begin(v, choice, call, bytes);
}

static void validate_begins_ready(cco_comm *state)
{
    cco_validated *v = cco_comm_attached(state, &key);
    if (v != NULL && !state->facts.device)
        cco_validate_request_prepare(v);
}

static struct cco_validate_request *validate_request(cco_comm *state, const cco_choice *choice,
                                                     const cco_call *call)
{
    cco_validated *v = cco_comm_attached(state, &key);
    if (v == NULL)
        return NULL;
    validate_count_call(v, &cco_tally_here.calls);
    if (!cco_validate_request_can_check(
            call)) { /* all of them: no rank counts them in the sample */
        validate_count_call(v, &cco_tally_here.skips[CCO_SKIP_BEGUN]);
        return NULL;
    }
    const bool sized = cco_coll_infos[call->coll].properties & CCO_SIZED;
    const MPI_Count bytes = sized ? cco_bytes(call, state->rank, state->size) : 0;
    if (!cco_sample_takes(&v->begins, call->coll, (uint64_t)bytes, cco_configured.validate.rate))
        return NULL;
    const cco_skip skip = v->begun == NULL                 ? CCO_SKIP_DEVICE
                          : validate_is_empty(call, bytes) ? CCO_SKIP_EMPTY
                                                           : CCO_CHECKED;
    struct cco_validate_request *check = skip == CCO_CHECKED
                                             ? cco_validate_request_check(v, choice, call, bytes)
                                             : NULL;
    if (check == NULL)
        validate_count_call(v,
                            &cco_tally_here.skips[skip != CCO_CHECKED ? skip : CCO_SKIP_NO_MEMORY]);
    return check;
}

/* Says once for each collective of a communicator that something differs. */
static void validate_tell(cco_check *k, const cco_difference *first, int who)
{
    cco_validated *v = k->of;
    const uint32_t bit = 1u << k->call.coll;
    validate_count_call(v, &cco_tally_here.differ);
    if (!(v->reported & bit))
        cco_report_difference(k, first, who);
    v->reported |= bit;
    if (!cco_configured.validate_stop)
        return;
    if (v->state->rank == 0)
        cco_fatal("CRESTA_VALIDATE_STOP=1: the job stops at the first difference");
    cco_service_all(true, v->state->comm);
}

/* The numbers that ranks take the greatest of: the first rank is the one furthest from the end. */
static int agree_on_first(const cco_comm *state, bool same)
{
    const int64_t mine = same ? 0 : state->size - state->rank;
    int64_t most;
    validate_greatest(state, &mine, &most, 1);
    return most == 0 ? -1 : state->size - (int)most;
}

static bool all_fine(const cco_comm *state, bool mine)
{
    const int64_t failed = !mine;
    int64_t any;
    validate_greatest(state, &failed, &any, 1);
    return any == 0;
}

static void validate_after(cco_comm *state, const cco_call *call, void *kept, int rc)
{
    cco_check *k = kept;
    (void)state, (void)call;
    if (k == NULL)
        return;
    cco_validated *v = k->of;
    cco_difference first;
    uint64_t unjudged = 0;
    k->began += cco_seconds() - k->ran; /* what the call itself took does not count */
    if (!all_fine(v->state, rc == MPI_SUCCESS) || !all_fine(v->state, cco_check_again(k))) {
        validate_spend(k);
        skip_call(v, CCO_SKIP_FAILED);
        return;
    }
    const bool same = cco_compare(k, &first, &unjudged);
    const int who = agree_on_first(v->state, same);
    validate_count_call(v, &cco_tally_here.skips[CCO_CHECKED]);
    if (k->reference.defect != NULL)
        validate_count_call(v, &cco_tally_here.otherwise);
    cco_tally_count(&cco_tally_here.unjudged, unjudged);
    validate_spend(k);
    if (who >= 0)
        validate_tell(k, &first, who);
    drop_check(v);
}

void cco_validate_finish(bool spawned)
{
    if (!cco_configured.validate.on)
        return;
    cco_validate_request_finish_all();
    cco_tally_finish(began > 0 ? cco_seconds() - began : 0, spawned);
}

static bool validate_read(char *error, size_t room)
{
    (void)error, (void)room;
    if (cco_configured.validate.on)
        cco_observe_switch(&cco_observer_validate, 1);
    return true;
}

static cco_ending validate_operation(cco_comm *state, const cco_choice *choice,
                                     const cco_call *call)
{
    struct cco_validate_request *check = validate_request(state, choice, call);
    return (cco_ending){check != NULL ? cco_validate_request_ended : NULL, check};
}

const cco_observer cco_observer_validate = {.read = validate_read,
                                            .comm_ready = validate_ready,
                                            .begins_ready = validate_begins_ready,
                                            .chosen = validate_chosen,
                                            .after = validate_after,
                                            .operation = validate_operation};
