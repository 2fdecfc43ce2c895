/* SPDX-License-Identifier: BSD-3-Clause */
/* polite_requests.c - the waits of the test `polite`, wrong arguments, and windows. */
#include "polite.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's MPI_STATUSES_IGNORE */
#pragma GCC diagnostic ignored "-Wnonnull"           /* wrong arguments are the point */
#endif

static void wrong_exchanges(int *a, int *b)
{
    MPI_Status status;
    static const struct {
        int scount, dest, stag, rcount, source, rtag;
    } wrong[] = {{-1, 0, 1, 1, 0, 1},           {1, 2, 1, 1, 0, 1}, {1, 0, -5, 1, 0, 1},
                 {1, 0, 1, -1, 0, 1},           {1, 0, 1, 1, 2, 1}, {1, 0, 1, 1, 0, -5},
                 {1, MPI_PROC_NULL, 1, 1, 2, 1}};
    for (int i = 0; i < LEN(wrong); i++) {
        say_rc("sendrecv", calls->Sendrecv(a, wrong[i].scount, MPI_INT, wrong[i].dest,
                                           wrong[i].stag, b, wrong[i].rcount, MPI_INT,
                                           wrong[i].source, wrong[i].rtag, comm, &status));
        if (wrong[i].rcount == wrong[i].scount)
            say_rc("replace",
                   calls->Sendrecv_replace(a, 1, MPI_INT, wrong[i].dest, wrong[i].stag,
                                           wrong[i].source, wrong[i].rtag, comm, &status));
    }
    say_rc("replace count", calls->Sendrecv_replace(a, -1, MPI_INT, 0, 1, 0, 1, comm, &status));
    say_rc("replace type",
           calls->Sendrecv_replace(a, 1, MPI_DATATYPE_NULL, 0, 1, 0, 1, comm, &status));
    say_rc("replace comm",
           calls->Sendrecv_replace(a, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_NULL, &status));
    say_rc("sendrecv types",
           calls->Sendrecv(a, 1, MPI_DATATYPE_NULL, 0, 1, b, 1, MPI_INT, 0, 1, comm, &status));
    say_rc("sendrecv types",
           calls->Sendrecv(a, 1, MPI_INT, 0, 1, b, 1, MPI_DATATYPE_NULL, 0, 1, comm, &status));
}

/* Each is refused before anything is sent. */
void polite_wrong(void)
{
    int a[4] = {0}, b[4] = {0};
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Datatype raw; /* not committed */
    MPI_Type_contiguous(2, MPI_INT, &raw);
    int (*const sends[])(const void *, int, MPI_Datatype, int, int,
                         MPI_Comm) = {calls->Send, calls->Ssend, calls->Rsend};
    for (int i = 0; i < LEN(sends); i++) {
        say_rc("count", sends[i](a, -1, MPI_INT, other, 1, comm));
        say_rc("type", sends[i](a, 1, MPI_DATATYPE_NULL, other, 1, comm));
        say_rc("rank", sends[i](a, 1, MPI_INT, 2, 1, comm));
        say_rc("tag", sends[i](a, 1, MPI_INT, other, -5, comm));
        say_rc("comm", sends[i](a, 1, MPI_INT, other, 1, MPI_COMM_NULL));
        say_rc("raw", sends[i](a, 1, raw, MPI_PROC_NULL, 1, comm));
        say_rc("nobody", sends[i](a, -1, MPI_INT, MPI_PROC_NULL, 1, comm));
    }
    /* (A probe on no communicator ends the job in Open MPI.) */
    say_rc("recv count", calls->Recv(a, -1, MPI_INT, other, 1, comm, &status));
    say_rc("recv type", calls->Recv(a, 1, MPI_DATATYPE_NULL, other, 1, comm, &status));
    say_rc("recv rank", calls->Recv(a, 1, MPI_INT, 2, 1, comm, &status));
    say_rc("recv tag", calls->Recv(a, 1, MPI_INT, other, -5, comm, &status));
    say_rc("recv comm", calls->Recv(a, 1, MPI_INT, other, 1, MPI_COMM_NULL, &status));
    say_rc("recv raw", calls->Recv(a, 1, raw, MPI_PROC_NULL, 1, comm, &status));
    say_rc("probe rank", calls->Probe(2, 1, comm, &status));
    say_rc("probe tag", calls->Probe(other, -5, comm, &status));
    say_rc("mprobe rank", calls->Mprobe(2, 1, comm, &message, &status));
    wrong_exchanges(a, b);
    /* Nothing of all this was sent, and no receive is left. */
    PMPI_Barrier(comm);
    int there = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, MPI_STATUS_IGNORE);
    PMPI_Barrier(comm);
    a[0] = rank;
    say_rc("good",
           calls->Sendrecv(a, 1, MPI_INT, other, 1, b, 1, MPI_INT, other, 1, comm, &status));
    say("left %d, got %d\n", there, b[0]);
    MPI_Type_free(&raw);
}

