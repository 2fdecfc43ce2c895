/* SPDX-License-Identifier: BSD-3-Clause */
/* elements.c - reductions of the program's own types by its own operations: gaps, bounds and
 * extents of every kind, elements of all sizes, ranks that describe the same data by unlike types.
 * What lies in the gaps must stay as it is.
 *
 *     elements IMPL,...       auto: a few, of which ranks may not think differently either
 *
 * The standard wants the same type on all ranks.  MPICH 5's own allreduce relies on that where the
 * operation commutes: what comes out there is not looked at, but that the call returns on all.
 * Intel MPI's does not return some calls later, and is left out.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "choose.h"

enum { MOST = 8, PRIME = 10007, WORD = sizeof(int), ALIGNED = 8 };
enum { STANDARD, DENSE, GAPS, BELOW, LATE, COLUMN, BACK, LAYOUTS };
enum { ALLREDUCE, REDUCE, LAST_ROOT, SCATTER, BLOCK, SCAN, EXSCAN, CALLS };

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
enum { WANTS_ALIKE = 1, HANGS_UNLIKE = 0 };
#elif defined(I_MPI_VERSION)
enum { WANTS_ALIKE = 1, HANGS_UNLIKE = 1 };
#else
enum { WANTS_ALIKE = 0, HANGS_UNLIKE = 0 };
#endif

static const char *const layout_names[] = {"standard", "dense",  "gaps",          "below",
                                           "late",     "column", "extent below 0"};
static const char *const call_names[] = {
    "allreduce", "reduce", "reduce to the last", "reduce_scatter", "block", "scan", "exscan"};

/* `ints` of an element lie `stride` bytes from each other, the first `start` from its address. */
struct layout {
    int ints;
    ptrdiff_t start, stride, extent;
    MPI_Datatype type;
};

static int rank, size, calls = CALLS;
static MPI_Comm comm;
static struct layout now; /* of this rank: the operation sees it there */
static MPI_Op ops[2];     /* [1]: said to commute */
static bool unlike;       /* types of the ranks */
static bool as_the_mpi;   /* its own calls run */
static int left_out;      /* results that are not looked at */
static int unaligned;     /* buffers that the operation got for elements that all are aligned */

static int *at(const struct layout *l, const void *buffer, int element, int k)
{
    return (int *)((uintptr_t)buffer + (uintptr_t)(element * l->extent + l->start + k * l->stride));
}

/* x -> a x + b, one after the other: does not commute.  With a == 1 it does. */
static void compose(int *left, int *right)
{
    const int a = left[0], b = left[1];
    right[1] = (int)(((long)a * right[1] + b) % PRIME);
    right[0] = (int)((long)a * right[0] % PRIME);
}

static void user(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    if (now.extent % ALIGNED == 0)
        unaligned += ((uintptr_t)in | (uintptr_t)inout) % ALIGNED != 0;
    for (int i = 0; i < *n; i++)
        for (int k = 0; k < now.ints; k += 2) {
            int left[2] = {*at(&now, in, i, k), *at(&now, in, i, k + 1)};
            int right[2] = {*at(&now, inout, i, k), *at(&now, inout, i, k + 1)};
            compose(left, right);
            *at(&now, inout, i, k) = right[0];
            *at(&now, inout, i, k + 1) = right[1];
        }
}

/* The kth int of what rank r gives. */
static int value(int r, int element, int k, int commutes)
{
    const unsigned mix = (unsigned)(r * 37 + element * 101 + (k / 2) * 7 + 11) * 2654435761U;
    return k % 2 == 0 ? (commutes ? 1 : (int)(mix >> 16) % PRIME) : (int)(mix >> 8) % PRIME;
}

static struct layout make_layout(int which, int ints, int elements)
{
    struct layout l = {ints, 0, 2 * WORD, 2 * WORD * ints, MPI_DATATYPE_NULL};
    MPI_Datatype bare;
    if (which <= DENSE || which == BACK)
        l.stride = WORD, l.extent = WORD * ints;
    if (which == BELOW)
        l.start = -3 * WORD, l.extent += 5 * WORD;
    if (which == LATE)
        l.start = 3 * WORD, l.extent += 4 * WORD;
    if (which == COLUMN)
        l.stride = (ptrdiff_t)WORD * (elements + 1), l.extent = WORD;
    if (which == BACK)
        l.extent = -l.extent - 2 * WORD;
    if (which == STANDARD && ints == 2) {
        l.type = MPI_2INT;
        return l;
    }
    if (which <= DENSE) {
        MPI_Type_contiguous(ints, MPI_INT, &l.type);
    } else {
        MPI_Datatype strided;
        MPI_Type_create_hvector(ints, 1, l.stride, MPI_INT, &strided);
        MPI_Type_create_hindexed(1, &(int){1}, &(MPI_Aint){l.start}, strided, &bare);
        MPI_Type_create_resized(bare, which == BELOW ? l.start - WORD : 0, l.extent, &l.type);
        MPI_Type_free(&strided);
        MPI_Type_free(&bare);
    }
    MPI_Type_commit(&l.type);
    return l;
}

