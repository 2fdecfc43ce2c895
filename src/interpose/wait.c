/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - MPI_Wait*, MPI_Test* and MPI_Request_get_status, in the linked library too: they move on
 * what is ours (progress/queue.h), and free what was kept for a request (split/request_data.h).
 *
 * While nothing is kept, they read two numbers more than the MPI's own, or call a tool's behind us.
 * Otherwise a wait is its test in a loop while anything of ours is under way, or to its end where
 * waits are polite (wait/polite.h): only the MPI knows which of the requests are inactive, that
 * these never end a wait, and what the statuses are. (MPI_Waitall, for which those are over, looks
 * at them instead: cco_all_complete says why.)
 *
 * A tool behind us sees every one of these calls once, but for an MPI_Waitany or MPI_Waitsome while
 * anything of ours is under way: its wait cannot be a loop of tests.  (Where nothing is, its wait
 * is not polite.)  MPI_Wait and MPI_Waitall only look until all are over, and the tool's call ends
 * them; it does not see how long that took. */
#include "split/split_end.h"
#include "split/request_data.h"
#include "split/split.h"
#include "base/next.h"
#include "base/pause.h"
#include "wait/polite.h"
#include "observe/where_comm.h"
#include "mpi/quirks.h"
#include "progress/queue.h"

/* Tests, with `test` that sets `over` as it says, until then or until nothing of ours is under way;
 * afterwards `wait` for the rest. */
#define CCO_WAIT(rc, test, over, wait)                                                             \
    do {                                                                                           \
        bool cco_over = false;                                                                     \
        for (int tries = CCO_PROGRESS_FIRST_TURN; !cco_over && cco_progress_turn(&tries);) {       \
            rc = test;                                                                             \
            cco_over = rc != MPI_SUCCESS || (over);                                                \
        }                                                                                          \
        if (!cco_over)                                                                             \
            rc = wait;                                                                             \
    } while (0)

/* Whether a wait is more than the MPI's. */
static inline bool interpose_wait_loops(void)
{
    return cco_our_requests_any() || cco_waits_how() != 0;
}

/* Whether waits loop where the MPI's test would pass by a tool behind us. */
#define LOOPS_PAST(x)                                                                              \
    (cco_our_requests_any() || (cco_waits_politely() && CCO_TOOL("MPI_" #x, PMPI_##x) == NULL))

/* Looks until all requests are over, or until nothing of ours is under way; how many were over. */
static int interpose_wait_look(int count, const MPI_Request requests[])
{
    int at = 0;
    for (int tries = CCO_PROGRESS_FIRST_TURN; at < count && cco_progress_turn(&tries);)
        cco_all_complete(count, requests, &at);
    return at;
}

/* Not inlined: then MPI_Wait, where nothing is ours, saves no registers. */
__attribute__((noinline)) static int wait_for_ours(MPI_Request *request, MPI_Status *status)
{
    cco_notes notes;
    int rc, flag = 0;
    cco_where_enter_wait("Wait", 1);
    cco_request_data_note(&notes, 1, request);
    if (CCO_TOOL("MPI_Wait", PMPI_Wait) != NULL) {
        interpose_wait_look(1, request);
        rc = CCO_CALL_NEXT(Wait, (request, status));
    } else {
        CCO_WAIT(rc, PMPI_Test(request, &flag, status), flag, PMPI_Wait(request, status));
    }
    cco_request_data_settle(&notes, request);
    cco_where_leave();
    return rc;
}

CCO_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return interpose_wait_loops() ? wait_for_ours(request, status)
                                  : CCO_CALL_NEXT(Wait, (request, status));
}

/* For process/progress.c. */
int cco_our_wait(MPI_Request *request, MPI_Status *status) __attribute__((alias("MPI_Wait")));

CCO_EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!cco_our_requests_any())
        return CCO_CALL_NEXT(Test, (request, flag, status));
    cco_notes notes;
    cco_request_data_note(&notes, 1, request);
    cco_queue_progress(true);
    const int rc = CCO_CALL_NEXT(Test, (request, flag, status));
    cco_request_data_settle(&notes, request);
    return rc;
}

/* Where one of the requests has failed before, as it may have while others were looked at, Open MPI
 * 4 never returns, with MPI_THREAD_MULTIPLE, and Open MPI 5 returns MPI_SUCCESS, without statuses
 * (docs/mpi-defects.md).  Its MPI_Testall is right, but a tool does not see that. */
static bool must_test(const MPI_Status *statuses, bool looked)
{
    if (!cco_quirk_waitall_failed() && !cco_quirk_waitall_over())
        return false;
    const bool tool = CCO_TOOL("MPI_Waitall", PMPI_Waitall) != NULL;
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    return (level == MPI_THREAD_MULTIPLE && (looked || !tool)) ||
           (cco_quirk_waitall_over() && statuses == MPI_STATUSES_IGNORE && !tool);
}

static int wait_all(int count, MPI_Request requests[], MPI_Status *statuses, bool looked)
{
    int rc, done = 0, tries = 0;
    if (must_test(statuses, looked)) {
        while ((rc = PMPI_Testall(count, requests, &done, statuses)) == MPI_SUCCESS && !done)
            cco_pause_after_mpi(&tries);
        return rc;
    }
    return CCO_CALL_NEXT(Waitall, (count, requests, statuses));
}