/* A receive that arrives, a send, one that is cancelled, a null and an inactive one, and a
 * persistent one. */
enum { RECV, SENT, CANCELLED, NONE, INACTIVE, AGAIN, ALL };

static MPI_Request kept[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
static int out = 5, in[6]; /* as many bytes as three of MPI_LONG */

static void begin_all(MPI_Request r[ALL])
{
    for (int i = 0; i < 3; i++)
        in[i] = -1;
    PMPI_Irecv(&in[0], 1, MPI_INT, other, 1, comm, &r[RECV]);
    PMPI_Irecv(&in[1], 1, MPI_INT, other, 999, comm, &r[CANCELLED]);
    PMPI_Cancel(&r[CANCELLED]);
    r[NONE] = MPI_REQUEST_NULL;
    r[INACTIVE] = kept[0];
    r[AGAIN] = kept[1];
    PMPI_Start(&r[AGAIN]);
    late(1);
    PMPI_Isend(&out, 1, MPI_INT, other, 1, comm, &r[SENT]);
    PMPI_Send(&out, 1, MPI_INT, other, 2, comm);
}

static void say_all(const MPI_Request r[ALL])
{
    say("got %d %d %d; null:", in[0], in[1], in[2]);
    for (int i = 0; i < ALL; i++)
        say(" %d", r[i] == MPI_REQUEST_NULL);
    say("; kept %d %d\n", r[INACTIVE] == kept[0], r[AGAIN] == kept[1]);
}

static void one_by_one(int quiet)
{
    MPI_Request r[ALL];
    MPI_Status status;
    begin_all(r);
    for (int i = 0; i < ALL; i++) {
        say_rc("wait", calls->Wait(&r[i], quiet ? MPI_STATUS_IGNORE : &status));
        if (!quiet && i != SENT) /* of a send, only whether it was cancelled */
            say_status("wait", &status, MPI_INT);
    }
    say_all(r);
}

static void all_together(int quiet)
{
    MPI_Request r[ALL];
    MPI_Status statuses[ALL];
    begin_all(r);
    say_rc("waitall", calls->Waitall(ALL, r, quiet ? MPI_STATUSES_IGNORE : statuses));
    for (int i = 0; !quiet && i < ALL; i++)
        if (i != SENT)
            say_status("waitall", &statuses[i], MPI_INT);
    say_all(r);
}

/* In which order they end is up to the MPI. */
static void any(int quiet)
{
    MPI_Request r[ALL];
    int seen = 0, index;
    begin_all(r);
    for (;;) {
        MPI_Status status;
        const int rc = calls->Waitany(ALL, r, &index, quiet ? MPI_STATUS_IGNORE : &status);
        if (rc != MPI_SUCCESS || index == MPI_UNDEFINED)
            break;
        seen |= 1 << index;
    }
    say("seen %x, last %d\n", (unsigned)seen, index == MPI_UNDEFINED);
    say_all(r);
}

static void some(int quiet)
{
    MPI_Request r[ALL];
    MPI_Status statuses[ALL];
    int seen = 0, done = 0, at[ALL];
    begin_all(r);
    while (done != MPI_UNDEFINED) {
        const int rc = calls->Waitsome(ALL, r, &done, at, quiet ? MPI_STATUSES_IGNORE : statuses);
        for (int i = 0; rc == MPI_SUCCESS && i < done; i++)
            seen |= 1 << at[i];
    }
    say("seen %x\n", (unsigned)seen);
    say_all(r);
}

void polite_requests(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status status;
    int index = 0, done = 0;
    PMPI_Recv_init(&in[2], 1, MPI_INT, other, 77, comm, &kept[0]);
    PMPI_Recv_init(&in[2], 1, MPI_INT, other, 2, comm, &kept[1]);
    for (int quiet = 0; quiet < 2; quiet++) {
        one_by_one(quiet);
        all_together(quiet);
        any(quiet);
        some(quiet);
    }
    say_rc("null", calls->Wait(&none, &status));
    say_status("null", &status, MPI_INT);
    say_rc("inactive", calls->Wait(&kept[0], &status));
    say_status("inactive", &status, MPI_INT);
    say_rc("none", calls->Waitall(0, NULL, MPI_STATUSES_IGNORE));
    say_rc("none", calls->Waitany(0, NULL, &index, &status));
    say_rc("none", calls->Waitsome(0, NULL, &done, NULL, MPI_STATUSES_IGNORE));
    say("undefined %d %d\n", index == MPI_UNDEFINED, done == MPI_UNDEFINED);
    for (int i = 0; i < 2; i++)
        PMPI_Request_free(&kept[i]);
}

/* Two messages; that for the first receive is too long.  It comes last: else an MPI ends a wait for
 * both now with the other one pending, now with it done. */
static void begin_wrong(MPI_Request r[2])
{
    static int data[8];
    PMPI_Irecv(&in[0], 1, MPI_INT, other, 1, comm, &r[0]);
    PMPI_Irecv(&in[1], 1, MPI_INT, other, 2, comm, &r[1]);
    late(1);
    PMPI_Send(&out, 1, MPI_INT, other, 2, comm);
    PMPI_Send(data, 8, MPI_INT, other, 1, comm);
}

static void say_left(MPI_Request r[2])
{
    int failed = 0;
    for (int i = 0; i < 2; i++)
        failed += PMPI_Wait(&r[i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
    say_rc("left", failed);
    say("in %d\n", in[1]);
}

/* (With MPI_THREAD_MULTIPLE, Open MPI 4.1 does not return; without statuses, Open MPI 5 loses the
 * error if all are over: docs/mpi-defects.md.) */
static void waitall_failed(void)
{
    MPI_Request r[2];
    MPI_Status statuses[2], *none = MPI_STATUSES_IGNORE;
    int level = MPI_THREAD_SINGLE;
#if defined(OPEN_MPI)
    MPI_Query_thread(&level);
#endif
    if (level == MPI_THREAD_MULTIPLE)
        return;
    begin_wrong(r);
    const int rc = calls->Waitall(2, r, statuses);
    say_rc_once("waitall", rc);
    for (int i = 0; i < 2 && rc != MPI_SUCCESS; i++) { /* which is what MPICH 5 makes of it */
        say_rc("of it", statuses[i].MPI_ERROR);
        say("null %d\n", r[i] == MPI_REQUEST_NULL);
    }
    say_left(r);
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    if (calls->Waitall == PMPI_Waitall)
        none = statuses;
#endif
    begin_wrong(r);
    say_rc_once("waitall", calls->Waitall(2, r, none));
    say_left(r);
}

void polite_failed(void)
{
    MPI_Request r[2];
    MPI_Status status, statuses[2];
    int index = -1, done = -1, data[8] = {0}, at[2] = {-1, -1};
    begin_wrong(r);
    say_rc("wait", calls->Wait(&r[0], &status));
    say("null %d\n", r[0] == MPI_REQUEST_NULL);
    say_left(r);
    waitall_failed();
    begin_wrong(r);
    say_rc("waitany", calls->Waitany(1, r, &index, &status));
    say("index %d, null %d\n", index, r[0] == MPI_REQUEST_NULL);
    say_left(r);
    begin_wrong(r);
    say_rc("waitsome", calls->Waitsome(1, r, &done, at, statuses));
    say_rc("of it", statuses[0].MPI_ERROR);
    say("%d done, index %d, null %d\n", done, at[0], r[0] == MPI_REQUEST_NULL);
    say_left(r);
    if (rank == 0)
        say_rc("send", calls->Send(data, 8, MPI_INT, other, 3, comm));
    else
        say_rc("too long", calls->Recv(data, 2, MPI_INT, other, 3, comm, &status));
    say_rc("sendrecv", calls->Sendrecv(data, 8, MPI_INT, other, 3, in, rank == 0 ? 1 : 3,
                                       rank == 0 ? MPI_INT : MPI_LONG, other, 3, comm, &status));
    say_rc("good", calls->Sendrecv(&out, 1, MPI_INT, other, 3, in, 1, MPI_INT, other, 3, comm,
                                   MPI_STATUS_IGNORE));
    say("in %d\n", in[0]);
}

/* One exposes, the other puts. */
void polite_windows(void)
{
    MPI_Win win;
    MPI_Group all, theirs;
    int memory = -1;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, comm, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &other, &theirs);
    for (int i = 0; i < 4; i++) {
        if (rank == i % 2) {
            PMPI_Win_post(theirs, 0, win);
            say_rc("wait", calls->Win_wait(win));
            say("memory %d\n", memory);
        } else {
            PMPI_Win_start(theirs, 0, win);
            late(rank);
            PMPI_Put(&i, 1, MPI_INT, other, 0, 1, MPI_INT, win);
            PMPI_Win_complete(win);
        }
    }
    say_rc("no epoch", calls->Win_wait(win));
    MPI_Group_free(&theirs);
    MPI_Group_free(&all);
    say_rc("free", MPI_Win_free(&win));
}
