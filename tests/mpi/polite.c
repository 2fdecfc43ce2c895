/* SPDX-License-Identifier: BSD-3-Clause */
/* polite.c - every call that CRESTA_WAIT makes polite, in every way that is special: through the
 * MPI's own names (PMPI_x) and through the library, which must come to the same.  For two ranks;
 * plain MPI.
 *
 *     polite        with CRESTA_WAIT=polite
 */
#include "polite.h"

#include <pthread.h>
#include <time.h>

enum { MANY = 1 << 18 /* ints: no MPI sends so much before the receiver comes */ };

static char texts[2][1 << 16]; /* what happened: through PMPI_x, through the library */
static size_t used[2];
static int which;
static int big[MANY];

const struct calls *calls;
MPI_Comm comm;
int rank, other;

static const struct calls ways[2] = {
#define CALL(x) .x = PMPI_##x,
    {POLITE_CALLS},
#undef CALL
#define CALL(x) .x = MPI_##x,
    {POLITE_CALLS},
#undef CALL
};

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const size_t room = sizeof texts[0] - used[which];
    const int length = vsnprintf(texts[which] + used[which], room, format, args);
    va_end(args);
    CHECK(length >= 0 && (size_t)length < room, "no room for what happened");
    used[which] += (size_t)length;
}

static int handled;
static MPI_Comm handled_comm;

static void handler(MPI_Comm *c, int *code, ...)
{
    (void)code;
    handled++;
    handled_comm = *c;
}

/* The class, and where the error handler was called. */
void say_rc(const char *what, int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    say("%s: class %d, %d handled%s\n", what, class, handled,
        handled == 0                     ? ""
        : handled_comm == comm           ? " on ours"
        : handled_comm == MPI_COMM_WORLD ? " on the world"
                                         : " elsewhere");
    handled = 0;
}

void say_rc_once(const char *what, int rc)
{
    handled = handled > 0;
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
    /* Its MPI_Waitall calls that of MPI_COMM_SELF; its MPI_Test, which is ours there, the
     * communicator's. */
    if (handled && (handled_comm == MPI_COMM_SELF || handled_comm == comm))
        handled_comm = comm;
#endif
    say_rc(what, rc);
}

void say_status(const char *what, MPI_Status *status, MPI_Datatype type)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(status, type, &count);
    MPI_Test_cancelled(status, &cancelled);
    if (cancelled) /* there is no more in it */
        say("%s: cancelled\n", what);
    else
        say("%s: from %d, tag %d, %d elements\n", what, status->MPI_SOURCE, status->MPI_TAG, count);
}

void late(int who)
{
    if (rank == who)
        nanosleep(&(struct timespec){.tv_nsec = 500 * 1000}, NULL);
}

/* Sums, so that data that went astray show. */
static int sum_of(const int *data, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += (i % 7 + 1) * data[i];
    return sum;
}

static void fill(int *data, int n, int seed)
{
    for (int i = 0; i < n; i++)
        data[i] = seed + i % 1000;
}

/* Each kind of send, small and large, to a receiver that is there or late. */
static void messages(void)
{
    static const int sizes[] = {0, 1, 1000, MANY};
    int (*const sends[])(const void *, int, MPI_Datatype, int, int,
                         MPI_Comm) = {calls->Send, calls->Ssend, calls->Bsend};
    static char room[4 * (sizeof big + MPI_BSEND_OVERHEAD)]; /* for all that is on its way */
    void *back;
    int bytes;
    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < LEN(sizes) * LEN(sends) * 2; i++) {
        const int n = sizes[i / 2 % LEN(sizes)], tag = 10 + i;
        MPI_Status status = {.MPI_ERROR = 4711};
        late(i % 2);
        fill(big, n, rank == 0 ? i : -1);
        if (rank == 0)
            say_rc("send", sends[i / 2 / LEN(sizes)](big, n, MPI_INT, other, tag, comm));
        else if (i % 3 == 0)
            say_rc("recv", calls->Recv(big, n, MPI_INT, other, tag, comm, MPI_STATUS_IGNORE));
        else
            say_rc("recv", calls->Recv(big, MANY, MPI_INT, i % 3 == 1 ? MPI_ANY_SOURCE : other,
                                       i % 3 == 1 ? MPI_ANY_TAG : tag, comm, &status));
        if (rank == 1 && i % 3 != 0)
            say_status("recv", &status, MPI_INT);
        say("sum %d\n", sum_of(big, n));
    }
    MPI_Buffer_detach(&back, &bytes);
}

