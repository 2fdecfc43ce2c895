/* SPDX-License-Identifier: BSD-3-Clause */
/* refused.c - what the MPI refuses in the arguments of any blocking collective is refused under
 * every implementation, in C or by the Fortran bindings: the error handler is called once, with the
 * MPI's error class, and the error names the collective that the program called.  Each call is
 * wrong on all ranks, is made by the MPI first, and is left out if that takes it: on a communicator
 * without a call before, and on one where the right call has come before several times.
 *
 *     refused IMPL,... */
#include <stdarg.h>
#include <stdint.h>

#include "call.h"
#include "choose.h"

enum { N = 4, RANKS = 8 }; /* elements of a block */

#ifdef OPEN_MPI
enum { MPICHS = false }; /* it looks at no buffers, */
#else
enum {
    MPICHS = true
}; /* and MPICH at no arrays, nor at counts of reductions and at what has none */
#endif

#ifdef FORTRAN
enum { FORTRANS = true }; /* an array is always there, and what was freed is no number's */
#else
enum { FORTRANS = false };
#endif

static int in[N * RANKS], out[N * RANKS];
static int counts[RANKS], negative[RANKS], places[RANKS], steps[RANKS];
static MPI_Datatype ints[RANKS], wrong_types[2][RANKS], loose, pair;
static MPI_Comm freed;
static MPI_Fint freed_number;
static int size;

/* What an error handler got last: how often, which class, of which function. */
static struct told {
    int calls, class;
    char name[64];
} told;

static void note(int code, const char *where)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_class(code, &told.class);
    MPI_Error_string(code, text, &length);
    if (where == NULL)
        where = strstr(text, "MPI_"); /* MPICH: "...(123): MPI_Bcast(buf=...) failed" */
    if (where != NULL)
        snprintf(told.name, sizeof told.name, "%.*s", (int)strcspn(where, "("), where);
    told.calls++;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
#ifdef OPEN_MPI
    va_list more;
    va_start(more, code);
    note(*code, va_arg(more, const char *)); /* it tells the function */
    va_end(more);
#else
    note(*code, NULL);
#endif
}

#ifdef FORTRAN
/* tests/fortran/refused.F90, once for each binding. */
typedef void maker(const char *coll, int length, int plainly, const void *sendbuf,
                   const int *sendcount, MPI_Fint sendtype, const int *sendcounts,
                   const int *senddispls, const MPI_Fint *sendtypes, void *recvbuf,
                   const int *recvcount, MPI_Fint recvtype, const int *recvcounts,
                   const int *recvdispls, const MPI_Fint *recvtypes, int ranks, MPI_Fint op,
                   const int *root, MPI_Fint comm, int *error);
maker refused_mpif, refused_usempi, refused_f08;
intptr_t place_mpif(void), place_usempi(void), place_f08(void);

static const struct {
    const char *name;
    maker *make;
    intptr_t (*place)(void); /* of MPI_IN_PLACE */
} bindings[] = {{"mpif.h", refused_mpif, place_mpif},
                {"use mpi", refused_usempi, place_usempi},
                {"use mpi_f08", refused_f08, place_f08}};
static int binding;

static void *buffer_of(const void *buffer)
{
    return buffer == MPI_IN_PLACE ? (void *)bindings[binding].place() : (void *)(intptr_t)buffer;
}

static int make_call(const struct call *q, bool plainly)
{
    MPI_Fint types[2][RANKS];
    int error = MPI_SUCCESS;
    for (int i = 0; i < size; i++) {
        types[0][i] = MPI_Type_c2f(q->sendtypes[i]);
        types[1][i] = MPI_Type_c2f(q->recvtypes[i]);
    }
    bindings[binding].make(coll_names[q->coll], (int)strlen(coll_names[q->coll]), plainly,
                           buffer_of(q->sendbuf), &q->sendcount, MPI_Type_c2f(q->sendtype),
                           q->sendcounts, q->senddispls, types[0], buffer_of(q->recvbuf),
                           &q->recvcount, MPI_Type_c2f(q->recvtype), q->recvcounts, q->recvdispls,
                           types[1], size, MPI_Op_c2f(q->op), &q->root,
                           q->comm == freed ? freed_number : MPI_Comm_c2f(q->comm), &error);
    return error;
}
#else
static const struct {
    const char *name;
} bindings[] = {{"C"}};
static int binding;

