/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - when the counting begins and ends; MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Pcontrol,
 * which say so. */
#include "calls/job.h"

#include "calls/python.h"
#include "calls/wrap.h"

static struct {
    cco_calls_job job;
    uint64_t finalizes, suspended; /* since when; 0: not */
    const void *finalized_at;
} process;

void cco_calls_init(void)
{
    if (!cco_calls_on || process.job.begin.ticks != 0)
        return;
    process.job.begin = cco_clock_now();
    const cco_box_head area = cco_calls_area();
    cco_box_begin(&area);
    cco_calls_main();
    cco_calls_python_begin();
}

void cco_calls_initialized(int rc)
{
    if (rc == MPI_SUCCESS)
        cco_box_rank();
}

void cco_calls_finalized(int rc)
{
    if (rc == MPI_SUCCESS)
        cco_box_end();
}

void cco_calls_finalize(const void *site, const char *frame)
{
    if (!cco_calls_on || process.finalizes != 0)
        return;
    process.finalizes = cco_ticks();
    process.finalized_at = site;
    cco_calls_frame = frame;
    if (cco_calls_watched)
        cco_calls_open(CCO_CALLS_Finalize, site);
}

void cco_calls_control(int level)
{
    const uint64_t now = cco_ticks();
    if (level == 0 && cco_calls_on && !cco_calls_suspended) {
        process.suspended = now;
        cco_calls_suspended = true;
    } else if (level != 0 && process.suspended != 0) {
        process.job.suspended += now - process.suspended;
        process.suspended = 0;
        cco_calls_suspended = false;
    }
}

const cco_calls_job *cco_calls_job_end(void)
{
    cco_calls_control(1);
    process.job.end = cco_clock_now();
    if (process.finalizes != 0)
        cco_calls_leave(
            process.finalizes, process.job.end.ticks,
            (cco_calls_key){process.finalized_at, CCO_CALLS_WHAT(CCO_CALLS_Finalize, 0, 0)}, 0);
    cco_calls_on = false;
    return &process.job;
}

CCO_EXPORT int MPI_Init(int *argc, char ***argv)
{
    CCO_CALLS_NEXT(MPI_Init);
    cco_calls_init();
    CCO_CALLS_ENTER(Init);
    const int rc = next(argc, argv);
    cco_calls_initialized(rc);
    CCO_CALLS_LEAVE(Init, CCO_CALLS_OF_MESSAGES, CCO_CALLS_NO_PEER, 0);
    return rc;
}

CCO_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    CCO_CALLS_NEXT(MPI_Init_thread);
    cco_calls_init();
    CCO_CALLS_ENTER(Init_thread);
    const int rc = next(argc, argv, required, provided);
    cco_calls_initialized(rc);
    CCO_CALLS_LEAVE(Init_thread, CCO_CALLS_OF_MESSAGES, CCO_CALLS_NO_PEER, 0);
    return rc;
}

CCO_EXPORT int MPI_Finalize(void)
{
    CCO_CALLS_NEXT(MPI_Finalize);
    cco_calls_finalize(__builtin_return_address(0), __builtin_frame_address(0));
    const int rc = next();
    cco_calls_finalized(rc);
    return rc;
}

CCO_EXPORT int MPI_Pcontrol(const int level, ...)
{
    CCO_CALLS_NEXT(MPI_Pcontrol);
    cco_calls_control(level);
    return next(level);
}

/* Without an error. */
CCO_EXPORT void mpi_pcontrol_(const MPI_Fint *level);
CCO_EXPORT void mpi_pcontrol_(const MPI_Fint *level)
{
    MPI_Pcontrol(*level);
}
CCO_F_SPELLINGS(pcontrol, PCONTROL, (const MPI_Fint *))
CCO_F_SPELLING(mpi_pcontrol_f08_, mpi_pcontrol_, (const MPI_Fint *))