static void free_layout(struct layout *l)
{
    if (l->type != MPI_2INT)
        MPI_Type_free(&l->type);
}

/* Memory around `elements`, filled with what no data are; where they begin. */
struct memory {
    char *bytes, *start;
    size_t size;
};

static struct memory make_memory(const struct layout *l, int elements)
{
    const ptrdiff_t extent = l->extent < 0 ? -l->extent : l->extent;
    const size_t side = (size_t)(extent * elements + l->stride * l->ints + 64) & ~(size_t)15;
    struct memory m = {malloc(2 * side), NULL, 2 * side};
    memset(m.bytes, 0x5a, m.size);
    m.start = m.bytes + side;
    return m;
}

static void put_operands(const struct layout *l, char *start, int n, int commutes)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < l->ints; k++)
            *at(l, start, i, k) = value(rank, i, k, commutes);
}

/* `n` elements of the vector from `first` on, combined over the first `ranks`. */
static void put_results(const struct layout *l, char *start, int first, int n, int ranks,
                        int commutes)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < l->ints; k += 2) {
            int sum[2] = {value(ranks - 1, first + i, k, commutes),
                          value(ranks - 1, first + i, k + 1, commutes)};
            for (int r = ranks - 2; r >= 0; r--)
                compose(
                    (int[]){value(r, first + i, k, commutes), value(r, first + i, k + 1, commutes)},
                    sum);
            *at(l, start, i, k) = sum[0];
            *at(l, start, i, k + 1) = sum[1];
        }
}

static void call(int which, const void *send, void *recv, int n, const int *counts, MPI_Op op)
{
    const int root = which == LAST_ROOT ? size - 1 : 0;
    int rc = MPI_SUCCESS;
    if (which == ALLREDUCE)
        rc = CRESTA_Allreduce(send, recv, n, now.type, op, comm);
    else if (which == REDUCE || which == LAST_ROOT)
        rc = CRESTA_Reduce(send, recv, n, now.type, op, root, comm);
    else if (which == SCATTER)
        rc = CRESTA_Reduce_scatter(send, recv, counts, now.type, op, comm);
    else if (which == BLOCK)
        rc = CRESTA_Reduce_scatter_block(send, recv, n, now.type, op, comm);
    else if (which == SCAN)
        rc = CRESTA_Scan(send, recv, n, now.type, op, comm);
    else
        rc = CRESTA_Exscan(send, recv, n, now.type, op, comm);
    CHECK(rc == MPI_SUCCESS, "error %d", rc);
}

static bool is_left_out(int commutes)
{
    return WANTS_ALIKE && as_the_mpi && unlike && commutes;
}

/* What a rank gets, and where that begins in the vector. */
static int result_of(int which, int n, const int *counts, int *first)
{
    *first = 0;
    for (int r = 0; r < rank && (which == SCATTER || which == BLOCK); r++)
        *first += which == SCATTER ? counts[r] : n;
    if ((which == REDUCE && rank != 0) || (which == LAST_ROOT && rank != size - 1))
        return 0;
    return which == SCATTER ? counts[rank] : n;
}

static void try(int which, int n, int in_place, int commutes)
{
    int counts[MOST], vector = 0, first;
    for (int r = 0; r < size; r++)
        vector += counts[r] = n * ((r + 1) % 3);
    vector = which == SCATTER ? vector : which == BLOCK ? n * size : n;
    const int mine = result_of(which, n, counts, &first);
    const int ranks = which == SCAN ? rank + 1 : which == EXSCAN ? rank : size;
    if ((which == REDUCE && rank != 0) || (which == LAST_ROOT && rank != size - 1))
        in_place = 0;
    struct memory send = make_memory(&now, vector), recv = make_memory(&now, vector);
    struct memory sent = make_memory(&now, vector), wanted = make_memory(&now, vector);
    put_operands(&now, send.start, vector, commutes);
    memcpy(sent.bytes, send.bytes, send.size);
    if (in_place)
        put_operands(&now, recv.start, vector, commutes);
    memcpy(wanted.bytes, recv.bytes, recv.size);
    if (ranks > 0)
        put_results(&now, wanted.start, first, mine, ranks, commutes);
    call(which, in_place ? MPI_IN_PLACE : send.start, recv.start, n, counts, ops[commutes]);
    /* In place, what is left of the vector behind the result may be anything. */
    for (int i = mine; in_place && (which == SCATTER || which == BLOCK) && i < vector; i++)
        for (int k = 0; k < now.ints; k++)
            *at(&now, wanted.start, i, k) = *at(&now, recv.start, i, k);
    if (is_left_out(commutes))
        left_out++;
    else if (ranks > 0)
        CHECK(memcmp(recv.bytes, wanted.bytes, recv.size) == 0, "wrong bytes");
    CHECK(memcmp(send.bytes, sent.bytes, send.size) == 0, "another send buffer");
    free(send.bytes);
    free(recv.bytes);
    free(sent.bytes);
    free(wanted.bytes);
}