#define DO_PLAIN(Name, name)                                                                       \
    case COLL_##Name:                                                                              \
        return PMPI_##Name(ARGS_##Name);
static int make_call(const struct call *q, bool plainly)
{
    MPI_Request request;
    if (!plainly)
        return call_make(BLOCKING, q, &request);
    switch (q->coll) {
        MPI_COLLECTIVES(DO_PLAIN)
    default:
        return MPI_ERR_OTHER;
    }
}
#endif

static struct call right_call(enum coll coll, MPI_Comm comm)
{
    const bool bytes = coll == COLL_Alltoallw;
    for (int i = 0; i < size; i++) {
        counts[i] = N, places[i] = N * i, steps[i] = N * (int)sizeof(int) * i;
        ints[i] = MPI_INT, negative[i] = i == 0 ? -3 : N;
    }
    return (struct call){.coll = coll,
                         .sendbuf = in,
                         .recvbuf = out,
                         .sendcount = N,
                         .recvcount = N,
                         .sendtype = MPI_INT,
                         .recvtype = MPI_INT,
                         .sendcounts = counts,
                         .recvcounts = counts,
                         .senddispls = bytes ? steps : places,
                         .recvdispls = bytes ? steps : places,
                         .sendtypes = ints,
                         .recvtypes = ints,
                         .op = MPI_SUM,
                         .comm = comm};
}

/* Each of these makes the call wrong in its `i`-th way and says what that is.  "" if the collective
 * has nothing of the kind, or the MPI does not survive it; NULL after the last. */
typedef const char *spoiler(struct call *c, const struct coll_shape *s, int i);

/* One buffer of a rooted call would be wrong on one side only.  MPICH crashes in a bcast in place.
 */
static const char *spoil_buffers(struct call *c, const struct coll_shape *s, int i)
{
    const bool one = c->coll == COLL_Bcast, sided = s->rooted && !one;
    switch (i) {
    case 0:
        c->sendbuf = NULL;
        return MPICHS && !one && !sided ? "null send buffer" : "";
    case 1:
        c->recvbuf = NULL;
        return MPICHS && !sided ? "null receive buffer" : "";
    case 2:
        c->sendbuf = c->recvbuf = NULL;
        return MPICHS && !one ? "null buffers" : "";
    case 3:
        c->recvbuf = MPI_IN_PLACE;
        return (one ? !MPICHS : !s->rooted) && (MPICHS || c->coll != COLL_Exscan)
                   ? "receives in place"
                   : "";
    default:
        return NULL;
    }
}

static const char *spoil_counts(struct call *c, const struct coll_shape *s, int i)
{
    const bool two = !s->reduces && c->coll != COLL_Bcast, fit = !s->uneven && !s->reduces;
    switch (i) {
    case 0:
        c->sendcount = -1;
        return two && fit && !s->rooted ? "sends -1" : "";
    case 1:
        c->recvcount = -1;
        return (fit && !s->rooted) || (s->reduces && !MPICHS && !s->uneven) ? "takes -1" : "";
    case 2:
        c->sendcount = c->recvcount = -5;
        return fit ? "-5 elements" : "";
    case 3:
        c->sendcounts = c->recvcounts = negative;
        return c->coll == COLL_Alltoallv || c->coll == COLL_Alltoallw ? "-3 in an array" : "";
    case 4:
        c->sendcounts = c->recvcounts = NULL;
        return s->uneven && !s->rooted && !MPICHS && !FORTRANS && c->coll != COLL_Allgatherv
                   ? "no counts"
                   : "";
    case 5:
        c->senddispls = c->recvdispls = NULL;
        return s->uneven && !s->rooted && !s->reduces && !MPICHS && !FORTRANS ? "no places" : "";
    default:
        return NULL;
    }
}

static void set_type(struct call *c, MPI_Datatype type, bool sends, bool takes)
{
    for (int i = 0; i < size; i++)
        wrong_types[0][i] = wrong_types[1][i] = MPI_INT;
    if (sends)
        c->sendtype = wrong_types[0][0] = type, c->sendtypes = wrong_types[0];
    if (takes)
        c->recvtype = wrong_types[1][0] = type, c->recvtypes = wrong_types[1];
}

