/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_wait.c - src/interpose/wait.c for Fortran, where MPI_Wait*, MPI_Test* and
 * MPI_Request_get_status do not pass the C names; and the ends of split-phase collectives for
 * module cresta_sp_coll.
 *
 * All arguments are addresses, in each of the bindings; statuses go on as they came.  The profiling
 * names of the MPI are absent in a C program, hence weak. */
#include "api/split.h"
#include "core/log.h"
#include "cresta_sp_coll.h"
#include "handles.h"
#include "model/tower.h"
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

/* What was taken out for Fortran's requests. */
typedef struct taken {
    int count;
    MPI_Fint *requests;
    cco_kept *kept;
} taken;

/* What the MPI is about to wait for. */
typedef enum wish { ALL, ANY, NOTHING } wish;

static taken take(int count, MPI_Fint *requests, wish wish)
{
    MPI_Request room[FEW];
    taken t = {count, requests, NULL};
    if (!cco_kept_any())
        return t;
    MPI_Request *list = c_requests(count, requests, room);
    t.kept = cco_kept_take(count, list);
    if (wish == NOTHING)
        cco_flights_move(true);
    else
        cco_attend(count, list, wish == ALL);
    free_requests(list, requests, room);
    return t;
}

/* A handle that ended is the null one in Fortran; the others mean what they meant. */
static void settle(taken t)
{
    MPI_Request room[FEW];
    if (t.kept == NULL)
        return;
    MPI_Request *list = c_requests(t.count, t.requests, room);
    cco_kept_settle(t.kept, list);
    free_requests(list, t.requests, room);
}

#pragma GCC visibility push(default)

#if defined(OPEN_MPI)
#define INTERPOSED(name, NAME, parameters, arguments, n, requests, wish)                           \
    void pmpi_##name##_ parameters __attribute__((weak));                                          \
    void mpi_##name##_ parameters                                                                  \
    {                                                                                              \
        taken t = take(n, requests, wish);                                                         \
        pmpi_##name##_ arguments;                                                                  \
        settle(t);                                                                                 \
    }                                                                                              \
    void mpi_##name parameters __attribute__((alias("mpi_" #name "_")));                           \
    void mpi_##name##__ parameters __attribute__((alias("mpi_" #name "_")));                       \
    void MPI_##NAME parameters __attribute__((alias("mpi_" #name "_")));                           \
    void pmpi_##name##_f08_ parameters __attribute__((weak));                                      \
    void mpi_##name##_f08_ parameters                                                              \
    {                                                                                              \
        taken t = take(n, requests, wish);                                                         \
        pmpi_##name##_f08_ arguments;                                                              \
        settle(t);                                                                                 \
    }
#else
/* MPICH's mpif.h and `use mpi` call the C names; its mpi_f08 does not. */
#define INTERPOSED(name, NAME, parameters, arguments, n, requests, wish)                           \
    void pmpir_##name##_f08_ parameters __attribute__((weak));                                     \
    void mpi_##name##_f08_ parameters                                                              \
    {                                                                                              \
        taken t = take(n, requests, wish);                                                         \
        pmpir_##name##_f08_ arguments;                                                             \
        settle(t);                                                                                 \
    }
#endif

INTERPOSED(wait, WAIT, (MPI_Fint * r, void *s, MPI_Fint *e), (r, s, e), 1, r, ALL)
INTERPOSED(test, TEST, (MPI_Fint * r, void *f, void *s, MPI_Fint *e), (r, f, s, e), 1, r, NOTHING)
INTERPOSED(waitall, WAITALL, (MPI_Fint * n, MPI_Fint *r, void *s, MPI_Fint *e), (n, r, s, e), *n, r,
           ALL)
INTERPOSED(testall, TESTALL, (MPI_Fint * n, MPI_Fint *r, void *f, void *s, MPI_Fint *e),
           (n, r, f, s, e), *n, r, NOTHING)
INTERPOSED(waitany, WAITANY, (MPI_Fint * n, MPI_Fint *r, void *i, void *s, MPI_Fint *e),
           (n, r, i, s, e), *n, r, ANY)
INTERPOSED(testany, TESTANY, (MPI_Fint * n, MPI_Fint *r, void *i, void *f, void *s, MPI_Fint *e),
           (n, r, i, f, s, e), *n, r, NOTHING)
INTERPOSED(waitsome, WAITSOME, (MPI_Fint * n, MPI_Fint *r, void *o, void *i, void *s, MPI_Fint *e),
           (n, r, o, i, s, e), *n, r, ANY)
INTERPOSED(testsome, TESTSOME, (MPI_Fint * n, MPI_Fint *r, void *o, void *i, void *s, MPI_Fint *e),
           (n, r, o, i, s, e), *n, r, NOTHING)
INTERPOSED(request_get_status, REQUEST_GET_STATUS, (MPI_Fint * r, void *f, void *s, MPI_Fint *e),
           (r, f, s, e), 1, r, NOTHING)

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

void cresta_progress_any(MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Progress());
}

void cresta_coll_end_f08(MPI_Fint *count, CFI_cdesc_t *requests, MPI_Fint *ierror)
    __attribute__((alias("cresta_coll_end_int")));
void cresta_coll_test_f08(MPI_Fint *count, CFI_cdesc_t *requests, MPI_Fint *flag, MPI_Fint *ierror)
    __attribute__((alias("cresta_coll_test_int")));

#pragma GCC visibility pop
