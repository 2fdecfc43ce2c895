/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_windows.c - src/interpose/windows.c for Fortran, where these calls do not pass the C
 * names: all bindings of Open MPI, mpi_f08 of MPICH.
 *
 * What is not ours goes on as it came.  The profiling names of the MPI are absent in a C program,
 * hence weak. */
#include "extensions/atomics.h"
#include "handles.h"
#include "section.h"

#pragma GCC visibility push(default)

/* Buffers: addresses in Open MPI, descriptors in MPICH; a section with gaps is copied, since what
 * is ours ends at once. */
#if defined(OPEN_MPI)
typedef void buffer;
static cco_f_section open_buffer(void *address)
{
    return (cco_f_section){.address = address};
}
static void close_buffer(cco_f_section *section, int out)
{
    (void)section, (void)out;
}
#else
typedef CFI_cdesc_t buffer;
static cco_f_section open_buffer(CFI_cdesc_t *argument)
{
    return cco_f_copy_in(argument);
}
static void close_buffer(cco_f_section *section, int out)
{
    cco_f_release(section, out);
}
#endif

static cco_shared_window *ours(const MPI_Fint *win)
{
    return cco_shared_window_of(PMPI_Win_f2c(*win));
}

static void window_made(const MPI_Fint *comm, const MPI_Fint *win)
{
    cco_atomics_window(PMPI_Win_f2c(*win), PMPI_Comm_f2c(*comm));
}

/* An argument of Fortran: where, how many, of which type. */
typedef struct data {
    buffer *at;
    MPI_Count count;
    const MPI_Fint *type;
} data;

static cco_rma_data c_data(const data *d, const cco_f_section *section)
{
    return (cco_rma_data){cco_f_address(section->address), d->count, PMPI_Type_f2c(*d->type)};
}

/* True if the accumulate is done; `result` NULL: it does not fetch. */
static bool accumulate(const data *origin, const data *result, const MPI_Fint *rank,
                       const MPI_Aint *disp, const data *target, const MPI_Fint *op,
                       const MPI_Fint *win, MPI_Fint *request, MPI_Fint *ierror)
{
    cco_shared_window *w = ours(win);
    if (w == NULL)
        return false;
    int rc;
    MPI_Request made = MPI_REQUEST_NULL;
    cco_f_section from = open_buffer(origin->at), to = {0};
    cco_accumulate a = {.origin = c_data(origin, &from), .fetches = result != NULL};
    if (result != NULL) {
        to = open_buffer(result->at);
        a.result = c_data(result, &to);
    }
    a.rank = *rank;
    a.disp = *disp;
    a.count = target->count;
    a.type = PMPI_Type_f2c(*target->type);
    a.op = PMPI_Op_f2c(*op);
    const bool done = cco_atomics_accumulate(w, PMPI_Win_f2c(*win), &a,
                                             request != NULL ? &made : NULL, &rc);
    close_buffer(&from, 0);
    if (result != NULL)
        close_buffer(&to, done);
    if (done && request != NULL)
        *request = PMPI_Request_c2f(made);
    if (done)
        cco_f_return(ierror, rc);
    return done;
}

static bool fetch_and_op(buffer *origin, buffer *result, const MPI_Fint *type, const MPI_Fint *rank,
                         const MPI_Aint *disp, const MPI_Fint *op, const MPI_Fint *win,
                         MPI_Fint *ierror)
{
    cco_shared_window *w = ours(win);
    if (w == NULL)
        return false;
    cco_f_section from = open_buffer(origin), to = open_buffer(result);
    const bool done = cco_fetch_and_op(w, cco_f_address(from.address), cco_f_address(to.address),
                                       PMPI_Type_f2c(*type), *rank, *disp, PMPI_Op_f2c(*op));
    close_buffer(&from, 0);
    close_buffer(&to, done);
    if (done)
        cco_f_return(ierror, MPI_SUCCESS);
    return done;
}

static bool compare_and_swap(buffer *origin, buffer *compare, buffer *result, const MPI_Fint *type,
                             const MPI_Fint *rank, const MPI_Aint *disp, const MPI_Fint *win,
                             MPI_Fint *ierror)
{
    cco_shared_window *w = ours(win);
    if (w == NULL)
        return false;
    cco_f_section from = open_buffer(origin), with = open_buffer(compare), to = open_buffer(result);
    const bool done = cco_compare_and_swap(w, cco_f_address(from.address),
                                           cco_f_address(with.address), cco_f_address(to.address),
                                           PMPI_Type_f2c(*type), *rank, *disp);
    close_buffer(&from, 0);
    close_buffer(&with, 0);
    close_buffer(&to, done);
    if (done)
        cco_f_return(ierror, MPI_SUCCESS);
    return done;
}

