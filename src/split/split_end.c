/* SPDX-License-Identifier: BSD-3-Clause */
/* split_end.c - see split_end.h; CRESTA_Coll_end, CRESTA_Coll_test, CRESTA_Progress. */
#include "split/split_end.h"

#include "split/request_data.h"
#include "split/streaming.h"
#include "base/next.h"
#include "base/pause.h"
#include "wait/polite.h"
#include "wait/progress_thread.h"
#include "wait/wait.h"
#include "observe/where_comm.h"
#include "cresta_sp_coll.h"
#include "mpi/grequest.h"
#include "mpi/quirks.h"
#include "progress/queue.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static bool split_end_turn(int *tries, void (*pause)(int *tries))
{
    if (*tries == CCO_PROGRESS_FIRST_TURN)
        *tries = 0;
    else
        pause(tries);
    cco_progress_thread_spare();
    if (!cco_queue_any())
        return cco_waits_politely();
    if (cco_queue_progress(true))
        *tries = 0;
    return true;
}

bool cco_progress_turn(int *tries)
{
    return split_end_turn(tries, cco_pause_after_mpi);
}

bool cco_progress_turn_alone(int *tries)
{
    return split_end_turn(tries, cco_pause);
}

bool cco_all_complete(int count, const MPI_Request requests[], int *at)
{
    int over = 1;
    while (over && requests != NULL && *at < count) {
        const MPI_Request request = requests[*at];
        cco_grequest_only_test(request);
        if (request != MPI_REQUEST_NULL &&
            PMPI_Request_get_status(request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            over = 1; /* its end says what is wrong */
        *at += over;
    }
    cco_grequest_only_test(MPI_REQUEST_NULL);
    return over;
}

/* A tool has seen the MPI's own calls that began, and gets to see their end.  (A tool before us
 * sees no call of ours; so it is the first one in the process.)  NULL if there is none. */
static __typeof__(&PMPI_Waitall) tool_of_ends(void)
{
    static cco_function found;
    return (__typeof__(&PMPI_Waitall))cco_first("MPI_Waitall", &found);
}

/* All are over.  Open MPI 5 loses their errors in MPI_Waitall (docs/mpi-defects.md). */
static int end_by_mpi(int count, MPI_Request requests[])
{
    int rc, done = 0;
    if (!cco_quirk_waitall_over())
        return PMPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    do
        rc = PMPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    while (rc == MPI_SUCCESS && !done);
    return rc;
}

/* The MPI has nothing to wait for, and tells errors. */
static int end_all(int count, MPI_Request requests[])
{
    cco_notes notes;
    cco_streaming_over(count, requests);
    cco_request_data_note(&notes, count, requests);
    const __typeof__(&PMPI_Waitall) tool = tool_of_ends();
    const int rc = tool != NULL ? tool(count, requests, MPI_STATUSES_IGNORE)
                                : end_by_mpi(count, requests);
    cco_request_data_settle(&notes, requests);
    return rc;
}

/* One that may be under way: its test both looks and ends, in fewer instructions.  Nor does it
 * return MPI_ERR_IN_STATUS, but the class of its own error. */
static int end_one(MPI_Request *request)
{
    int tries = CCO_PROGRESS_FIRST_TURN, rc, over = 0;
    cco_notes notes;
    cco_streaming_over(1, request);
    cco_request_data_note(&notes, 1, request);
    do {
        cco_progress_turn(&tries);
        rc = PMPI_Test(request, &over, MPI_STATUS_IGNORE);
    } while (rc == MPI_SUCCESS && !over);
    cco_request_data_settle(&notes, request);
    return rc;
}

static int end_several(int count, MPI_Request requests[])
{
    int tries = CCO_PROGRESS_FIRST_TURN, at = 0;
    do
        cco_progress_turn(&tries);
    while (!cco_all_complete(count, requests, &at));
    return end_all(count, requests);
}

int CRESTA_Coll_end(int count, MPI_Request requests[])
{
    const bool noted = cco_where_on();
    if (noted)
        cco_where_enter_wait("CRESTA_Coll_end", count);
    const int rc = count == 1 && tool_of_ends() == NULL ? end_one(requests)
                                                        : end_several(count, requests);
    if (noted)
        cco_where_leave();
    return rc;
}

int CRESTA_Coll_test(int count, MPI_Request requests[], int *flag)
{
    int at = 0;
    cco_queue_progress(true);
    *flag = cco_all_complete(count, requests, &at);
    return *flag ? end_all(count, requests) : MPI_SUCCESS;
}

int CRESTA_Progress(void)
{
    cco_queue_progress(true);
    return cco_mpi_progress_all();
}
