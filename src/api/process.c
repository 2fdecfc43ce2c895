/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c - see process.h. */
#include "api/process.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/outputs.h"
#include "api/progress.h"
#include "api/request_data.h"
#include "api/report.h"
#include "mpi/mpi_check.h"
#include "core/comm.h"
#include "core/clock.h"
#include "core/config.h"
#include "mpi/service.h"
#include "core/teardown.h"
#include "core/facts.h"
#include "core/imposed_nodes.h"
#include "core/log.h"
#include "mpi/mpi_compat.h"
#include "core/pause.h"
#include "core/polite.h"
#include "core/profile_time.h"
#include "core/snapshot.h"
#include "core/wait.h"
#include "core/world.h"
#include "io/record.h"
#include "tune/agree.h"
#include "tune/presence.h"
#include "observe/observe.h"
#include "model/registry.h"
#include "native/natives.h"
#include "progress/partial_request.h"
#include "record/recording.h"
#include "rollcall/rollcall.h"
#include "tune/choose.h"
#include "tune/impl.h"
#include "tune/nodes.h"
#include "tune/tuning_file.h"

cco_phase cco_process_phase = CCO_UNREAD;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool chosen;    /* an implementation is, for some collective */
static bool wishes;    /* the environment or the build asks for something, on this rank; */
static bool asked;     /* on any, once ranks have agreed on that, and until then */
static bool mends;     /* `auto` may replace neighborhood collectives, on any rank likewise */
static bool awake;     /* the program has asked: CRESTA_Set_impl */
static bool counts;    /* calls are, at present, whoever has asked: cresta_profile_start */
static bool begun;     /* MPI_Init has been here */
static unsigned named; /* bit per model that a rule names, and that has a job_begin */
static bool spawned;   /* asked before the program disconnects from its parents */

static void process_move(void)
{
    cco_progress_all();
    CCO_OBSERVE(poll, ());
}

/* From now on the MPI can be moved, also while we wait. */
static void start_moving(void)
{
    cco_mpi_progress_begin();
    cco_pause_set_progress(process_move);
}

static void stop_moving(void)
{
    cco_pause_set_progress(NULL);
    cco_mpi_progress_end();
}

static void process_set_phase(cco_phase phase)
{
    __atomic_store_n(&cco_process_phase, phase, __ATOMIC_RELEASE);
}

/* Ranks of another world, which this one has spawned or met, do not know that calls are counted
 * here. */
bool cco_process_ignores(MPI_Comm comm, bool near)
{
    const bool wanted = asked || (near && mends);
    return !(wanted || counts) || !cco_mpi_check_handle(comm) || !(wanted || cco_in_world(comm));
}

bool cco_process_met(void)
{
    return __atomic_load_n(&begun, __ATOMIC_ACQUIRE);
}

void cco_process_wake(void)
{
    __atomic_store_n(&awake, true, __ATOMIC_RELAXED);
    cco_polite_decide(true);
    process_set_phase(CCO_ACTIVE);
}

void cco_process_count(bool on)
{
    counts = on;
    if (on)
        process_set_phase(CCO_ACTIVE);
}

void cco_process_control(int level)
{
    if (cco_profiled && level != 0 && !cco_profile_active)
        cco_profile_time_resume(cco_ticks());
    if (cco_profiled)
        cco_profile_active = level != 0;
    cco_io_control(level);
}

static bool process_names_model(const cco_rules *rules, const cco_model *model)
{
    for (int i = 0; rules != NULL && i < rules->count; i++)
        if (rules->list[i].model == model)
            return true;
    return false;
}

/* Models that a rule names begin here, before any call on some ranks only. */
static void begin_models(void)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (named >> i & 1)
            cco_models[i]->job_begin();
}

static void end_models(void)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i]->job_end != NULL)
            cco_models[i]->job_end();
}

static void free_models(void)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i]->job_free != NULL)
            cco_models[i]->job_free();
}

static void name_models(const cco_rules *rules)
{
    for (int i = 0; cco_models[i] != NULL; i++)
        if (cco_models[i]->job_begin != NULL && process_names_model(rules, cco_models[i]))
            named |= 1u << i;
}

