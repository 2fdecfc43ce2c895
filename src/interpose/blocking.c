/* SPDX-License-Identifier: BSD-3-Clause */
/* blocking.c - the program's blocking sends, receives and probes, and MPI_Win_wait, in the linked
 * library too: by CRESTA_WAIT they go to the MPI, or wait politely (wait/polite.h).
 *
 * A polite receive looks until its message is there, and is then the MPI's own, or a tool's behind
 * us: so statuses are as ever, and errors go to the handler of the communicator.  (Those of a
 * request go to MPI_COMM_WORLD's in MPICH.)  Other calls become the non-blocking one and a loop of
 * tests; where a tool has the call, it is the tool's from the start. */
#include <limits.h>
#include <stdlib.h>

#include "split/split_end.h"
#include "mpi/mpi_compat.h"
#include "base/next.h"
#include "wait/polite.h"
#include "observe/where_comm.h"

/* Asks again and again, with `ask` that sets `over`, until then or until it fails. */
#define ASK(rc, ask, over)                                                                         \
    do {                                                                                           \
        int cco_tries = CCO_PROGRESS_FIRST_TURN;                                                   \
        do {                                                                                       \
            cco_progress_turn(&cco_tries);                                                         \
            rc = ask;                                                                              \
        } while (rc == MPI_SUCCESS && !(over));                                                    \
    } while (0)

/* MPICH 5 returns success where a handler of the program got an error and came back.  Then it
 * has set no flag, and made no request: there is nothing to wait for (docs/mpi-defects.md). */
enum { FORGOTTEN = -1 /* an error; no MPI has negative ones */, UNSET = -1 };

/* ASK with an `ask` that sets `flag` each time. */
#define LOOK(rc, ask, flag)                                                                        \
    do {                                                                                           \
        ASK(rc, ((flag) = UNSET, ask), flag);                                                      \
        if (rc == MPI_SUCCESS && (flag) == UNSET)                                                  \
            rc = FORGOTTEN;                                                                        \
    } while (0)

static int blocking_made(int rc, const MPI_Request *request)
{
    return rc == MPI_SUCCESS && *request == MPI_REQUEST_NULL ? FORGOTTEN : rc;
}

/* What the program gets. */
static int blocking_answer(int rc)
{
    return rc == FORGOTTEN ? MPI_SUCCESS : rc;
}

/* Ends a send, and its request if it was made by MPI_Send_init. */
static int blocking_end(MPI_Request *send)
{
    int rc, over = 0;
    ASK(rc, PMPI_Test(send, &over, MPI_STATUS_IGNORE), over);
    if (*send != MPI_REQUEST_NULL)
        PMPI_Request_free(send);
    return rc;
}

/* Looks until there is a message to receive; FORGOTTEN, see there.  Another thread may get it
 * first. */
static int look_for(int source, int tag, MPI_Comm comm)
{
    int rc, there = 0;
    LOOK(rc, PMPI_Iprobe(source, tag, comm, &there, MPI_STATUS_IGNORE), there);
    return rc;
}

#define TOOL(x) CCO_TOOL("MPI_" #x, PMPI_##x)

#define SEND(x, begin, count_type)                                                                 \
    static int polite_##x(const void *buf, count_type count, MPI_Datatype type, int dest, int tag, \
                          MPI_Comm comm)                                                           \
    {                                                                                              \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        const __typeof__(&PMPI_##x) tool = TOOL(x);                                                \
        if (tool != NULL)                                                                          \
            return tool(buf, count, type, dest, tag, comm);                                        \
        const int rc = PMPI_##begin(buf, count, type, dest, tag, comm, &request);                  \
        return rc == MPI_SUCCESS && request != MPI_REQUEST_NULL ? blocking_end(&request) : rc;     \
    }

/* What the look does not check of a receive, the MPI refuses at once, without a message. */
#define RECV(x, count_type)                                                                        \
    static int polite_##x(void *buf, count_type count, MPI_Datatype type, int source, int tag,     \
                          MPI_Comm comm, MPI_Status *status)                                       \
    {                                                                                              \
        if (count < 0 || !cco_is_type(type) || comm == MPI_COMM_NULL)                              \
            return CCO_CALL_NEXT(x, (buf, count, type, source, tag, comm, status));                \
        const int rc = look_for(source, tag, comm);                                                \
        return rc == MPI_SUCCESS ? CCO_CALL_NEXT(x, (buf, count, type, source, tag, comm, status)) \
                                 : blocking_answer(rc);                                            \
    }

/* The request of the send is made before, and started when the arguments of the receive are known
 * to be good: when the MPI finds a wrong one, it has begun nothing.  (To MPI_PROC_NULL nothing is
 * sent; MPICH 4.0 has a defect with such persistent requests.)  The receive comes before the end of
 * the send: the other rank may wait for it in the same way. */