/* `n` elements of `ints`, one in `sparse` cases; `mixed`: each rank has another layout. */
static void try_layouts(int ints, int n, int sparse, int layouts)
{
    int number = 0;
    for (int which = 0; which < layouts; which++)
        for (int mixed = 0; mixed < 2; mixed++) {
            now = make_layout((which + (mixed ? rank : 0)) % layouts, ints, n * MOST);
            unlike = mixed;
            for (int k = 0; k < 4 * calls; k++) {
                const int what = k / 4, in_place = k & 1, commutes = k >> 1 & 1;
                if (number++ % sparse != 0)
                    continue;
                snprintf(testing_label, sizeof testing_label,
                         "%s of %d elements of %d ints, %s%s%s%s", call_names[what], n, ints,
                         layout_names[which], mixed ? " and others" : "",
                         in_place ? ", in place" : "", commutes ? ", commutative" : "");
                if (HANGS_UNLIKE && is_left_out(commutes))
                    left_out++;
                else
                    try(what, n, in_place, commutes);
            }
            free_layout(&now);
        }
}

struct pair {
    double value;
    int index, gap;
};

/* Pairs of the standard have a gap, too. */
static void try_pairs(int n)
{
    struct pair *mine = malloc((size_t)n * sizeof *mine), *all = malloc((size_t)n * sizeof *all);
    snprintf(testing_label, sizeof testing_label, "%d pairs", n);
    for (int call = 0; call < 3; call++) {
        int wrong = 0;
        for (int i = 0; i < n; i++) {
            mine[i] = (struct pair){(rank + i) % size, rank, -1};
            all[i] = (struct pair){-1, -1, i};
        }
        CRESTA_Allreduce(mine, all, n, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
        for (int i = 0; i < n; i++)
            wrong += all[i].value != size - 1 || (all[i].index + i) % size != size - 1 ||
                     all[i].gap != i;
        CHECK(wrong == 0, "%d pairs wrong", wrong);
    }
    free(mine);
    free(all);
}

/* Elements of no size, and one at an absolute address. */
static void try_odd(void)
{
    int data[4] = {1, rank, -7, -7};
    MPI_Aint place;
    now = make_layout(DENSE, 0, 1);
    snprintf(testing_label, sizeof testing_label, "elements of no size");
    for (int which = 0; which < CALLS; which++)
        call(which, data, data + 2, 3, (int[MOST]){1, 2, 3}, ops[0]);
    CHECK(data[2] == -7, "%d", data[2]);
    free_layout(&now);
    snprintf(testing_label, sizeof testing_label, "an absolute address");
    MPI_Get_address(data, &place);
    now = (struct layout){2, place, WORD, 2 * WORD, MPI_DATATYPE_NULL};
    MPI_Type_create_hindexed(1, &(int){2}, &place, MPI_INT, &now.type);
    MPI_Type_commit(&now.type);
    CRESTA_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, now.type, ops[1], comm);
    CHECK(data[1] == size * (size - 1) / 2, "%d", data[1]);
    free_layout(&now);
}

static void run(const char *impl)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    choose(comm, impl);
    if (strcmp(impl, "auto") == 0) { /* the MPI's own calls, for which odder ones are too much */
        calls = ALLREDUCE + 1;
        as_the_mpi = true;
        try_layouts(2, 1, 1, GAPS + 1);
        as_the_mpi = false;
        calls = CALLS;
        if (rank == 0 && left_out > 0)
            printf("left out: %d results of unlike types, which this MPI wants to be alike\n",
                   left_out);
        MPI_Comm_free(&comm);
        return;
    }
    for (int n = 0; n < 3; n++)
        try_layouts(2, n, 1, LAYOUTS);
    try_layouts(6, 13, 1, LAYOUTS);
    try_layouts(2, 5000, 5, LAYOUTS);
    try_layouts(2048, 7, 5, LAYOUTS);    /* 8 KiB: as much as pieces are made of */
    try_layouts(2050, 3, 5, LAYOUTS);    /* more */
    try_layouts(30000, 11, 31, LAYOUTS); /* more than a slot, and 1 MiB in all */
    try_pairs(3);
    try_pairs(9000);
    try_odd();
    CHECK(unaligned == 0, "%d calls of the operation with buffers that are not aligned", unaligned);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    testing_watchdog(60);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    for (int commutes = 0; commutes < 2; commutes++)
        MPI_Op_create(user, commutes, &ops[commutes]);
    testing_each(argc > 1 ? argv[1] : "shm", run);
    for (int commutes = 0; commutes < 2; commutes++)
        MPI_Op_free(&ops[commutes]);
    MPI_Finalize();
    return testing_end("elements");
}
