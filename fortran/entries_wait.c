/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_wait.c - src/interpose/wait.c for Fortran, where MPI_Wait*, MPI_Test* and
 * MPI_Request_get_status do not pass the C names; and the ends of split-phase collectives for
 * module cresta_sp_coll.
 *
 * All arguments are addresses, in each of the bindings; statuses go on as they came.  The profiling
 * names of the MPI are absent in a C program, hence weak. */
#include "split/split_end.h"
#include "split/request_data.h"
#include "split/split.h"
#include "base/log.h"
#include "wait/polite.h"
#include "cresta_sp_coll.h"
#include "handles.h"
#include "progress/queue.h"
#include "section.h"

#include <stdlib.h>

enum { FEW = 64 };

/* Requests as C has them: the same array in MPICH, `room` or memory in Open MPI. */
static MPI_Request *c_requests(int count, MPI_Fint *requests, MPI_Request room[FEW])
{
    if (sizeof(MPI_Request) == sizeof(MPI_Fint) || count <= 0)
        return (MPI_Request *)(void *)requests;
    MPI_Request *list = count <= FEW ? room : malloc((size_t)count * sizeof *list);
    if (list == NULL)
        cco_fatal("no memory for %d requests", count);
    for (int i = 0; i < count; i++)
        list[i] = PMPI_Request_f2c(requests[i]);
    return list;
}

static void free_requests(MPI_Request *list, const MPI_Fint *requests, const MPI_Request *room)
{
    if ((const void *)list != (const void *)requests && list != room)
        free(list);
}

/* What is kept for Fortran's requests, which may end. */
typedef struct noted {
    int count;
    MPI_Fint *requests;
    bool any, loops; /* loops: the wait is its test in a loop, at first */
    cco_notes notes;
} noted;

static void note(noted *t, int count, MPI_Fint *requests)
{
    MPI_Request room[FEW];
    *t = (noted){.count = count, .requests = requests, .any = cco_our_requests_any()};
    t->loops = t->any || cco_waits_politely();
    if (!t->any)
        return;
    MPI_Request *list = c_requests(count, requests, room);
    cco_request_data_note(&t->notes, count, list);
    free_requests(list, requests, room);
}

/* A handle that ended is the null one in Fortran; the others mean what they meant. */
static void settle(noted *t)
{
    MPI_Request room[FEW];
    if (!t->any)
        return;
    MPI_Request *list = c_requests(t->count, t->requests, room);
    cco_request_data_settle(&t->notes, list);
    free_requests(list, t->requests, room);
}

/* cco_all_complete for Fortran's requests. */
static void look_at(MPI_Fint count, const MPI_Fint *requests, MPI_Fint *at)
{
    for (int one = 1; one && *at < count; *at += one) {
        const MPI_Request request = PMPI_Request_f2c(requests[*at]);
        int next = 0;
        one = cco_all_complete(1, &request, &next);
    }
}

#pragma GCC visibility push(default)

/* In mpi_f08 `e` may be absent. */
#define FAILED(e) ((e) != NULL && *(e) != MPI_SUCCESS)

/* The MPI's own names for a call; and ours, with what a call does. */
#if defined(OPEN_MPI)
#define OWN(name, parameters)                                                                      \
    void pmpi_##name##_ parameters __attribute__((weak));                                          \
    void pmpi_##name##_f08_ parameters __attribute__((weak));