/* What rules of the job need besides being chosen from. */
static void take_needs(const cco_rules *rules)
{
    name_models(rules);
    cco_nodes_wanted_by(rules);
}

static void read_environment(void)
{
    cco_config *c = &cco_configured;
    char wrong[1024] = "";
    cco_config_read();
    /* The word alone is no rule of the user's: it would go before those of the program. */
    const bool automatic = strcmp(c->impl, CCO_IMPL_AUTO) == 0;
    cco_rules *builtin = cco_rules_parse(automatic ? CCO_DEFAULT_IMPL "\n*=" CCO_IMPL_AUTO
                                                                      "\nneighbor_*=" CCO_IMPL_AUTO
                                                   : CCO_DEFAULT_IMPL,
                                         "built in", wrong, sizeof wrong);
    cco_rules *user = c->error[0] ? NULL
                                  : cco_rules_parse(automatic ? "" : c->impl, c->impl_source, wrong,
                                                    sizeof wrong);
    if (wrong[0] && !c->error[0])
        memcpy(c->error, wrong, sizeof wrong);
    if (!wrong[0] && !c->error[0] && !cco_observe_read(wrong, sizeof wrong))
        memcpy(c->error, wrong, sizeof wrong);
    chosen = !cco_rules_are_plain(user) || !cco_rules_are_plain(builtin);
    mends = cco_rules_may_replace(user) || cco_rules_may_replace(builtin);
    chosen = chosen || c->reproducible;
    wishes = c->profile != NULL || c->log >= CCO_LOG_INFO || chosen || c->watchdog.on ||
             c->watchdog_signal != 0 || cco_observes();
    take_needs(user);
    take_needs(builtin);
    if (c->profile != NULL) /* which says what goes between nodes */
        cco_nodes_want();
    cco_observe_rules(take_needs);
    cco_choose_from(user, builtin);
}

/* Those of a tuning file, which is read after the environment. */
static void take_tuning(cco_rules *rules)
{
    chosen = chosen || !cco_rules_are_plain(rules);
    asked = asked || chosen;
    mends = mends || cco_rules_may_replace(rules);
    take_needs(rules);
    cco_choose_from_tuning(rules);
}

/* CRESTA_NODES names the node of every rank. */
static void check_imposed_nodes(void)
{
    cco_config *c = &cco_configured;
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    const int ranks = c->nodes != NULL ? cco_imposed_ranks(c->nodes) : size;
    if (ranks < size && !c->error[0])
        snprintf(c->error, sizeof c->error,
                 "CRESTA_NODES=%.200s: it places %d ranks, and MPI_COMM_WORLD has %d", c->nodes,
                 ranks, size);
}

/* Runs when MPI_Finalize frees the attributes of MPI_COMM_SELF: MPI still works, and all ranks come
 * here. */
static int process_end(MPI_Comm comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)attribute, (void)extra;
    if (begun)
        CCO_OBSERVE(job_last, ());
    cco_outputs_write(begun, spawned);
    process_set_phase(CCO_IDLE);
    cco_polite_end();
    CCO_OBSERVE(job_end, ());
    cco_progress_end();
    end_models(); /* all ranks are here, which those that end states are not at the same time */
    cco_teardowns_collect();
    cco_recordings_end();
    cco_comm_end();
    free_models();
    cco_teardowns_run();
    cco_service_end();
    cco_request_data_end();
    cco_partial_request_end();
    cco_mpi_check_end();
    cco_rollcall_end();
    stop_moving();
    return MPI_SUCCESS;
}

/* CRESTA_DEBUG=disagree: some ranks come late, or say more than others. */
static void process_disagree(void)
{
    cco_config *c = &cco_configured;
    nanosleep(&(struct timespec){.tv_nsec = (long)cco_disagreement(30) * 1000 * 1000}, NULL);
    c->log = (cco_log_level)(((unsigned)c->log + cco_disagreement(3)) % 3);
    wishes = wishes || c->log >= CCO_LOG_INFO;
}

static bool process_is_spawned(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

static void hook_the_end(void)
{
    int key = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, process_end, &key, NULL) == MPI_SUCCESS) {
        PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        PMPI_Comm_free_keyval(&key); /* it lives on until the attribute is deleted */
    }
}

