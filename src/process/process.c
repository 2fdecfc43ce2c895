/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c - see process.h; what runs when is in process.def. */
#include "process/process.h"

#include <pthread.h>

#include "process/progress.h"
#include "comm/comm.h"
#include "config/config.h"
#include "comm/facts.h"
#include "wait/polite.h"
#include "base/world.h"
#include "mpi/mpi_check.h"

typedef enum process_moment { READ, ASK, INIT, MET, LATE, WRITE, END } process_moment;

#define CCO_AT(moment, function) void function(void);
#include "process/process.def"
#undef CCO_AT

static const struct {
    process_moment moment;
    void (*run)(void);
} process_parts[] = {
#define CCO_AT(moment, function) {moment, function},
#include "process/process.def"
#undef CCO_AT
};

cco_phase cco_process_phase = CCO_UNREAD;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool awake;  /* the program has asked: CRESTA_Set_impl */
static bool counts; /* calls are, at present, whoever has asked: cresta_profile_start */

static void process_run(process_moment moment)
{
    for (int i = 0; i < (int)(sizeof process_parts / sizeof process_parts[0]); i++)
        if (process_parts[i].moment == moment)
            process_parts[i].run();
}

static void process_set_phase(cco_phase phase)
{
    __atomic_store_n(&cco_process_phase, phase, __ATOMIC_RELEASE);
}

/* Ranks of another world, which this one has spawned or met, do not know that calls are counted
 * here. */
bool cco_process_ignores(MPI_Comm comm, bool near)
{
    const bool wanted = cco_job.asked || (near && cco_job.mends);
    return !(wanted || counts) || !cco_mpi_check_handle(comm) || !(wanted || cco_in_world(comm));
}

bool cco_process_met(void)
{
    return __atomic_load_n(&cco_job.met, __ATOMIC_ACQUIRE);
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

/* Runs when MPI_Finalize frees the attributes of MPI_COMM_SELF. */
static int process_end(MPI_Comm comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)attribute, (void)extra;
    process_run(WRITE);
    process_set_phase(CCO_IDLE);
    process_run(END);
    return MPI_SUCCESS;
}

static void hook_the_end(void)
{
    int key = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, process_end, &key, NULL) == MPI_SUCCESS) {
        PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        PMPI_Comm_free_keyval(&key); /* it lives on until the attribute is deleted */
    }
}

/* There may be no world: then a communicator of the program's has to do. */
static void process_enter_world(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    const bool world = cco_has_world();
    cco_mpi_check_without_world(world ? NULL : cco_comm_any);
    if (!world)
        return;
    cco_job.spawned = PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
    hook_the_end();
}

/* CRESTA_OFF=1: every call goes to the MPI, or to a tool behind us, from now on.  The environment
 * is the same for sessions that were used before. */
static bool process_is_off(void)
{
    if (cco_process_phase != CCO_UNREAD)
        return cco_configured.off;
    const bool off = cco_config_off();
    process_run(READ);
    if (off)
        process_set_phase(CCO_IDLE);
    else
        process_run(ASK);
    return off;
}

void cco_process_serve(void)
{
    static bool serves;
    if (!cco_configured.off || __atomic_load_n(&serves, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&lock);
    if (!serves) {
        cco_progress_move_begin();
        process_enter_world();
        __atomic_store_n(&serves, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

void cco_process_begin(void)
{
    bool first = false;
    pthread_mutex_lock(&lock);
    if (!cco_job.met && !process_is_off()) {
        process_enter_world();
        cco_job.linked = !CCO_PRELOADED;
        cco_job.many_threads = cco_progress_many_threads();
        cco_comm_expect_threads(cco_job.many_threads);
        process_run(INIT);
        /* Which operations of the program are under way counts even if nothing is asked. */
        process_set_phase(cco_job.asked || awake || cco_progress_thread_runs_no_ops() ? CCO_ACTIVE
                          : cco_job.mends                                             ? CCO_NEARBY
                                                                                      : CCO_IDLE);
        first = true;
        __atomic_store_n(&cco_job.met, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    if (first)
        process_run(MET);
}

void cco_process_begin_late(void)
{
    pthread_mutex_lock(&lock);
    if (cco_process_phase == CCO_UNREAD && !process_is_off()) {
        cco_comm_expect_threads(cco_progress_many_threads());
        process_enter_world();
        process_run(LATE);
        cco_job.asked = true; /* not agreed that nothing is: every communicator compares */
        process_set_phase(CCO_ACTIVE);
    }
    pthread_mutex_unlock(&lock);
}