/* Open MPI 4 itself crashes over some. */
static bool survives(const struct call *c, const struct coll_shape *s, int kind, int side)
{
    const bool gathers = side == 1 && s->receives_all && !s->sends_all;
    const bool scatters = c->coll == COLL_Scatter || c->coll == COLL_Scatterv;
    return MPICHS || kind == 0 || (kind == 1 ? !gathers && !scatters : !gathers && !s->reduces);
}

/* No type, one that is not committed, a variable that was never set; of nothing, too. */
static const char *spoil_types(struct call *c, const struct coll_shape *s, int i)
{
    static const char *const what[] = {"no type", "a type that is not committed", "type 0"};
    enum { KINDS = 3, SIDES = 3, WAYS = KINDS * SIDES };
    const MPI_Datatype types[KINDS] = {MPI_DATATYPE_NULL, loose, (MPI_Datatype)0};
    const bool two = !s->reduces && c->coll != COLL_Bcast;
    const bool nothing = i >= WAYS;
    if (i >= WAYS + KINDS)
        return NULL;
    const int side = nothing ? 2 : i / KINDS;
    set_type(c, types[i % KINDS], side != 1, side != 0);
    for (int k = 0; nothing && k < size; k++)
        counts[k] = 0;
    if (nothing)
        c->sendcount = c->recvcount = 0;
    if ((nothing && MPICHS) || (side < 2 && (!two || s->rooted)) ||
        !survives(c, s, i % KINDS, side))
        return "";
    return what[i % KINDS];
}

static const char *spoil_operations(struct call *c, const struct coll_shape *s, int i)
{
    static const char *const what[] = {"no operation",
                                       "operation 0",
                                       "bits of reals",
                                       "places of numbers",
                                       "sum of a type of its own",
                                       "MPI_REPLACE",
                                       "bits of no reals"};
    const MPI_Op ops[] = {MPI_OP_NULL, (MPI_Op)0,   MPI_BAND, MPI_MINLOC,
                          MPI_SUM,     MPI_REPLACE, MPI_BAND};
    if (i >= LEN(ops))
        return NULL;
    c->op = ops[i];
    if (ops[i] == MPI_BAND || i == 4)
        c->recvtype = i == 4 ? pair : MPI_DOUBLE, c->recvcount = i == 6 ? 0 : 1;
    for (int k = 0; s->uneven && k < size; k++)
        counts[k] = c->recvcount;
    return s->reduces && (MPICHS || i != 1) ? what[i] : ""; /* Open MPI 4 crashes over that, too */
}

static const char *spoil_root(struct call *c, const struct coll_shape *s, int i)
{
    const int roots[] = {-1, size, 99, MPI_PROC_NULL, MPI_ROOT};
    if (i >= LEN(roots))
        return NULL;
    c->root = roots[i];
    return s->rooted ? "root that is no rank" : "";
}

/* None, one whose communicator was freed, a variable that was never set.  Open MPI 4 itself crashes
 * over the freed one, over all in allgather, and in Fortran's alltoallw over what has no number.
 * MPICH's mpi_f08 copies as many types there as an unset variable says.
 * What the MPI calls is the world's handler. */
static const char *spoil_communicator(struct call *c, const struct coll_shape *s, int i)
{
    static const char *const what[] = {"no communicator", "communicator 0", "a freed communicator"};
    const MPI_Comm comms[] = {MPI_COMM_NULL, (MPI_Comm)0, freed};
    (void)s;
    if (i >= LEN(comms))
        return NULL;
    c->comm = comms[i];
    const bool fortran_w = FORTRANS && c->coll == COLL_Alltoallw;
    const bool crashes = MPICHS ? fortran_w
                                : c->coll == COLL_Allgather ||
                                      (i > 0 && (FORTRANS ? fortran_w : i == 2));
    return crashes ? "" : what[i];
}

static struct told tell(int rc)
{
    struct told now = told;
    told = (struct told){0};
    if (rc != MPI_SUCCESS && now.calls == 0)
        MPI_Error_class(rc, &now.class);
    return now;
}