#define FAILED(e) ((e) != NULL && *(e) != MPI_SUCCESS)

/* Our names for a call, of which `does` says what it does with the MPI's own. */
#if defined(OPEN_MPI)
#define ONE(ours, own, parameters, arguments, does)                                                \
    void own parameters __attribute__((weak));                                                     \
    void ours parameters                                                                           \
    {                                                                                              \
        does(own arguments)                                                                        \
    }
#define OLD(name, NAME, parameters, arguments, does)                                               \
    ONE(mpi_##name##_, pmpi_##name##_, parameters, arguments, does)                                \
    void mpi_##name parameters __attribute__((alias("mpi_" #name "_")));                           \
    void mpi_##name##__ parameters __attribute__((alias("mpi_" #name "_")));                       \
    void MPI_##NAME parameters __attribute__((alias("mpi_" #name "_")));
#define INTERPOSED(name, NAME, parameters, arguments, does)                                        \
    OLD(name, NAME, parameters, arguments, does)                                                   \
    ONE(mpi_##name##_f08_, pmpi_##name##_f08_, parameters, arguments, does)
#define WITH_BUFFERS(name, NAME, parameters, arguments, does)                                      \
    INTERPOSED(name, NAME, parameters(MPI_Fint), arguments, does)
#define WITH_COUNTS WITH_BUFFERS
#else
/* mpi_f08 passes descriptors of the compiler's own, so that its names are in Fortran
 * (interpose_mpich_windows.F90), which calls these. */
#define HIDDEN __attribute__((visibility("hidden")))
#define WITH_BUFFERS(name, NAME, parameters, arguments, does)                                      \
    HIDDEN void cresta_section_##name parameters(MPI_Fint);                                        \
    void cresta_section_##name parameters(MPI_Fint)                                                \
    {                                                                                              \
        does(own_##name arguments)                                                                 \
    }
#define WITH_COUNTS(name, NAME, parameters, arguments, does)                                       \
    WITH_BUFFERS(name, NAME, parameters, arguments, does)                                          \
    HIDDEN void cresta_section_##name##_large parameters(MPI_Count);                               \
    void cresta_section_##name##_large parameters(MPI_Count)                                       \
    {                                                                                              \
        does(own_##name arguments)                                                                 \
    }
#define ONE(name, f08, parameters, arguments, does)                                                \
    void pmpir_##name##_##f08 parameters __attribute__((weak));                                    \
    void mpi_##name##_##f08 parameters                                                             \
    {                                                                                              \
        does(pmpir_##name##_##f08 arguments)                                                       \
    }

/* The MPI's own call, in C: a section with gaps becomes a datatype, since it only begins here. */
#if defined(CRESTA_HAVE_LARGE_COUNT)
#define OWN(x) PMPI_##x##_c
#define COUNT(section) (section).large_count
#define COUNT_OF(count) (count)
#else
#define OWN(x) PMPI_##x
#define COUNT(section) (section).count
#define COUNT_OF(count) (int)(count)
#endif

static int refused(const MPI_Fint *win)
{
    PMPI_Win_call_errhandler(PMPI_Win_f2c(*win), MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}

static void own(const data *origin, const data *result, const MPI_Fint *rank, const MPI_Aint *disp,
                const data *target, const MPI_Fint *op, const MPI_Fint *win, MPI_Fint *request,
                MPI_Fint *ierror)
{
    MPI_Request made = MPI_REQUEST_NULL;
    cco_f_section from = cco_f_describe(origin->at, origin->count, *origin->type), to = {0};
    if (result != NULL)
        to = cco_f_describe(result->at, result->count, *result->type);
    const MPI_Datatype type = PMPI_Type_f2c(*target->type), type_from = PMPI_Type_f2c(from.type);
    const MPI_Op c_op = PMPI_Op_f2c(*op);
    const MPI_Win w = PMPI_Win_f2c(*win);
    void *at = cco_f_address(from.address), *into = cco_f_address(to.address);
    int rc;
    if (from.error || to.error)
        rc = refused(win);
    else if (result == NULL && request == NULL)
        rc = OWN(Accumulate)(at, COUNT(from), type_from, *rank, *disp, COUNT_OF(target->count),
                             type, c_op, w);
    else if (result == NULL)
        rc = OWN(Raccumulate)(at, COUNT(from), type_from, *rank, *disp, COUNT_OF(target->count),
                              type, c_op, w, &made);
    else if (request == NULL)
        rc = OWN(Get_accumulate)(at, COUNT(from), type_from, into, COUNT(to),
                                 PMPI_Type_f2c(to.type), *rank, *disp, COUNT_OF(target->count),
                                 type, c_op, w);
    else
        rc = OWN(Rget_accumulate)(at, COUNT(from), type_from, into, COUNT(to),
                                  PMPI_Type_f2c(to.type), *rank, *disp, COUNT_OF(target->count),
                                  type, c_op, w, &made);
    cco_f_release(&from, 0);
    cco_f_release(&to, 0);
    if (request != NULL)
        *request = PMPI_Request_c2f(made);
    cco_f_return(ierror, rc);
}

/* One element has no gaps. */
static void own_fetch_and_op(buffer *o, buffer *s, MPI_Fint *t, MPI_Fint *r, MPI_Aint *d,
                             MPI_Fint *op, MPI_Fint *w, MPI_Fint *e)
{
    cco_f_return(e,
                 PMPI_Fetch_and_op(cco_f_address(o->base_addr), cco_f_address(s->base_addr),
                                   PMPI_Type_f2c(*t), *r, *d, PMPI_Op_f2c(*op), PMPI_Win_f2c(*w)));
}

static void own_compare_and_swap(buffer *o, buffer *c, buffer *s, MPI_Fint *t, MPI_Fint *r,
                                 MPI_Aint *d, MPI_Fint *w, MPI_Fint *e)
{
    cco_f_return(e, PMPI_Compare_and_swap(cco_f_address(o->base_addr), cco_f_address(c->base_addr),
                                          cco_f_address(s->base_addr), PMPI_Type_f2c(*t), *r, *d,
                                          PMPI_Win_f2c(*w)));
}

#define own_accumulate(o, on, ot, r, d, n, t, op, w, e)                                            \
    own(ORIGIN, NULL, r, d, TARGET, op, w, NULL, e)
#define own_raccumulate(o, on, ot, r, d, n, t, op, w, q, e)                                        \
    own(ORIGIN, NULL, r, d, TARGET, op, w, q, e)
#define own_get_accumulate(o, on, ot, s, sn, st, r, d, n, t, op, w, e)                             \
    own(ORIGIN, RESULT, r, d, TARGET, op, w, NULL, e)
#define own_rget_accumulate(o, on, ot, s, sn, st, r, d, n, t, op, w, q, e)                         \
    own(ORIGIN, RESULT, r, d, TARGET, op, w, q, e)
#endif

#define OF_ACCUMULATE(C)                                                                           \
    (buffer * o, C * on, MPI_Fint * ot, MPI_Fint * r, MPI_Aint * d, C * n, MPI_Fint * t,           \
     MPI_Fint * op, MPI_Fint * w, MPI_Fint * e)
#define OF_RACCUMULATE(C)                                                                          \
    (buffer * o, C * on, MPI_Fint * ot, MPI_Fint * r, MPI_Aint * d, C * n, MPI_Fint * t,           \
     MPI_Fint * op, MPI_Fint * w, MPI_Fint * q, MPI_Fint * e)
#define OF_GET_ACCUMULATE(C)                                                                       \
    (buffer * o, C * on, MPI_Fint * ot, buffer * s, C * sn, MPI_Fint * st, MPI_Fint * r,           \
     MPI_Aint * d, C * n, MPI_Fint * t, MPI_Fint * op, MPI_Fint * w, MPI_Fint * e)
#define OF_RGET_ACCUMULATE(C)                                                                      \
    (buffer * o, C * on, MPI_Fint * ot, buffer * s, C * sn, MPI_Fint * st, MPI_Fint * r,           \
     MPI_Aint * d, C * n, MPI_Fint * t, MPI_Fint * op, MPI_Fint * w, MPI_Fint * q, MPI_Fint * e)
#define OF_FETCH_AND_OP(C)                                                                         \
    (buffer * o, buffer * s, MPI_Fint * t, MPI_Fint * r, MPI_Aint * d, MPI_Fint * op,              \
     MPI_Fint * w, MPI_Fint * e)
#define OF_COMPARE_AND_SWAP(C)                                                                     \
    (buffer * o, buffer * c, buffer * s, MPI_Fint * t, MPI_Fint * r, MPI_Aint * d, MPI_Fint * w,   \
     MPI_Fint * e)

#define ORIGIN                                                                                     \
    &(data)                                                                                        \
    {                                                                                              \
        o, *on, ot                                                                                 \
    }
#define RESULT                                                                                     \
    &(data)                                                                                        \
    {                                                                                              \
        s, *sn, st                                                                                 \
    }
#define TARGET                                                                                     \
    &(data)                                                                                        \
    {                                                                                              \
        NULL, *n, t                                                                                \
    }
#define DO_ACCUMULATE(own)                                                                         \
    if (!accumulate(ORIGIN, NULL, r, d, TARGET, op, w, NULL, e))                                   \
        own;
#define DO_RACCUMULATE(own)                                                                        \
    if (!accumulate(ORIGIN, NULL, r, d, TARGET, op, w, q, e))                                      \
        own;
#define DO_GET_ACCUMULATE(own)                                                                     \
    if (!accumulate(ORIGIN, RESULT, r, d, TARGET, op, w, NULL, e))                                 \
        own;
#define DO_RGET_ACCUMULATE(own)                                                                    \
    if (!accumulate(ORIGIN, RESULT, r, d, TARGET, op, w, q, e))                                    \
        own;
#define DO_FETCH_AND_OP(own)                                                                       \
    if (!fetch_and_op(o, s, t, r, d, op, w, e))                                                    \
        own;
#define DO_COMPARE_AND_SWAP(own)                                                                   \
    if (!compare_and_swap(o, c, s, t, r, d, w, e))                                                 \
        own;

WITH_COUNTS(accumulate, ACCUMULATE, OF_ACCUMULATE, (o, on, ot, r, d, n, t, op, w, e), DO_ACCUMULATE)
WITH_COUNTS(raccumulate, RACCUMULATE, OF_RACCUMULATE, (o, on, ot, r, d, n, t, op, w, q, e),
            DO_RACCUMULATE)
WITH_COUNTS(get_accumulate, GET_ACCUMULATE, OF_GET_ACCUMULATE,
            (o, on, ot, s, sn, st, r, d, n, t, op, w, e), DO_GET_ACCUMULATE)
WITH_COUNTS(rget_accumulate, RGET_ACCUMULATE, OF_RGET_ACCUMULATE,
            (o, on, ot, s, sn, st, r, d, n, t, op, w, q, e), DO_RGET_ACCUMULATE)
WITH_BUFFERS(fetch_and_op, FETCH_AND_OP, OF_FETCH_AND_OP, (o, s, t, r, d, op, w, e),
             DO_FETCH_AND_OP)
WITH_BUFFERS(compare_and_swap, COMPARE_AND_SWAP, OF_COMPARE_AND_SWAP, (o, c, s, t, r, d, w, e),
             DO_COMPARE_AND_SWAP)

/* The window is made by the MPI; `unit` is an address of its size in the large form. */
#define OF_WINDOW                                                                                  \
    (MPI_Aint * size, void *unit, MPI_Fint *info, MPI_Fint *comm, void *base, MPI_Fint *w,         \
     MPI_Fint *e)
#define WINDOW (size, unit, info, comm, base, w, e)
#define DO_WINDOW(own)                                                                             \
    MPI_Fint made = MPI_SUCCESS;                                                                   \
    MPI_Fint *given = e;                                                                           \
    e = &made;                                                                                     \
    own;                                                                                           \
    if (!FAILED(e))                                                                                \
        window_made(comm, w);                                                                      \
    cco_f_return(given, made);

#if defined(OPEN_MPI)
INTERPOSED(win_allocate, WIN_ALLOCATE, OF_WINDOW, WINDOW, DO_WINDOW)
INTERPOSED(win_allocate_shared, WIN_ALLOCATE_SHARED, OF_WINDOW, WINDOW, DO_WINDOW)
OLD(win_allocate_cptr, WIN_ALLOCATE_CPTR, OF_WINDOW, WINDOW, DO_WINDOW)
OLD(win_allocate_shared_cptr, WIN_ALLOCATE_SHARED_CPTR, OF_WINDOW, WINDOW, DO_WINDOW)
#else
ONE(win_allocate, f08_, OF_WINDOW, WINDOW, DO_WINDOW)
ONE(win_allocate, f08_large_, OF_WINDOW, WINDOW, DO_WINDOW)
ONE(win_allocate_shared, f08_, OF_WINDOW, WINDOW, DO_WINDOW)
ONE(win_allocate_shared, f08_large_, OF_WINDOW, WINDOW, DO_WINDOW)
#endif

#pragma GCC visibility pop
