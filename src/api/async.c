/* SPDX-License-Identifier: BSD-3-Clause */
/* async.c - see async.h. */
#include "api/async.h"

#include "api/process.h"
#include "core/config.h"
#include "core/facts.h"
#include "core/helper.h"
#include "core/log.h"
#include "core/wait.h"
#include "model/tower.h"

cco_help cco_async_allowed;

/* MPI_Wait by another name (interpose/wait.c): where the program's calls go elsewhere, because a
 * tool stands before us, nobody would complete what the thread must not. */
int cco_our_wait(MPI_Request *request, MPI_Status *status);

static bool waits_pass_here(void)
{
    int (*volatile theirs)(MPI_Request *, MPI_Status *) = MPI_Wait;
    return theirs == cco_our_wait;
}

static int asked_for = MPI_THREAD_MULTIPLE; /* by the program */

int cco_async_level(int required)
{
    asked_for = required;
    return cco_config_wants_thread() && required < MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE
                                                                       : required;
}

void cco_async_begin(void)
{
    int level = MPI_THREAD_SINGLE;
    const cco_helping asked = cco_configured.async;
    PMPI_Query_thread(&level);
    cco_help help = !CCO_PRELOADED && waits_pass_here() ? CCO_HELP_MEMORY : CCO_HELP_NONE;
    if (level == MPI_THREAD_MULTIPLE)
        help = CCO_HELP_MPI;
    if (asked == CCO_HELPING_THREAD && help != CCO_HELP_MPI && cco_process_speaks())
        cco_log(CCO_LOG_WARN,
                "CRESTA_ASYNC=thread: the thread moves %s, because this MPI gives no "
                "MPI_THREAD_MULTIPLE here",
                help == CCO_HELP_NONE ? "nothing" : "shared memory only");
    if (help == CCO_HELP_MPI && asked != CCO_HELPING_OFF && asked_for < MPI_THREAD_MULTIPLE)
        cco_helper_be_wary();
    help = asked != CCO_HELPING_OFF ? help : CCO_HELP_NONE;
    __atomic_store_n(&cco_async_allowed, help, __ATOMIC_RELEASE);
    cco_fact_help(help);
}

/* Where it must stay out of the MPI, what passes through memory moves all the same: other ranks
 * count on that. */
static bool look(long *due)
{
    const bool calls_mpi = cco_async() && cco_helper_enter_mpi();
    if (calls_mpi)
        cco_move_all();
    const bool moved = cco_flights_move(calls_mpi);
    cco_helper_leave_mpi();
    *due = cco_flights_due();
    return moved;
}

void cco_async_start(void)
{
    static bool started;
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE) || cco_async_help() == CCO_HELP_NONE)
        return;
    const bool there = cco_helper_start(look);
    __atomic_store_n(&started, true, __ATOMIC_RELEASE);
    if (there)
        return;
    cco_fact_help(CCO_HELP_NONE);
    cco_log(CCO_LOG_WARN, "the system refuses a thread: nothing of split-phase calls moves between"
                          " calls of the MPI");
}

void cco_async_end(void)
{
    __atomic_store_n(&cco_async_allowed, CCO_HELP_NONE, __ATOMIC_RELEASE);
    cco_helper_stop();
}

bool cco_async_move(void)
{
    const bool moved = cco_flights_move(true);
    cco_move();
    return moved;
}
