/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.c - see outputs.h. */
#include "process/outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/origin.h"
#include "config/config.h"
#include "comm/facts.h"
#include "base/hold_signals.h"
#include "base/log.h"
#include "profile/profile_json.h"
#include "profile/profile_merge.h"
#include "profile/snapshot.h"
#include "mpi/ulfm.h"
#include "base/world.h"
#include "io/record.h"
#include "io/write.h"
#include "validate/validate.h"

static void try_file(const char *variable, const char *path)
{
    cco_config *c = &cco_configured;
    const int error = path != NULL && !c->error[0] ? cco_output_try(path) : 0;
    if (error)
        snprintf(c->error, sizeof c->error, "%s=%.200s: cannot write this file: %s", variable, path,
                 strerror(error));
}

void cco_outputs_try(void)
{
    if (!cco_world_reports())
        return;
    try_file("CRESTA_PROFILE", cco_configured.profile);
    try_file("CRESTA_IO", cco_configured.io);
}

static void write_loaded(void)
{
    FILE *file = cco_configured.loaded != NULL ? fopen(cco_configured.loaded, "w") : NULL;
    cco_held_signals held;
    if (file == NULL)
        return;
    cco_hold_signals(&held);
    fprintf(file, "crestacoll %d.%d.%d\n", CRESTA_VERSION_MAJOR, CRESTA_VERSION_MINOR,
            CRESTA_VERSION_PATCH);
    fclose(file);
    cco_let_signals_go(&held);
}

static void begin_profile(void)
{
    MPI_Comm comm = cco_profile_comm(MPI_COMM_WORLD);
    cco_profile_begin(comm, cco_configured.profile_wait);
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_free(&comm);
    cco_profile_part_begin();
    if (cco_configured.profile_every > 0)
        cco_snapshot_begin(cco_configured.profile_every);
}

void cco_outputs_begin(void)
{
    if (cco_world_reports())
        write_loaded();
    cco_profiled_run = cco_configured.profile != NULL;
    if (cco_profiled_run)
        begin_profile();
    if (cco_configured.io != NULL)
        cco_io_begin();
}

void cco_outputs_met_late(void)
{
    cco_profiled_run = cco_profiled_run || (!cco_job.met && cco_configured.profile != NULL);
}

static void write_profile(void)
{
    cco_output output;
    int rank, size;
    cco_profile_active = false;
    const double wall = cco_profile_wall();
    cco_timelines timelines;
    cco_member_sets members;
    cco_origin origin;
    cco_origin_begin(&origin, wall);
    const cco_merger merger = cco_origin_merger(&origin);
    cco_rows rows = cco_profile_merge(MPI_COMM_WORLD, wall, &timelines, &members, &merger);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    char *text = cco_origin_end(&origin, rank, wall);
    if (rank == 0) {
        const int error = cco_profile_write(&output, cco_job.spawned, &rows, &members, &timelines,
                                            size, wall, text);
        if (error)
            cco_say("cannot write the profile %s: %s", output.path, strerror(error));
    }
    free(text);
    cco_arrivals_end();
    cco_timelines_free(&timelines);
    free(members.list);
    free(rows.list);
}

/* Any rank may be the first, or the only one, to come here, so that there is no common clock and no
 * waiting.  What it counts becomes a profile if all ranks meet (cco_outputs_met_late). */
void cco_outputs_begin_late(void)
{
    int rank = 0;
    const cco_config *c = &cco_configured;
    const bool world = cco_world_rank(&rank);
    write_loaded();
    if (c->profile != NULL && world)
        cco_profile_begin(MPI_COMM_NULL, 0);
    else if (c->profile != NULL)
        cco_log(CCO_LOG_WARN, "no profile of what comes before MPI_Init: it has no sessions");
    if (c->io != NULL && rank == 0)
        cco_log(CCO_LOG_WARN, "no record of MPI-IO, because MPI_Init did not pass through"
                              " crestacoll: link it before the MPI library (mpicc ..."
                              " -lcrestacoll does)");
}

void cco_outputs_write(void)
{
    const bool met = cco_job.met;
    const bool whole = cco_ulfm_all_alive(MPI_COMM_WORLD);
    cco_held_signals held;
    cco_hold_signals(&held);
    if (cco_configured.profile != NULL && !cco_profiled_run && cco_world_reports())
        cco_say("no profile: MPI_Init did not pass through crestacoll, and no collective on"
                " MPI_COMM_WORLD did");
    if (cco_profiled_run && whole)
        write_profile();
    else if (cco_profiled_run && cco_world_reports())
        cco_say("no profile: processes have failed");
    if (met && whole)
        cco_validate_finish(cco_job.spawned);
    if (met && cco_configured.io != NULL && whole)
        cco_io_write(MPI_COMM_WORLD, cco_job.spawned);
    else if (met && cco_configured.io != NULL && cco_world_reports())
        cco_say("no record of MPI-IO: processes have failed");
    cco_let_signals_go(&held);
}
