/* SPDX-License-Identifier: BSD-3-Clause */
/* race.c - a program in time steps, whose answers are checked while a race changes implementations
 * under it (CRESTA_RACE).
 *
 *     race KIND [STEPS]     on any number of ranks; 1500 steps if not given
 *     steps        transposes on rows and columns, a reduction of all
 *     irregular    other calls come in between, now and then
 *     comms        communicators are made and freed in each step
 *     begins       some of the calls are begun before the reduction on some ranks only
 *     begun        a communicator has begins only, in any order to the reductions
 *     lost         the communicator of the steps is freed, and another takes its place
 *     rules        the program gives rules itself
 *     chance       no step is like another
 *     threads      another thread calls, too
 *     nowhere      ranks that send nothing to their neighbours pass no type, and no valid count
 *     few          ends before anything repeats
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cresta_sp_coll.h"
#include "crestacoll.h"
#include "testing/testing.h"

enum { N = 300, MOST = 16 };

static int me, ranks, n = N;
static MPI_Comm all, row, column, begun;

static bool is(const char *kind, const char *name)
{
    return strcmp(kind, name) == 0;
}

static void transpose(MPI_Comm comm, int step)
{
    static int send[MOST * N], recv[MOST * N];
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size * n; i++)
        send[i] = step * 10007 + rank * 1009 + i;
    CRESTA_Alltoall(send, n, MPI_INT, recv, n, MPI_INT, comm);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < n; i++)
            CHECK(recv[from * n + i] == step * 10007 + from * 1009 + rank * n + i,
                  "step %d: block %d, %d", step, from, i);
}

static void sum(MPI_Comm comm, int step)
{
    int rank, size, result = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int mine = step + rank;
    CRESTA_Allreduce(&mine, &result, 1, MPI_INT, MPI_SUM, comm);
    CHECK(result == size * step + size * (size - 1) / 2, "step %d: sum %d", step, result);
}

/* Begins before or after the reduction of all, as the rank likes: an order that is valid. */
static void begin(MPI_Comm comm, int step)
{
    static int send[MOST], recv[MOST];
    int rank, size;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++)
        send[i] = step + 100 * rank + i;
    if (me % 2 == step % 2)
        CRESTA_Alltoall_begin(send, 1, MPI_INT, recv, 1, MPI_INT, comm, &request);
    sum(all, step);
    if (me % 2 != step % 2)
        CRESTA_Alltoall_begin(send, 1, MPI_INT, recv, 1, MPI_INT, comm, &request);
    CRESTA_Coll_end(1, &request);
    for (int from = 0; from < size; from++)
        CHECK(recv[from] == step + 100 * from + rank, "step %d: begun block %d", step, from);
}

static void with_new_comm(int step)
{
    MPI_Comm comm;
    MPI_Comm_split(all, (me + step) % 2, me, &comm);
    transpose(comm, step);
    sum(comm, step);
    MPI_Comm_free(&comm);
}

static void replace_anchor(void)
{
    MPI_Comm other;
    MPI_Comm_dup(all, &other);
    MPI_Comm_free(&all);
    all = other;
}

static void *call_too(void *step)
{
    sum(all, (int)(intptr_t)step);
    return NULL;
}

static void in_a_thread(int step)
{
    pthread_t thread;
    pthread_create(&thread, NULL, call_too, (void *)(intptr_t)step);
    pthread_join(thread, NULL);
}

/* Rank 0 tells all others. */
static MPI_Comm make_star(void)
{
    static const int weights[MOST], root[1];
    int others[MOST];
    MPI_Comm made;
    for (int i = 1; i < ranks; i++)
        others[i - 1] = i;
    MPI_Dist_graph_create_adjacent(all, me > 0, root, weights, me == 0 ? ranks - 1 : 0, others,
                                   weights, MPI_INFO_NULL, 0, &made);
    return made;
}

static void tell(int step)
{
    static MPI_Comm star;
    const int told = 7 * step;
    int got = -1;
    if (step == 1) {
        star = make_star();
        CRESTA_Set_impl(star, "neighbor_*=p2p");
    }
    CRESTA_Neighbor_allgather(me == 0 ? &told : NULL, me == 0 ? 1 : -1,
                              me == 0 ? MPI_INT : MPI_DATATYPE_NULL, &got, 1, MPI_INT, star);
    CHECK(got == (me == 0 ? -1 : told), "step %d: rank 0 told %d", step, got);
}

/* Equal on all ranks. */
static unsigned by_chance(unsigned n)
{
    static unsigned state = 1;
    state = state * 1103515245u + 12345u;
    return (state >> 16) % n;
}

static void do_step(const char *kind, int step)
{
    snprintf(testing_label, sizeof testing_label, "%s, step %d", kind, step);
    transpose(row, step);
    transpose(column, step);
    if (is(kind, "comms"))
        with_new_comm(step);
    if (is(kind, "chance"))
        for (unsigned i = 0; i < by_chance(5); i++)
            transpose(all, step);
    if (is(kind, "begins"))
        begin(row, step);
    else if (is(kind, "begun"))
        begin(begun, step);
    else if (is(kind, "threads") && step % 2)
        in_a_thread(step);
    else
        sum(all, step);
    if (is(kind, "nowhere"))
        tell(step);
    if (is(kind, "irregular") && step % 37 == 0)
        CRESTA_Barrier(all);
    if (is(kind, "lost") && step == 150)
        replace_anchor();
    if (is(kind, "rules") && step % 60 == 30)
        CRESTA_Set_impl(row, step % 120 == 30 ? "alltoall=p2p:pairwise" : "*=nonblock");
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "steps";
    int steps = argc > 2 ? atoi(argv[2]) : 1500, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    testing_watchdog(60);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_set_name(all, "all");
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &ranks);
    testing_rank = me;
    MPI_Comm_split(all, me / 2, me, &row);
    MPI_Comm_split(all, ranks > 2 ? me % 2 : me, me, &column);
    MPI_Comm_split(all, me / 3, me, &begun);
    CRESTA_Comm_prepare(begun);
    for (int step = 1; step <= steps; step++)
        do_step(kind, step);
    MPI_Comm_free(&column);
    const int failed = testing_end("race");
    MPI_Finalize();
    return failed;
}