/* The environment is the same for sessions that were used before. */
static void begin_here(void)
{
    if (cco_process_phase != CCO_UNREAD)
        return;
    cco_natives_look_up();
    read_environment();
    start_moving();
}

/* CRESTA_OFF=1: every call goes to the MPI, or to a tool behind us, from now on. */
static bool is_off(void)
{
    if (cco_process_phase == CCO_UNREAD && cco_config_off()) {
        cco_natives_look_up();
        cco_config_read();
        process_set_phase(CCO_IDLE);
    }
    return cco_configured.off;
}

/* All ranks together; whatever differs between them is reported now. */
static void begin_together(int rank)
{
    cco_facts_of(rank);
    process_disagree();
    if (rank == 0)
        cco_outputs_try();
    check_imposed_nodes();
    bool wanted[] = {wishes, !CCO_PRELOADED, mends, cco_progress_many_threads()}; /* by any rank */
    cco_presence_await();
    cco_agree_on_config(MPI_COMM_WORLD, wanted, 4);
    asked = wanted[0];
    mends = wanted[2];
    if (asked || mends || wanted[1])
        cco_service_begin(wanted[3]);
    if (cco_configured.tuning != NULL)
        take_tuning(cco_tuning_share(MPI_COMM_WORLD));
    if (rank == 0)
        cco_outputs_loaded();
    if (asked || wanted[1] || cco_configured.wait == CCO_WAIT_AUTO)
        cco_wait_find_neighbors(MPI_COMM_WORLD);
    cco_polite_decide(chosen);
    if (rank == 0)
        cco_report_waits();
}

void cco_process_serve(void)
{
    static bool serves;
    if (!cco_configured.off || __atomic_load_n(&serves, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&lock);
    if (!serves) {
        start_moving();
        if (cco_has_world())
            hook_the_end();
        else
            cco_mpi_check_without_world(cco_comm_any);
        __atomic_store_n(&serves, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

void cco_process_begin(void)
{
    int rank;
    bool first = false;
    pthread_mutex_lock(&lock);
    if (!begun && !is_off()) {
        begin_here();
        cco_mpi_check_without_world(NULL);
        cco_comm_expect_threads(cco_progress_many_threads());
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        begin_together(rank);
        spawned = process_is_spawned();
        cco_rollcall_begin(true, spawned);
        cco_profiled_run = cco_configured.profile != NULL;
        if (cco_profiled_run)
            cco_outputs_begin_profile();
        if (cco_profiled_run && cco_configured.profile_every > 0)
            cco_snapshot_begin(cco_configured.profile_every);
        if (cco_configured.io != NULL)
            cco_io_begin();
        hook_the_end();
        cco_progress_begin();
        CCO_OBSERVE(job_begin, (cco_progress_many_threads()));
        /* Which operations of the program are under way counts even if nothing is asked. */
        process_set_phase(asked || awake || cco_progress_thread_runs_no_ops() ? CCO_ACTIVE
                          : mends                                             ? CCO_NEARBY
                                                                              : CCO_IDLE);
        first = true;
        __atomic_store_n(&begun, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    if (first)
        begin_models();
}

void cco_process_met_late(void)
{
    cco_profiled_run = cco_profiled_run || (!begun && cco_configured.profile != NULL);
}

void cco_process_begin_late(void)
{
    pthread_mutex_lock(&lock);
    if (cco_process_phase == CCO_UNREAD && !is_off()) {
        begin_here();
        cco_comm_expect_threads(cco_progress_many_threads());
        if (cco_has_world()) {
            spawned = process_is_spawned();
            hook_the_end();
            cco_progress_begin_late();
        } else {
            cco_mpi_check_without_world(cco_comm_any);
        }
        cco_rollcall_begin(false, false);
        cco_outputs_begin_late();
        if (cco_configured.tuning != NULL)
            take_tuning(cco_tuning_own());
        cco_polite_decide(chosen);
        asked = true; /* the ranks have not agreed that nothing is: every communicator compares */
        process_set_phase(CCO_ACTIVE);
    }
    pthread_mutex_unlock(&lock);
}