#define SENDRECV(x, send_now, make, receive, make_receive, count_type)                             \
    static int polite_##x(const void *sendbuf, count_type sendcount, MPI_Datatype sendtype,        \
                          int dest, int sendtag, void *recvbuf, count_type recvcount,              \
                          MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,           \
                          MPI_Status *status)                                                      \
    {                                                                                              \
        MPI_Request send = MPI_REQUEST_NULL, recv = MPI_REQUEST_NULL;                              \
        int rc = MPI_SUCCESS;                                                                      \
        if (TOOL(x) != NULL || comm == MPI_COMM_NULL)                                              \
            return CCO_CALL_NEXT(x, (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,         \
                                     recvcount, recvtype, source, recvtag, comm, status));         \
        if (dest == MPI_PROC_NULL)                                                                 \
            rc = PMPI_##send_now(sendbuf, sendcount, sendtype, dest, sendtag, comm);               \
        else                                                                                       \
            rc = PMPI_##make(sendbuf, sendcount, sendtype, dest, sendtag, comm, &send);            \
        if (dest != MPI_PROC_NULL)                                                                 \
            rc = blocking_made(rc, &send);                                                         \
        if (rc == MPI_SUCCESS && source != MPI_PROC_NULL) {                                        \
            rc = PMPI_##make_receive(recvbuf, recvcount, recvtype, source, recvtag, comm, &recv);  \
            rc = blocking_made(rc, &recv);                                                         \
        }                                                                                          \
        rc = blocking_start(rc, &send, &recv, source, recvtag, comm);                              \
        if (rc == MPI_SUCCESS)                                                                     \
            rc = PMPI_##receive(recvbuf, recvcount, recvtype, source, recvtag, comm, status);      \
        return blocking_answer(blocking_finish(rc, &send));                                        \
    }

static void blocking_drop(MPI_Request *made)
{
    if (*made != MPI_REQUEST_NULL)
        PMPI_Request_free(made);
}

/* Starts the send, if the MPI took both (`rc`), and looks for the message to receive. */
static int blocking_start(int rc, MPI_Request *send, MPI_Request *recv, int source, int tag,
                          MPI_Comm comm)
{
    blocking_drop(recv);
    if (rc == MPI_SUCCESS && *send != MPI_REQUEST_NULL)
        rc = PMPI_Start(send);
    if (rc != MPI_SUCCESS)
        blocking_drop(send);
    return rc == MPI_SUCCESS && source != MPI_PROC_NULL ? look_for(source, tag, comm) : rc;
}

/* Ends the send, if it was started; the first error counts. */
static int blocking_finish(int rc, MPI_Request *send)
{
    const int ended = *send != MPI_REQUEST_NULL ? blocking_end(send) : MPI_SUCCESS;
    return rc != MPI_SUCCESS ? rc : ended;
}

SEND(Send, Isend, int)
SEND(Ssend, Issend, int)
SEND(Rsend, Irsend, int)
RECV(Recv, int)
SENDRECV(Sendrecv, Send, Send_init, Recv, Recv_init, int)
#if defined(CRESTA_HAVE_LARGE_COUNT)
SEND(Send_c, Isend_c, MPI_Count)
SEND(Ssend_c, Issend_c, MPI_Count)
SEND(Rsend_c, Irsend_c, MPI_Count)
RECV(Recv_c, MPI_Count)
SENDRECV(Sendrecv_c, Send_c, Send_init_c, Recv_c, Recv_init_c, MPI_Count)
#endif

/* A copy of what is sent, whose length an int can hold; NULL if the MPI had better do it, or finds
 * an argument wrong, which `rc` tells. */
static void *blocking_pack(const void *buf, int count, MPI_Datatype type, MPI_Comm comm, int *bytes,
                           int *rc)
{
    enum { SPARE = 1 << 20 }; /* what an MPI may add */
    MPI_Count size = 0;
    void *packed = NULL;
    int room = 0;
    *bytes = 0;
    *rc = MPI_SUCCESS;
    if (comm == MPI_COMM_NULL || !cco_is_type(type) || count < 0 ||
        PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0 ||
        (size > 0 && count > (INT_MAX - SPARE) / size))
        return NULL;
    *rc = PMPI_Pack_size(count, type, comm, &room);
    if (*rc == MPI_SUCCESS)
        packed = malloc((size_t)room + 1);
    if (packed != NULL)
        *rc = PMPI_Pack(buf, count, type, packed, room, bytes, comm);
    return packed;
}

static int polite_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int sendtag,
                                   int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request send = MPI_REQUEST_NULL, recv = MPI_REQUEST_NULL;
    int rc, bytes;
    const __typeof__(&PMPI_Sendrecv_replace) tool = TOOL(Sendrecv_replace);
    if (tool != NULL)
        return tool(buf, count, type, dest, sendtag, source, recvtag, comm, status);
    if (dest == MPI_PROC_NULL)
        return polite_Sendrecv(buf, count, type, dest, sendtag, buf, count, type, source, recvtag,
                               comm, status);
    void *packed = blocking_pack(buf, count, type, comm, &bytes, &rc);
    if (packed == NULL && rc == MPI_SUCCESS)
        return PMPI_Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm,
                                     status);
    if (rc == MPI_SUCCESS) {
        rc = PMPI_Send_init(packed, bytes, MPI_PACKED, dest, sendtag, comm, &send);
        rc = blocking_made(rc, &send);
    }
    if (rc == MPI_SUCCESS && source != MPI_PROC_NULL) {
        rc = PMPI_Recv_init(buf, count, type, source, recvtag, comm, &recv);
        rc = blocking_made(rc, &recv);
    }
    rc = blocking_start(rc, &send, &recv, source, recvtag, comm);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Recv(buf, count, type, source, recvtag, comm, status);
    rc = blocking_finish(rc, &send);
    free(packed);
    return blocking_answer(rc);
}

