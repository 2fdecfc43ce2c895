/* SPDX-License-Identifier: BSD-3-Clause */
/* snapshot.c - see snapshot.h. */
#include "profile/snapshot.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "comm/comm.h"
#include "config/config.h"
#include "base/hold_signals.h"
#include "base/log.h"
#include "profile/profile_json.h"

uint64_t cco_snapshot_due = UINT64_MAX;

static struct {
    cco_clock_mark first, last; /* when the profile began, and of the last snapshot */
    double every_s;
    int ranks;
} snapshots;

void cco_snapshot_begin(double seconds)
{
    int rank = 0, level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &snapshots.ranks);
    if (rank != 0 || level == MPI_THREAD_MULTIPLE)
        return;
    snapshots.every_s = seconds;
    snapshots.first = cco_clock_now();
    snapshots.last.seconds = snapshots.first.seconds - seconds; /* the first call is worth one */
    cco_snapshot_due = snapshots.first.ticks;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cco_rows gathered;

static void snapshot_add(cco_comm *state)
{
    cco_profile_add_state(&gathered, state);
}

cco_rows cco_snapshot_rows(void)
{
    pthread_mutex_lock(&lock);
    gathered = (cco_rows){0};
    cco_profile_add_kept(&gathered);
    cco_comm_for_each(snapshot_add);
    cco_rows_end_keys(&gathered);
    const cco_rows rows = gathered;
    pthread_mutex_unlock(&lock);
    return rows;
}

static void write_now(void)
{
    char path[4096];
    cco_held_signals held;
    cco_rows rows = cco_snapshot_rows();
    snprintf(path, sizeof path, "%s.so-far", cco_configured.profile);
    cco_hold_signals(&held);
    if (cco_profile_write_so_far(path, &rows, snapshots.ranks, cco_profile_wall()) != 0) {
        cco_log(CCO_LOG_WARN, "cannot write %s", path);
        snapshots.every_s = 0;
    }
    cco_let_signals_go(&held);
    free(rows.list);
}

void cco_snapshot_write(void)
{
    const cco_clock_mark now = cco_clock_now();
    if (now.seconds - snapshots.last.seconds >= snapshots.every_s) {
        write_now();
        snapshots.last = cco_clock_now();
    }
    const double tick_us = cco_tick_us(snapshots.first, now);
    const double wait_us = tick_us > 0
                               ? 1e6 * (snapshots.last.seconds + snapshots.every_s - now.seconds)
                               : 0;
    cco_snapshot_due = snapshots.every_s <= 0 ? UINT64_MAX
                       : wait_us > 0          ? now.ticks + (uint64_t)(wait_us / tick_us)
                                              : now.ticks;
}