/* MPICH's functions name themselves, or their profiling entries. */
static const char *bare(const char *name)
{
    return name + (*name == 'P');
}

/* `right`: what the call has if its communicator is not what is wrong. */
static void try(struct call *c, MPI_Comm right, MPI_Comm reference)
{
    const MPI_Comm comm = c->comm;
    int some;
    if (comm == right)
        c->comm = reference;
    const struct told want = tell(make_call(c, true));
    PMPI_Allreduce(&want.class, &some, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (some == MPI_SUCCESS)
        return;
    c->comm = comm;
    const struct told got = tell(make_call(c, false));
    /* Open MPI's Fortran asks for the size first, and calls the handler for that. */
    const bool as_often = got.calls == want.calls ||
                          (FORTRANS && got.calls == 1 && want.calls == 2);
    CHECK(got.class == want.class && as_often,
          "the handler is called %d times, with class %d; the MPI's: %d, %d", got.calls, got.class,
          want.calls, want.class);
    CHECK(strcmp(bare(got.name), bare(want.name)) == 0, "the error names %s; the MPI's %s",
          got.name, want.name);
}

static void try_all(enum coll coll, MPI_Comm comm, MPI_Comm reference, const char *when)
{
    static spoiler *const spoilers[] = {spoil_buffers,    spoil_counts, spoil_types,
                                        spoil_operations, spoil_root,   spoil_communicator};
    for (int k = 0; k < LEN(spoilers); k++)
        for (int i = 0;; i++) {
            struct call c = right_call(coll, comm);
            const char *what = spoilers[k](&c, &coll_shapes[coll], i);
            if (what == NULL)
                break;
            snprintf(testing_label, sizeof testing_label, "%s, %s, %s, %s", bindings[binding].name,
                     coll_names[coll], what, when);
            if (*what != '\0')
                try(&c, comm, reference);
        }
}

static MPI_Comm make(const char *impl, MPI_Errhandler errhandler)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, errhandler);
    if (impl != NULL)
        choose(comm, impl);
    return comm;
}

/* The one that is freed first: MPICH gives the handles of the others to what is made next. */
static void free_communicators(const char *impl, MPI_Errhandler errhandler)
{
    enum { SPARE = 6 };
    MPI_Comm all[SPARE];
    for (int i = 0; i < SPARE; i++)
        all[i] = make(i == 0 ? impl : NULL, errhandler);
    freed = all[0];
    freed_number = MPI_Comm_c2f(freed);
    for (int i = 0; i < SPARE; i++)
        MPI_Comm_free(&all[i]);
}

static void run_binding(const char *impl, MPI_Errhandler errhandler)
{
    enum { BEFORE = 3 };
    MPI_Comm reference = make(NULL, errhandler), fresh = make(impl, errhandler),
             used = make(impl, errhandler);
    free_communicators(impl, errhandler);
    for (enum coll coll = COLL_Barrier; coll < WHOLE_COLLS; coll++) {
        const struct call right = right_call(coll, used);
        try_all(coll, fresh, reference, "at first");
        for (int i = 0; i < BEFORE; i++)
            make_call(&right, false);
        try_all(coll, used, reference, "after right ones");
        snprintf(testing_label, sizeof testing_label, "%s, %s, right", bindings[binding].name,
                 coll_names[coll]);
        const struct call again = right_call(coll, fresh);
        const struct told good = tell(make_call(&again, false));
        CHECK(good.calls == 0 && good.class == 0, "class %d", good.class);
    }
    MPI_Comm_free(&reference);
    MPI_Comm_free(&fresh);
    MPI_Comm_free(&used);
}

static void run(const char *impl)
{
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler); /* which MPIs call for types, */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);  /* or this one */
    for (binding = 0; binding < LEN(bindings); binding++)
        run_binding(impl, errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&errhandler);
}

int main(int argc, char **argv)
{
    testing_watchdog(50);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &testing_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(2, 1, 2, MPI_INT, &loose);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    testing_each(argc > 1 ? argv[1] : "mpi", run);
    MPI_Type_free(&loose);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return testing_end("refused");
}
