/* SPDX-License-Identifier: BSD-3-Clause */
/* recordings_refused.c - what recordings refuse, and that nothing is left behind: other calls on
 * some ranks, calls that fail, calls that only begin, handles that are none, recordings within each
 * other, communicators that are freed, threads.
 *
 *     recordings_refused IMPL,... [fails]
 *
 * fails: with CRESTA_DEBUG=fail=1, the first transfer fails. */
#include <cresta_multisend.h>
#include <cresta_sp_coll.h>
#include <pthread.h>

#include "choose.h"

static int rank, size;
static MPI_Comm comm;

/* Its buffers stay, for replays. */
static int sum(MPI_Comm on)
{
    static int one = 1, all;
    all = 0;
    CHECK(CRESTA_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, on) == MPI_SUCCESS, "allreduce");
    return all;
}

static void check_comm(void)
{
    CHECK(sum(comm) == size, "the communicator is as before");
}

static void other_calls(void)
{
    CRESTA_Recording recording = 5;
    int one = 1, all, bytes[2] = {0, 0};
    snprintf(testing_label, sizeof testing_label, "other calls");
    CRESTA_Record_begin(comm);
    CRESTA_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
    if (rank == 0) /* and the others begin their recording one call later */
        CHECK(CRESTA_Bcast(bytes, 1, MPI_INT, 0, MPI_COMM_SELF) == MPI_SUCCESS, "bcast");
    CHECK(CRESTA_Record_end(&recording) == MPI_SUCCESS, "the same calls");
    CRESTA_Recording_free(&recording);
    if (rank == 0)
        CRESTA_Record_begin(comm); /* set up already: begins without waiting */
    sum(comm);
    if (rank != 0)
        CRESTA_Record_begin(comm);
    sum(comm);
    recording = 5;
    const int rc = CRESTA_Record_end(&recording);
    CHECK(rc == (size > 1 ? MPI_ERR_ARG : MPI_SUCCESS), "%d for another number of calls", rc);
    CHECK(size == 1 || recording == CRESTA_RECORDING_NULL, "the handle is %d", recording);
    if (size == 1)
        CRESTA_Recording_free(&recording);
    check_comm();
}

static void other_roots(void)
{
    CRESTA_Recording recording;
    int value = 3;
    snprintf(testing_label, sizeof testing_label, "other roots");
    if (size == 1)
        return;
    if (rank == 0)
        CRESTA_Record_begin(comm);
    CRESTA_Bcast(&value, 1, MPI_INT, 0, comm);
    if (rank != 0)
        CRESTA_Record_begin(comm);
    CRESTA_Bcast(&value, 1, MPI_INT, 1, comm);
    const int rc = CRESTA_Record_end(&recording);
    CHECK(rc == MPI_ERR_ARG, "%d for other calls", rc);
    check_comm();
}

/* A call with wrong arguments, which the MPI refuses on all ranks. */
static void failed_calls(void)
{
    CRESTA_Recording recording;
    int one = 1;
    snprintf(testing_label, sizeof testing_label, "failed calls");
    CRESTA_Record_begin(comm);
    CHECK(CRESTA_Bcast(&one, 1, MPI_INT, 99, comm) != MPI_SUCCESS, "root that is no rank");
    const int rc = CRESTA_Record_end(&recording);
    CHECK(rc == MPI_ERR_OTHER && recording == CRESTA_RECORDING_NULL, "%d after a call that failed",
          rc);
    check_comm();
}

