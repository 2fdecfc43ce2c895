/* SPDX-License-Identifier: BSD-3-Clause */
/* async.c - see async.h. */
#include "api/async.h"

#include "api/process.h"
#include "core/config.h"
#include "core/helper.h"
#include "core/log.h"
#include "core/wait.h"
#include "model/flight.h"

bool cco_async_allowed;

int cco_async_level(int required)
{
    return cco_config_wants_thread() && required < MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE
                                                                       : required;
}

void cco_async_begin(void)
{
    int level = MPI_THREAD_SINGLE;
    const cco_helping asked = cco_configured.async;
    PMPI_Query_thread(&level);
    const bool can = level == MPI_THREAD_MULTIPLE;
    if (asked == CCO_HELPING_THREAD && !can && cco_process_speaks())
        cco_log(CCO_LOG_WARN, "CRESTA_ASYNC=thread: there is no thread, because this MPI gives no "
                              "MPI_THREAD_MULTIPLE here");
    __atomic_store_n(&cco_async_allowed, can && asked != CCO_HELPING_OFF, __ATOMIC_RELEASE);
}

void cco_async_start(void)
{
    static bool started;
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE) || !cco_async())
        return;
    if (!cco_helper_start(cco_async_move))
        cco_fatal("the system refuses a thread; run with CRESTA_ASYNC=off");
    __atomic_store_n(&started, true, __ATOMIC_RELEASE);
}

void cco_async_end(void)
{
    __atomic_store_n(&cco_async_allowed, false, __ATOMIC_RELEASE);
    cco_helper_stop();
}

bool cco_async_move(void)
{
    const bool moved = cco_flights_move();
    cco_move();
    return moved;
}