/* Where a look would end requests: one after the other, as such MPIs do.  (A handler of the program
 * that comes back makes MPICH 5 return success, without a flag.) */
static int test_each(int count, MPI_Request requests[], MPI_Status *statuses)
{
    enum { UNSET = -1 };
    int rc = MPI_SUCCESS, failed = 0;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        MPI_Status *status = statuses != MPI_STATUSES_IGNORE ? &statuses[i] : MPI_STATUS_IGNORE;
        int over;
        CCO_WAIT(rc, (over = UNSET, PMPI_Test(&requests[i], &over, status)), over != 0,
                 PMPI_Wait(&requests[i], status));
        failed = i;
    }
    if (rc == MPI_SUCCESS)
        return rc;
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++)
        statuses[i].MPI_ERROR = i < failed ? MPI_SUCCESS : i == failed ? rc : MPI_ERR_PENDING;
    return MPI_ERR_IN_STATUS;
}

static int look_and_wait(int count, MPI_Request requests[], MPI_Status *statuses)
{
    if (count >= 0 && cco_quirk_look_ends() && CCO_TOOL("MPI_Waitall", PMPI_Waitall) == NULL)
        return test_each(count, requests, statuses);
    const int over = interpose_wait_look(count, requests);
    return wait_all(count, requests, statuses, over > 0);
}

__attribute__((noinline)) static int wait_for_all(int count, MPI_Request requests[],
                                                  MPI_Status *statuses)
{
    cco_notes notes;
    cco_where_enter_wait("Waitall", count);
    cco_request_data_note(&notes, count, requests);
    const int rc = look_and_wait(count, requests, statuses);
    cco_request_data_settle(&notes, requests);
    cco_where_leave();
    return rc;
}

CCO_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    return interpose_wait_loops() ? wait_for_all(count, requests, statuses)
                                  : CCO_CALL_NEXT(Waitall, (count, requests, statuses));
}

CCO_EXPORT int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
    if (!cco_our_requests_any())
        return CCO_CALL_NEXT(Testall, (count, requests, flag, statuses));
    cco_notes notes;
    cco_request_data_note(&notes, count, requests);
    cco_queue_progress(true);
    const int rc = CCO_CALL_NEXT(Testall, (count, requests, flag, statuses));
    cco_request_data_settle(&notes, requests);
    return rc;
}

static int wait_for_any(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    cco_notes notes;
    int rc, flag = 0;
    cco_request_data_note(&notes, count, requests);
    CCO_WAIT(rc, PMPI_Testany(count, requests, index, &flag, status), flag,
             CCO_CALL_NEXT(Waitany, (count, requests, index, status)));
    cco_request_data_settle(&notes, requests);
    return rc;
}

CCO_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (!interpose_wait_loops())
        return CCO_CALL_NEXT(Waitany, (count, requests, index, status));
    cco_where_enter_wait("Waitany", count);
    const int rc = LOOPS_PAST(Waitany) ? wait_for_any(count, requests, index, status)
                                       : CCO_CALL_NEXT(Waitany, (count, requests, index, status));
    cco_where_leave();
    return rc;
}

CCO_EXPORT int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                           MPI_Status *status)
{
    if (!cco_our_requests_any())
        return CCO_CALL_NEXT(Testany, (count, requests, index, flag, status));
    cco_notes notes;
    cco_request_data_note(&notes, count, requests);
    cco_queue_progress(true);
    const int rc = CCO_CALL_NEXT(Testany, (count, requests, index, flag, status));
    cco_request_data_settle(&notes, requests);
    return rc;
}

static int wait_for_some(int count, MPI_Request requests[], int *done, int indices[],
                         MPI_Status *statuses)
{
    cco_notes notes;
    int rc;
    cco_request_data_note(&notes, count, requests);
    CCO_WAIT(rc, PMPI_Testsome(count, requests, done, indices, statuses), *done != 0,
             CCO_CALL_NEXT(Waitsome, (count, requests, done, indices, statuses)));
    cco_request_data_settle(&notes, requests);
    return rc;
}

CCO_EXPORT int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[],
                            MPI_Status *statuses)
{
    if (!interpose_wait_loops())
        return CCO_CALL_NEXT(Waitsome, (count, requests, done, indices, statuses));
    cco_where_enter_wait("Waitsome", count);
    const int rc = LOOPS_PAST(Waitsome)
                       ? wait_for_some(count, requests, done, indices, statuses)
                       : CCO_CALL_NEXT(Waitsome, (count, requests, done, indices, statuses));
    cco_where_leave();
    return rc;
}

CCO_EXPORT int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[],
                            MPI_Status *statuses)
{
    if (!cco_our_requests_any())
        return CCO_CALL_NEXT(Testsome, (count, requests, done, indices, statuses));
    cco_notes notes;
    cco_request_data_note(&notes, count, requests);
    cco_queue_progress(true);
    const int rc = CCO_CALL_NEXT(Testsome, (count, requests, done, indices, statuses));
    cco_request_data_settle(&notes, requests);
    return rc;
}

/* Ends nothing. */
CCO_EXPORT int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    cco_queue_progress(true);
    const int rc = CCO_CALL_NEXT(Request_get_status, (request, flag, status));
    if (rc == MPI_SUCCESS && *flag)
        cco_request_data_found_over(request);
    return rc;
}