static void begun_calls(void)
{
    CRESTA_Recording recording;
    MPI_Request request;
    int one = 1, all = 0, calls = -1;
    snprintf(testing_label, sizeof testing_label, "begun calls");
    CRESTA_Record_begin(comm);
    int rc = CRESTA_Allreduce_begin(&one, &all, 1, MPI_INT, MPI_SUM, comm, &request);
    CHECK(rc == MPI_ERR_UNSUPPORTED_OPERATION && request == MPI_REQUEST_NULL, "%d for a begin", rc);
    rc = CRESTA_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm, &request);
    CHECK(rc == MPI_ERR_UNSUPPORTED_OPERATION && request == MPI_REQUEST_NULL, "%d for Iallreduce",
          rc);
    rc = CRESTA_Exchange(NULL, NULL, NULL, MPI_INT, 0, NULL, &calls, &all, comm);
    CHECK(rc == MPI_ERR_UNSUPPORTED_OPERATION, "%d for an exchange", rc);
    CHECK(CRESTA_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &request) ==
              MPI_SUCCESS,
          "another communicator");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum(comm);
    CHECK(CRESTA_Record_end(&recording) == MPI_SUCCESS, "end");
    CRESTA_Recording_info(recording, &calls, NULL, NULL, NULL, NULL);
    CHECK(calls == 1, "%d calls recorded", calls);
    CRESTA_Recording_free(&recording);
    CHECK(CRESTA_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm, &request) == MPI_SUCCESS,
          "afterwards");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void within_each_other(void)
{
    MPI_Comm other;
    CRESTA_Recording inner, outer;
    int calls = 0;
    snprintf(testing_label, sizeof testing_label, "within each other");
    MPI_Comm_dup(comm, &other);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    CHECK(CRESTA_Record_begin(comm) == MPI_SUCCESS, "begin");
    CHECK(CRESTA_Record_begin(comm) == MPI_ERR_OTHER, "begin again");
    CHECK(CRESTA_Record_begin(other) == MPI_SUCCESS, "begin on another");
    sum(comm);
    sum(other);
    sum(other);
    CHECK(CRESTA_Record_end(&inner) == MPI_SUCCESS, "end of the inner one");
    CHECK(CRESTA_Record_end(&outer) == MPI_SUCCESS, "end of the outer one");
    CRESTA_Recording_info(inner, &calls, NULL, NULL, NULL, NULL);
    CHECK(calls == 2, "%d calls in the inner one", calls);
    CRESTA_Recording_info(outer, &calls, NULL, NULL, NULL, NULL);
    CHECK(calls == 1, "%d calls in the outer one", calls);
    CRESTA_Recording_free(&outer);
    MPI_Comm_free(&other);
    CRESTA_Recording_free(&inner);
    CHECK(CRESTA_Record_end(&inner) == MPI_ERR_OTHER, "end of none");
}

static void freed_while_recorded(void)
{
    MPI_Comm other;
    CRESTA_Recording recording;
    snprintf(testing_label, sizeof testing_label, "freed while recorded");
    MPI_Comm_dup(comm, &other);
    CRESTA_Record_begin(other);
    sum(other);
    MPI_Comm_free(&other);
    CHECK(CRESTA_Record_end(&recording) == MPI_ERR_COMM, "end without the communicator");
    CHECK(CRESTA_Record_begin(MPI_COMM_NULL) == MPI_ERR_COMM, "begin without one");
}

static void wrong_handles(void)
{
    CRESTA_Recording recording, none = CRESTA_RECORDING_NULL, wrong = 4000;
    snprintf(testing_label, sizeof testing_label, "wrong handles");
    CHECK(CRESTA_Replay_start(none) == MPI_ERR_REQUEST, "start of none");
    CHECK(CRESTA_Replay_end(wrong) == MPI_ERR_REQUEST, "end of none");
    CHECK(CRESTA_Recording_free(&none) == MPI_ERR_REQUEST, "free of none");
    CHECK(CRESTA_Recording_info(-1, NULL, NULL, NULL, NULL, NULL) == MPI_ERR_REQUEST, "info");
    CRESTA_Record_begin(comm);
    sum(comm);
    CRESTA_Record_end(&recording);
    CHECK(CRESTA_Replay_end(recording) == MPI_ERR_REQUEST, "end before the start");
    CHECK(CRESTA_Replay_start(recording) == MPI_SUCCESS, "start");
    CHECK(CRESTA_Replay_start(recording) == MPI_ERR_REQUEST, "start twice");
    CHECK(CRESTA_Recording_free(&recording) == MPI_ERR_REQUEST, "free under way");
    CHECK(CRESTA_Replay_end(recording) == MPI_SUCCESS, "end");
    CRESTA_Recording_free(&recording);
    CRESTA_Record_begin(comm); /* no call at all */
    CHECK(CRESTA_Record_end(&recording) == MPI_SUCCESS, "an empty recording");
    CHECK(CRESTA_Replay_start(recording) == MPI_SUCCESS, "start of nothing");
    CHECK(CRESTA_Replay_end(recording) == MPI_SUCCESS, "end of nothing");
    CRESTA_Recording_free(&recording);
}

