/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c - see progress.h. */
#include "process/progress.h"

#include "config/config.h"
#include "base/next.h"
#include "comm/facts.h"
#include "wait/progress_thread.h"
#include "base/log.h"
#include "base/world.h"
#include "base/pause.h"
#include "wait/wait.h"
#include "observe/observe.h"
#include "progress/queue.h"

cco_progress_level cco_progress_allowed_level;

/* MPI_Wait by another name (interpose/wait.c): where the program's calls go elsewhere, because a
 * tool stands before us, nobody would complete what the thread must not. */
int cco_our_wait(MPI_Request *request, MPI_Status *status);

bool cco_progress_follows_starts(void)
{
    return (CCO_PRELOADED && cco_progress_calls_mpi()) || cco_progress_thread_runs_no_ops();
}

static bool waits_pass_here(void)
{
    int (*volatile theirs)(MPI_Request *, MPI_Status *) = MPI_Wait;
    return theirs == cco_our_wait;
}

static int asked_for = MPI_THREAD_MULTIPLE; /* by the program */
static bool asked;                          /* by MPI_Init of ours, or of another copy of us */

void cco_progress_level_ask(void)
{
    asked = true;
}

int cco_progress_thread_level(int required)
{
    asked_for = required;
    cco_progress_level_ask();
#if !defined(CRESTA_PRELOAD)
    cco_first_copy();
#endif
    return cco_config_wants_thread() && required < MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE
                                                                       : required;
}

bool cco_progress_level_asked(void)
{
    return asked;
}

bool cco_progress_many_threads(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE && asked_for == MPI_THREAD_MULTIPLE;
}

void cco_progress_begin(void)
{
    int level = MPI_THREAD_SINGLE;
    const cco_async_setting asked = cco_configured.async;
    PMPI_Query_thread(&level);
    cco_progress_level allowed = !CCO_PRELOADED && waits_pass_here() ? CCO_PROGRESS_MEMORY
                                                                     : CCO_PROGRESS_NONE;
    if (level == MPI_THREAD_MULTIPLE)
        allowed = CCO_PROGRESS_MPI;
    if (asked == CCO_ASYNC_THREAD && allowed != CCO_PROGRESS_MPI && cco_world_reports())
        cco_log(CCO_LOG_WARN,
                "CRESTA_ASYNC=thread: this MPI does not provide MPI_THREAD_MULTIPLE here; %s",
                allowed == CCO_PROGRESS_NONE ? "no progress thread"
                                             : "the progress thread serves shared memory only");
    if (allowed == CCO_PROGRESS_MPI && asked != CCO_ASYNC_OFF && asked_for < MPI_THREAD_MULTIPLE)
        cco_progress_thread_keep_ops_off();
    allowed = asked != CCO_ASYNC_OFF ? allowed : CCO_PROGRESS_NONE;
    __atomic_store_n(&cco_progress_allowed_level, allowed, __ATOMIC_RELEASE);
    cco_fact_progress(allowed);
}

/* Below that level the program's waits would have to pass here, and where MPI_Init did not, nor may
 * they. */
void cco_progress_begin_late(void)
{
    int level = MPI_THREAD_SINGLE;
    if (!cco_has_world())
        return;
    PMPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE)
        cco_progress_begin();
}

/* Where the thread must stay out of the MPI, what passes through memory progresses all the same:
 * other ranks count on that. */
static bool progress_poll(long *expected)
{
    const bool calls_mpi = cco_progress_calls_mpi() && cco_progress_thread_enter_mpi();
    if (calls_mpi)
        cco_mpi_progress_all();
    const bool moved = cco_queue_progress(calls_mpi);
    cco_progress_thread_leave_mpi();
    *expected = cco_queue_expected();
    return moved;
}

void cco_progress_start(void)
{
    static bool started;
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE) || cco_progress_allowed() == CCO_PROGRESS_NONE)
        return;
    const bool there = cco_progress_thread_start(progress_poll);
    __atomic_store_n(&started, true, __ATOMIC_RELEASE);
    if (there)
        return;
    cco_fact_progress(CCO_PROGRESS_NONE);
    cco_log(CCO_LOG_WARN,
            "the system did not start a thread: split-phase calls progress only in calls of the"
            " MPI");
}

void cco_progress_end(void)
{
    __atomic_store_n(&cco_progress_allowed_level, CCO_PROGRESS_NONE, __ATOMIC_RELEASE);
    cco_progress_thread_stop();
}

static void progress_move(void)
{
    cco_queue_progress(true);
    cco_mpi_progress();
    CCO_OBSERVE(poll, ());
}

void cco_progress_move_begin(void)
{
    cco_mpi_progress_begin();
    cco_pause_set_progress(progress_move);
}

void cco_progress_move_end(void)
{
    cco_pause_set_progress(NULL);
    cco_mpi_progress_end();
}