static int polite_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int rc, there = 0;
    const __typeof__(&PMPI_Probe) tool = TOOL(Probe);
    if (tool != NULL) {
        rc = look_for(source, tag, comm);
        return rc == MPI_SUCCESS ? tool(source, tag, comm, status) : blocking_answer(rc);
    }
    LOOK(rc, PMPI_Iprobe(source, tag, comm, &there, status), there);
    return blocking_answer(rc);
}

static int polite_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                         MPI_Status *status)
{
    int rc, there = 0;
    const __typeof__(&PMPI_Mprobe) tool = TOOL(Mprobe);
    if (tool != NULL) {
        rc = look_for(source, tag, comm);
        return rc == MPI_SUCCESS ? tool(source, tag, comm, message, status) : blocking_answer(rc);
    }
    LOOK(rc, PMPI_Improbe(source, tag, comm, &there, message, status), there);
    return blocking_answer(rc);
}

static int polite_Win_wait(MPI_Win win)
{
    int rc, over = 0;
    const __typeof__(&PMPI_Win_wait) tool = TOOL(Win_wait);
    if (tool != NULL)
        return tool(win);
    LOOK(rc, PMPI_Win_test(win, &over), over);
    return blocking_answer(rc);
}

/* Where the calls go now: to the polite ones, a tool behind us, or the MPI; at first, and after a
 * change, to what finds that out.  So a call that is not polite takes a few instructions more than
 * the MPI's. */
#define CCO_BLOCKING(x, parameters, arguments, where) static int first_##x parameters;
#include "interpose/blocking.def"
#undef CCO_BLOCKING

typedef struct calls {
#define CCO_BLOCKING(x, parameters, arguments, where) int(*x) parameters;
#include "interpose/blocking.def"
#undef CCO_BLOCKING
} calls;

static calls now = {
#define CCO_BLOCKING(x, parameters, arguments, where) .x = first_##x,
#include "interpose/blocking.def"
#undef CCO_BLOCKING
};

/* Where those go that are noted first. */
static calls behind;

static void blocking_forget(void)
{
#define CCO_BLOCKING(x, parameters, arguments, where)                                              \
    __atomic_store_n(&now.x, first_##x, __ATOMIC_RELEASE);
#include "interpose/blocking.def"
#undef CCO_BLOCKING
}

#define CCO_PLACE(comm, to, from, tag) comm, to, from, tag

/* PMPI_x by the loader's table, which asks for it when it is called: a preloaded shell has none.
 * Where the setting changes while a call looks, it is asked again. */
#define CCO_BLOCKING(x, parameters, arguments, where)                                              \
    static int own_##x parameters                                                                  \
    {                                                                                              \
        return PMPI_##x arguments;                                                                 \
    }                                                                                              \
    static int noted_##x parameters                                                                \
    {                                                                                              \
        int(*then) parameters = __atomic_load_n(&behind.x, __ATOMIC_RELAXED);                      \
        cco_where_enter_message(#x, CCO_PLACE where);                                              \
        const int rc = then arguments;                                                             \
        cco_where_leave();                                                                         \
        return rc;                                                                                 \
    }                                                                                              \
    static int first_##x parameters                                                                \
    {                                                                                              \
        cco_polite_on_change(blocking_forget);                                                     \
        const unsigned how = cco_waits_how();                                                      \
        int(*found) parameters = TOOL(x);                                                          \
        if (how & CCO_WAITS_POLITELY)                                                              \
            found = polite_##x;                                                                    \
        else if (found == NULL)                                                                    \
            found = own_##x;                                                                       \
        __atomic_store_n(&behind.x, found, __ATOMIC_SEQ_CST);                                      \
        if (how & CCO_WAITS_NOTED)                                                                 \
            found = noted_##x;                                                                     \
        __atomic_store_n(&now.x, found, __ATOMIC_SEQ_CST);                                         \
        if (how != cco_waits_how())                                                                \
            blocking_forget();                                                                     \
        return found arguments;                                                                    \
    }                                                                                              \
    CCO_EXPORT int MPI_##x parameters                                                              \
    {                                                                                              \
        int(*here) parameters = __atomic_load_n(&now.x, __ATOMIC_RELAXED);                         \
        return here arguments;                                                                     \
    }
#include "interpose/blocking.def"
#undef CCO_BLOCKING