enum { THREADS = 3, TURNS = 30 };

typedef struct work {
    MPI_Comm comm;
    int number, wrong;
} work;

static void *record_and_replay(void *data)
{
    work *w = data;
    CRESTA_Recording recording;
    int in[2], sums[2], all[64];
    CRESTA_Record_begin(w->comm);
    CRESTA_Allreduce(in, sums, 2, MPI_INT, MPI_SUM, w->comm);
    CRESTA_Allgather(in, 2, MPI_INT, all, 2, MPI_INT, w->comm);
    CRESTA_Record_end(&recording);
    for (int turn = 0; turn < TURNS; turn++) {
        in[0] = turn * (w->number + 1);
        in[1] = rank;
        CRESTA_Replay_start(recording);
        CRESTA_Replay_end(recording);
        w->wrong += sums[0] != size * in[0] || sums[1] != size * (size - 1) / 2;
        for (int i = 0; i < size; i++)
            w->wrong += all[2 * i] != in[0] || all[2 * i + 1] != i;
    }
    CRESTA_Recording_free(&recording);
    return NULL;
}

static void on_threads(void)
{
    pthread_t threads[THREADS];
    work list[THREADS];
    snprintf(testing_label, sizeof testing_label, "threads");
    for (int i = 0; i < THREADS; i++) {
        list[i] = (work){.number = i};
        MPI_Comm_dup(comm, &list[i].comm);
        choose(list[i].comm, testing_impl);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, record_and_replay, &list[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        CHECK(list[i].wrong == 0, "%d values of thread %d are wrong", list[i].wrong, i);
        MPI_Comm_free(&list[i].comm);
    }
}

static void run(const char *impl)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm, impl);
    check_comm();
    other_calls();
    other_roots();
    failed_calls();
    begun_calls();
    within_each_other();
    freed_while_recorded();
    wrong_handles();
    on_threads();
    check_comm();
    MPI_Comm_free(&comm);
}

static int replay(CRESTA_Recording recording)
{
    const int rc = CRESTA_Replay_start(recording);
    return rc == MPI_SUCCESS ? CRESTA_Replay_end(recording) : rc;
}

/* On all ranks: of a recorded call, or, where these run without a schedule, of a replay. */
static void run_failing(const char *impl)
{
    static int mine = 1, all[64];
    CRESTA_Recording recording;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm, impl);
    CHECK(CRESTA_Record_begin(comm) == MPI_SUCCESS, "begin");
    const int called = CRESTA_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    const int ended = CRESTA_Record_end(&recording);
    if (called != MPI_SUCCESS) {
        CHECK(ended == MPI_ERR_OTHER && recording == CRESTA_RECORDING_NULL, "%d", ended);
    } else {
        CHECK(ended == MPI_SUCCESS, "%d", ended);
        CHECK(replay(recording) != MPI_SUCCESS, "a replay without its transfer");
        replay(recording); /* whatever it says, it ends */
        CHECK(CRESTA_Recording_free(&recording) == MPI_SUCCESS, "free");
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int provided;
    testing_watchdog(40);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    testing_each(argc > 1 ? argv[1] : "p2p", argc > 2 ? run_failing : run);
    MPI_Finalize();
    return testing_end("recordings_refused");
}
