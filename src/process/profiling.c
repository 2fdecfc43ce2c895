/* SPDX-License-Identifier: BSD-3-Clause */
/* profiling.c - the profile of a part of a program, for crestacoll.profile() in Python; see
 * profiling.h. */
#include "process/profiling.h"

#include <limits.h>
#include <stdlib.h>

#include "process/process.h"
#include "base/clock.h"
#include "comm/comm.h"
#include "profile/common_clock.h"
#include "config/config.h"
#include "mpi/mpi_compat.h"
#include "profile/profile_json.h"
#include "profile/profile_merge.h"
#include "profile/profile_time.h"
#include "profile/profile_waiting.h"
#include "io/record.h"
#include "mpi/service.h"
#include "profile/snapshot.h"
#include "base/world.h"

static struct {
    bool started, was_profiled;
    double start_s;
    int64_t start_here; /* cco_clock_here */
    cco_rows before;    /* of this rank, when it started */
} part;

int cresta_profile_start(void)
{
    cco_process_enter();
    MPI_Comm comm = cco_has_world() ? cco_profile_comm(MPI_COMM_WORLD) : MPI_COMM_NULL;
    if (comm == MPI_COMM_NULL)
        return MPI_ERR_COMM;
    cco_process_count(true);
    if (!part.started) /* else it was left by an error */
        part.was_profiled = cco_profiled;
    if (!cco_profiled) { /* which resumes recording */
        cco_profile_begin(comm, cco_configured.profile_wait);
        cco_comm_for_each(cco_comm_update);
    }
    PMPI_Comm_free(&comm);
    free(part.before.list);
    part.before = cco_snapshot_rows();
    part.start_s = cco_seconds();
    part.start_here = cco_clock_here();
    part.started = true;
    return MPI_SUCCESS;
}

/* The rows of this rank since the start become those of all, on rank 0. */
static cco_rows profiling_collect(MPI_Comm comm)
{
    cco_rows rows = cco_snapshot_rows();
    cco_profile_evaluate(comm, &rows, part.start_here, false);
    cco_rows_subtract(&rows, &part.before);
    cco_rows_finish(&rows);
    cco_rows_merge(comm, &rows);
    free(part.before.list);
    part.before = (cco_rows){0};
    return rows;
}

static char *write_text(const cco_rows *rows, double wall_s, size_t *bytes)
{
    char *text = NULL;
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    FILE *file = open_memstream(&text, bytes);
    if (file == NULL)
        return NULL;
    cco_profile_put(file, rows, &(cco_member_sets){0}, &(cco_timelines){0}, ranks, wall_s, NULL);
    if (fclose(file) == 0 && *bytes < INT_MAX)
        return text;
    free(text);
    return NULL;
}

/* `text` of rank 0 for all; none on all of them if memory runs out on one. */
static int share_text(MPI_Comm comm, int rank, char **text, size_t written)
{
    size_t bytes = *text != NULL ? written + 1 : 0;
    const int rc = cco_service_bcast(&bytes, sizeof bytes, comm);
    if (rc != MPI_SUCCESS)
        return rc;
    if (rank != 0 && bytes > 0)
        *text = malloc(bytes);
    return cco_service_all(*text != NULL, comm) ? cco_service_bcast(*text, bytes, comm)
                                                : MPI_ERR_NO_MEM;
}

static void end_recording(void)
{
    cco_process_count(false);
    if (!part.was_profiled) {
        cco_profiled = cco_profile_active = false;
        cco_comm_for_each(cco_comm_update);
    }
    part.started = false;
}

int cresta_profile_stop(char **json)
{
    int rank;
    size_t bytes = 0;
    const double wall_s = cco_seconds() - part.start_s;
    *json = NULL;
    if (!part.started)
        return MPI_ERR_OTHER;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comm = cco_profile_comm(MPI_COMM_WORLD);
    if (comm == MPI_COMM_NULL) {
        end_recording();
        return MPI_ERR_COMM;
    }
    cco_rows rows = profiling_collect(comm);
    if (rank == 0)
        *json = write_text(&rows, wall_s, &bytes);
    const int rc = share_text(comm, rank, json, bytes);
    free(rows.list);
    PMPI_Comm_free(&comm);
    end_recording();
    if (rc != MPI_SUCCESS) {
        free(*json);
        *json = NULL;
    }
    return rc;
}

void cco_profiling_control(int level)
{
    if (cco_profiled && level != 0 && !cco_profile_active)
        cco_profile_time_resume(cco_ticks());
    if (cco_profiled)
        cco_profile_active = level != 0;
    cco_io_control(level);
}
