/* SPDX-License-Identifier: BSD-3-Clause */
/* faulty.c - see faulty.h.  Each is refused by checks of arguments, so that nothing is left half
 * done. */
#include "faulty.h"

#include <setjmp.h>

#include "task.h"
#include "testing/testing.h"

/* MPICH 5 returns success where a handler of the program has come back: docs/mpi-defects.md. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
enum { FORGETS = 1 };
#else
enum { FORGETS = 0 };
#endif

enum handling { RETURNS, COMES_BACK, JUMPS };

static jmp_buf out;
static int seen_class, seen_calls;
static MPI_Comm seen_comm;

static void see(MPI_Comm *comm, int *code, ...)
{
    seen_class = class_of(*code);
    seen_comm = *comm;
    seen_calls++;
}

static void leave(MPI_Comm *comm, int *code, ...)
{
    seen_class = class_of(*code);
    seen_comm = *comm;
    seen_calls++;
    longjmp(out, 1);
}

static struct call wrong_call(struct slot *slot, int which, int *in, int *to)
{
    struct call c = {.sendbuf = in,
                     .sendcount = 1,
                     .sendtype = MPI_INT,
                     .recvbuf = to,
                     .recvcount = 1,
                     .recvtype = MPI_INT,
                     .op = MPI_SUM,
                     .comm = slot->comm};
    const enum coll colls[] = {COLL_Bcast,     COLL_Bcast,     COLL_Reduce,   COLL_Allreduce,
                               COLL_Allgather, COLL_Allreduce, COLL_Alltoall, COLL_Scan};
    c.coll = colls[which];
    if (which == 0 || which == 7)
        c.recvcount = -1;
    if (which == 1 || which == 2)
        c.root = which == 1 ? 99 : -7;
    if (which == 3)
        c.op = MPI_OP_NULL;
    if (which == 4)
        c.recvtype = MPI_DATATYPE_NULL;
    if (which == 5)
        c.op = MPI_BAND, c.recvtype = MPI_DOUBLE;
    if (which == 6)
        c.sendcount = c.recvcount = -2;
    return c;
}

static int make(struct call *c, enum mode mode)
{
    MPI_Request request = MPI_REQUEST_NULL;
    return program.plain ? plain_call(mode, c, false, &request) : call_make(mode, c, &request);
}

/* Its own function: what a longjmp may change is not in registers here. */
static int guarded(struct call *c, enum mode mode, enum handling handling)
{
    if (handling == JUMPS && setjmp(out))
        return -1;
    return make(c, mode);
}

void faulty_call(struct slot *slot, dice d, int record)
{
    const int drawn = below(&d, 7), kind = below(&d, 4);
    const int which = drawn == 5 && !has(CLASS_badop) ? 3 : drawn;
    enum handling handling = below(&d, 3);
    enum mode mode = below(&d, 3) == 0 ? NONBLOCKING : BLOCKING;
    int in[RANKS] = {0}, to[RANKS] = {0};
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL, before;
    if (kind == 0 && mode_exists(SPLIT) && has(CLASS_begin) && has(CLASS_beginerrors))
        mode = SPLIT;
    if (handling == JUMPS && (program.threads || program.sessions || !has(CLASS_jump)))
        handling = RETURNS; /* MPICH jumps out with its lock taken; sessions have one, too */
    if (slot->comm == MPI_COMM_NULL)
        return;
    struct call c = wrong_call(slot, which, in, to);
    say("wrong %s number %d, %s, error handler %d", coll_names[c.coll], which, mode_names[mode],
        handling);
    MPI_Comm_get_errhandler(slot->comm, &before);
    if (handling == RETURNS) {
        MPI_Comm_set_errhandler(slot->comm, MPI_ERRORS_RETURN);
    } else {
        MPI_Comm_create_errhandler(handling == JUMPS ? leave : see, &handler);
        MPI_Comm_set_errhandler(slot->comm, handler);
    }
    seen_calls = 0;
    const int rc = guarded(&c, mode, handling);
    const int class = handling == RETURNS ? class_of(rc) : seen_class;
    CHECK(seen_calls == (handling != RETURNS), "the handler is called %d times", seen_calls);
    CHECK(handling == RETURNS || seen_comm == slot->comm, "the handler of another communicator");
    CHECK(rc != MPI_SUCCESS || (FORGETS && handling == COMES_BACK), "a wrong call succeeds");
    record_put(record, (unsigned long)class);
    MPI_Comm_set_errhandler(slot->comm, before);
    MPI_Errhandler_free(&before);
    if (handler != MPI_ERRHANDLER_NULL)
        MPI_Errhandler_free(&handler);
}