/* A ready send: the receive is there. */
static void ready(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int data = rank, got = -1;
    MPI_Status status;
    PMPI_Irecv(&got, 1, MPI_INT, other, 5, comm, &request);
    PMPI_Barrier(comm);
    late(1);
    say_rc("rsend", calls->Rsend(&data, 1, MPI_INT, other, 5, comm));
    say_rc("wait", calls->Wait(&request, &status));
    say_status("wait", &status, MPI_INT);
    say("got %d, null %d\n", got, request == MPI_REQUEST_NULL);
}

static void nobody(void)
{
    int data = 7;
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    say_rc("send", calls->Send(&data, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
    say_rc("ssend", calls->Ssend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
    say_rc("rsend", calls->Rsend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
    say_rc("recv", calls->Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &status));
    say_status("recv", &status, MPI_INT);
    say_rc("probe", calls->Probe(MPI_PROC_NULL, 1, comm, &status));
    say_status("probe", &status, MPI_INT);
    say_rc("mprobe", calls->Mprobe(MPI_PROC_NULL, 1, comm, &message, &status));
    say_status("mprobe", &status, MPI_INT);
    say("no process %d\n", message == MPI_MESSAGE_NO_PROC);
    say_rc("mrecv", PMPI_Mrecv(&data, 1, MPI_INT, &message, &status));
    for (int i = 0; i < 4; i++) {
        const int to = i & 1 ? other : MPI_PROC_NULL, from = i & 2 ? other : MPI_PROC_NULL;
        int out = rank + 100, in = -1, both = rank + 200;
        /* the other rank sends if we receive */
        const int give = rank == 0 ? to : from, take = rank == 0 ? from : to;
        say_rc("sendrecv",
               calls->Sendrecv(&out, 1, MPI_INT, give, 3, &in, 1, MPI_INT, take, 3, comm, &status));
        say_status("sendrecv", &status, MPI_INT);
        say_rc("replace",
               calls->Sendrecv_replace(&both, 1, MPI_INT, give, 3, take, 3, comm, &status));
        say_status("replace", &status, MPI_INT);
        say("in %d, both %d\n", in, both);
    }
    say("data %d\n", data);
}

static void exchanges(void)
{
    static const int sizes[] = {0, 1, 1000, MANY};
    static int out[MANY];
    MPI_Datatype odd;
    MPI_Type_vector(50, 3, 7, MPI_INT, &odd);
    MPI_Type_commit(&odd);
    for (int i = 0; i < LEN(sizes); i++) {
        MPI_Status status;
        const int n = sizes[i];
        fill(out, n, rank + i);
        fill(big, n, -1);
        late(i % 2);
        say_rc("sendrecv",
               calls->Sendrecv(out, n, MPI_INT, other, 20 + rank, big, n, MPI_INT,
                               i % 2 ? MPI_ANY_SOURCE : other, 20 + other, comm, &status));
        say_status("sendrecv", &status, MPI_INT);
        say("sum %d\n", sum_of(big, n));
        say_rc("to myself", calls->Sendrecv(out, n, MPI_INT, rank, 20, big, n, MPI_INT, rank, 20,
                                            comm, MPI_STATUS_IGNORE));
        say_rc("replace", calls->Sendrecv_replace(out, n, MPI_INT, other, 30, other, MPI_ANY_TAG,
                                                  comm, &status));
        say_status("replace", &status, MPI_INT);
        say("sums %d %d\n", sum_of(big, n), sum_of(out, n));
    }
    fill(out, 1000, rank);
    say_rc("replace",
           calls->Sendrecv_replace(out, 2, odd, other, 1, other, 1, comm, MPI_STATUS_IGNORE));
    say("sum %d\n", sum_of(out, 1000));
    say_rc("replace",
           calls->Sendrecv_replace(out, 1, odd, rank, 1, rank, 1, comm, MPI_STATUS_IGNORE));
    say("sum %d\n", sum_of(out, 1000));
    MPI_Type_free(&odd);
}

static void probes(void)
{
    for (int i = 0; i < 4; i++) {
        const int n = i < 2 ? 3 : MANY;
        MPI_Status status;
        MPI_Message message;
        fill(big, n, rank == 0 ? i : -1);
        late(i % 2);
        if (rank == 0) {
            MPI_Request first;
            PMPI_Isend(big, n, MPI_INT, other, 40 + i, comm, &first);
            say_rc("send", calls->Send(big, n, MPI_INT, other, 50 + i, comm));
            say_rc("wait", calls->Wait(&first, MPI_STATUS_IGNORE));
            continue;
        }
        say_rc("probe", calls->Probe(i % 2 ? MPI_ANY_SOURCE : other, 50 + i, comm, &status));
        say_status("probe", &status, MPI_INT);
        say_rc("probe", calls->Probe(other, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
        say_rc("mprobe", calls->Mprobe(MPI_ANY_SOURCE, 50 + i, comm, &message, &status));
        say_status("mprobe", &status, MPI_INT);
        say_rc("recv", calls->Recv(big, n, MPI_INT, other, MPI_ANY_TAG, comm, &status));
        say_status("recv", &status, MPI_INT);
        say_rc("mrecv", PMPI_Mrecv(big, n, MPI_INT, &message, &status));
        say_status("mrecv", &status, MPI_INT);
        say("sum %d\n", sum_of(big, n));
    }
}

/* Two threads at a time, if they may: each has a communicator. */
static MPI_Comm of_thread[2];
static int wrong[2];

static void *in_thread(void *what)
{
    const int me = *(int *)what;
    for (int i = 0; i < 200; i++) {
        int out = 1000 * me + i + rank, in = -1;
        calls->Sendrecv(&out, 1, MPI_INT, other, i, &in, 1, MPI_INT, other, i, of_thread[me],
                        MPI_STATUS_IGNORE);
        wrong[me] += in != 1000 * me + i + other;
        if (rank == 0)
            calls->Ssend(&out, 1, MPI_INT, other, i, of_thread[me]);
        else
            calls->Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, of_thread[me],
                        MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void threads(void)
{
    static int numbers[2] = {0, 1};
    pthread_t thread;
    int level;
    MPI_Query_thread(&level);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(comm, &of_thread[i]);
    if (level == MPI_THREAD_MULTIPLE &&
        pthread_create(&thread, NULL, in_thread, &numbers[1]) == 0) {
        in_thread(&numbers[0]);
        pthread_join(thread, NULL);
    }
    say("%d and %d wrong\n", wrong[0], wrong[1]);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&of_thread[i]);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"messages", messages},
    {"ready", ready},
    {"nobody", nobody},
    {"exchanges", exchanges},
    {"probes", probes},
    {"wrong arguments", polite_wrong},
    {"requests", polite_requests},
    {"failed requests", polite_failed},
    {"windows", polite_windows},
    {"threads", threads},
};

/* The first line that is not as it was. */
static void compare(void)
{
    const char *a = texts[0], *b = texts[1];
    for (int line = 1; *a || *b; line++) {
        const int m = (int)strcspn(a, "\n"), n = (int)strcspn(b, "\n");
        if (!CHECK(m == n && strncmp(a, b, (size_t)n) == 0,
                   "line %d: the MPI: '%.*s', ours: '%.*s'", line, m, a, n, b))
            return;
        a += m + (a[m] != '\0');
        b += n + (b[n] != '\0');
    }
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler;
    int level;
    testing_watchdog(20);
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    testing_rank = rank;
    other = 1 - rank;
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    CHECK(ways[0].Recv != ways[1].Recv, "the library has no MPI_Recv here");
    for (int i = 0; i < LEN(parts); i++) {
        for (which = 0; which < 2; which++) {
            snprintf(testing_label, sizeof testing_label, "%s by %s", parts[i].name,
                     which == 0 ? "the MPI" : "the library");
            calls = &ways[which];
            texts[which][used[which] = 0] = '\0';
            parts[i].run();
            PMPI_Barrier(MPI_COMM_WORLD);
        }
        CHECK(used[0] > 0, "nothing was said");
        compare();
    }
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&errhandler);
    MPI_Finalize();
    return testing_end("polite");
}