#define INTERPOSED(name, NAME, parameters, does)                                                   \
    void mpi_##name##_ parameters does(pmpi_, _) void mpi_##name parameters                        \
        __attribute__((alias("mpi_" #name "_")));                                                  \
    void mpi_##name##__ parameters __attribute__((alias("mpi_" #name "_")));                       \
    void MPI_##NAME parameters __attribute__((alias("mpi_" #name "_")));                           \
    void mpi_##name##_f08_ parameters does(pmpi_, _f08_)
#else
/* MPICH's mpif.h and `use mpi` call the C names; its mpi_f08 does not. */
#define OWN(name, parameters) void pmpir_##name##_f08_ parameters __attribute__((weak));
#define INTERPOSED(name, NAME, parameters, does)                                                   \
    void mpi_##name##_f08_ parameters does(pmpir_, _f08_)
#endif

/* A call that does not wait. */
#define LOOK(n, requests, own)                                                                     \
    {                                                                                              \
        noted t;                                                                                   \
        note(&t, n, requests);                                                                     \
        cco_queue_progress(true);                                                                  \
        own;                                                                                       \
        settle(&t);                                                                                \
    }

/* As in src/interpose/wait.c: a wait is its test in a loop while anything of ours is under way,
 * or waits are polite. */
#define WAIT(n, requests, test, over, own)                                                         \
    {                                                                                              \
        noted t;                                                                                   \
        MPI_Fint f = 0;                                                                            \
        bool ended = false;                                                                        \
        (void)f;                                                                                   \
        note(&t, n, requests);                                                                     \
        for (int tries = CCO_PROGRESS_FIRST_TURN;                                                  \
             t.loops && !ended && cco_progress_turn(&tries);) {                                    \
            test;                                                                                  \
            ended = FAILED(e) || (over);                                                           \
        }                                                                                          \
        if (!ended)                                                                                \
            own;                                                                                   \
        settle(&t);                                                                                \
    }

#define OF_WAIT (MPI_Fint * r, void *s, MPI_Fint *e)
#define OF_TEST (MPI_Fint * r, MPI_Fint * f, void *s, MPI_Fint *e)
#define OF_WAITALL (MPI_Fint * n, MPI_Fint * r, void *s, MPI_Fint *e)
#define OF_TESTALL (MPI_Fint * n, MPI_Fint * r, MPI_Fint * f, void *s, MPI_Fint *e)
#define OF_WAITANY (MPI_Fint * n, MPI_Fint * r, void *i, void *s, MPI_Fint *e)
#define OF_TESTANY (MPI_Fint * n, MPI_Fint * r, void *i, MPI_Fint *f, void *s, MPI_Fint *e)
#define OF_SOME (MPI_Fint * n, MPI_Fint * r, MPI_Fint * o, void *i, void *s, MPI_Fint *e)

OWN(wait, OF_WAIT)
OWN(test, OF_TEST)
OWN(waitall, OF_WAITALL)
OWN(testall, OF_TESTALL)
OWN(waitany, OF_WAITANY)
OWN(testany, OF_TESTANY)
OWN(waitsome, OF_SOME)
OWN(testsome, OF_SOME)
OWN(request_get_status, OF_TEST)

#define DO_WAIT(own, end) WAIT(1, r, own##test##end(r, &f, s, e), f, own##wait##end(r, s, e))
#define DO_TEST(own, end) LOOK(1, r, own##test##end(r, f, s, e))
#define DO_WAITALL(own, end)                                                                       \
    {                                                                                              \
        noted t;                                                                                   \
        MPI_Fint at = 0;                                                                           \
        note(&t, *n, r);                                                                           \
        for (int tries = CCO_PROGRESS_FIRST_TURN;                                                  \
             t.loops && at < *n && cco_progress_turn(&tries);)                                     \
            look_at(*n, r, &at);                                                                   \
        own##waitall##end(n, r, s, e);                                                             \
        settle(&t);                                                                                \
    }
#define DO_TESTALL(own, end) LOOK(*n, r, own##testall##end(n, r, f, s, e))
#define DO_WAITANY(own, end)                                                                       \
    WAIT(*n, r, own##testany##end(n, r, i, &f, s, e), f, own##waitany##end(n, r, i, s, e))
#define DO_TESTANY(own, end) LOOK(*n, r, own##testany##end(n, r, i, f, s, e))
#define DO_WAITSOME(own, end)                                                                      \
    WAIT(*n, r, own##testsome##end(n, r, o, i, s, e), *o != 0, own##waitsome##end(n, r, o, i, s, e))
#define DO_TESTSOME(own, end) LOOK(*n, r, own##testsome##end(n, r, o, i, s, e))
#define DO_STATUS(own, end) LOOK(1, r, own##request_get_status##end(r, f, s, e))

INTERPOSED(wait, WAIT, OF_WAIT, DO_WAIT)
INTERPOSED(test, TEST, OF_TEST, DO_TEST)
INTERPOSED(waitall, WAITALL, OF_WAITALL, DO_WAITALL)
INTERPOSED(testall, TESTALL, OF_TESTALL, DO_TESTALL)
INTERPOSED(waitany, WAITANY, OF_WAITANY, DO_WAITANY)
INTERPOSED(testany, TESTANY, OF_TESTANY, DO_TESTANY)
INTERPOSED(waitsome, WAITSOME, OF_SOME, DO_WAITSOME)
INTERPOSED(testsome, TESTSOME, OF_SOME, DO_TESTSOME)
INTERPOSED(request_get_status, REQUEST_GET_STATUS, OF_TEST, DO_STATUS)

/* One request or an array of them, of any rank and perhaps with gaps. */
static void end_or_test(const MPI_Fint *count, CFI_cdesc_t *requests, MPI_Fint *flag,
                        MPI_Fint *ierror)
{
    MPI_Request room[FEW];
    int done = 0;
    cco_f_section section = cco_f_copy_in(requests);
    MPI_Fint *handles = section.address;
    MPI_Request *list = c_requests(*count, handles, room);
    const int rc = flag != NULL ? CRESTA_Coll_test(*count, list, &done)
                                : CRESTA_Coll_end(*count, list);
    for (int i = 0; i < *count; i++)
        handles[i] = PMPI_Request_c2f(list[i]);
    free_requests(list, handles, room);
    cco_f_release(&section, 1);
    if (flag != NULL)
        *flag = done;
    cco_f_return(ierror, rc);
}

void cresta_coll_end_int(MPI_Fint *count, CFI_cdesc_t *requests, MPI_Fint *ierror)
{
    end_or_test(count, requests, NULL, ierror);
}

void cresta_coll_test_int(MPI_Fint *count, CFI_cdesc_t *requests, MPI_Fint *flag, MPI_Fint *ierror)
{
    end_or_test(count, requests, flag, ierror);
}

void cresta_coll_some_int(MPI_Fint *request, MPI_Fint *maxblocks, MPI_Fint *blocks, MPI_Fint *n,
                          MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Coll_some(PMPI_Request_f2c(*request), *maxblocks, blocks, n));
}

void cresta_coll_testsome_int(MPI_Fint *request, MPI_Fint *maxblocks, MPI_Fint *blocks, MPI_Fint *n,
                              MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Coll_testsome(PMPI_Request_f2c(*request), *maxblocks, blocks, n));
}

void cresta_progress_any(MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Progress());
}

void cresta_coll_end_f08(MPI_Fint *count, CFI_cdesc_t *requests, MPI_Fint *ierror)
    __attribute__((alias("cresta_coll_end_int")));
void cresta_coll_some_f08(MPI_Fint *request, MPI_Fint *maxblocks, MPI_Fint *blocks, MPI_Fint *n,
                          MPI_Fint *ierror) __attribute__((alias("cresta_coll_some_int")));
void cresta_coll_testsome_f08(MPI_Fint *request, MPI_Fint *maxblocks, MPI_Fint *blocks, MPI_Fint *n,
                              MPI_Fint *ierror) __attribute__((alias("cresta_coll_testsome_int")));
void cresta_coll_test_f08(MPI_Fint *count, CFI_cdesc_t *requests, MPI_Fint *flag, MPI_Fint *ierror)
    __attribute__((alias("cresta_coll_test_int")));

#pragma GCC visibility pop
