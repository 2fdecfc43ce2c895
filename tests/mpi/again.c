/* SPDX-License-Identifier: BSD-3-Clause */
/* again.c - calls at random, most of which come again, or with one argument changed, on
 * communicators, types and operations that are freed and made again, under implementations that
 * change.  Each answer is compared with that of the MPI's own call.
 *
 *     again [--seed N] [--steps N] [--impl SPEC/SPEC...]
 *
 * What all ranks do they draw alike; each draws by itself how it describes its data. */
#include "again.h"

#include "chance/dice.h"
#include "known.h"
#include "testing/testing.h"

int cresta_profile_start(void);
int cresta_profile_stop(char **json);

enum { HISTORY = 12, SPECS = 16, CHOSEN = WHOLE_COLLS + 5 };

static const char *specs[SPECS] = {"*=p2p",
                                   "*=shm",
                                   "*=nonblock",
                                   "*=hier",
                                   "*=auto",
                                   "*[0-64]=shm,*=p2p",
                                   "allreduce=shm,alltoall=p2p:linear,*=p2p",
                                   "*{type=derived}=p2p,*=shm",
                                   "*=hier:leaders,*=p2p"};
static int spec_count = 9;

static int rank, size, step;
static dice shared, own;

static struct wish wishes[HISTORY];
static struct habit habits[HISTORY];
static bool profiled;

static void set_impl(int place, bool always)
{
    const int which = below(&shared, spec_count);
    if (always || one_in(&shared, 2))
        CHECK(CRESTA_Set_impl(again_comms[place].comm, specs[which]) == MPI_SUCCESS, "%s",
              specs[which]);
}

static void make_comm(int place)
{
    again_comm_make(place, below(&shared, 3));
    set_impl(place, true);
}

static void make_type(int place)
{
    static const int ints[] = {1, 2, 3, 6};
    const int n = ints[below(&shared, 4)];
    again_type_make(place, n, one_in(&shared, 2));
}

static int some_length(void)
{
    static const int lengths[] = {0, 1, 2, 6, 12, 18, 60, 600, 3000};
    return lengths[below(&shared, one_in(&shared, 10) ? LEN(lengths) : 6)];
}

static void new_wish(struct wish *w)
{
    *w = (struct wish){.coll = below(&shared, CHOSEN),
                       .root = below(&shared, size),
                       .n = some_length(),
                       .base = one_in(&shared, 2) ? OF_INT : (enum base)below(&shared, BASES),
                       .type = one_in(&shared, 2) ? 0 : below(&shared, AGAIN_PLACES + 1),
                       .op = below(&shared, 12),
                       .in_place = one_in(&shared, 3),
                       .large = one_in(&shared, 6),
                       .seed = (unsigned)below(&shared, 3)};
    w->comm = coll_shapes[w->coll].near ? 0 : below(&shared, AGAIN_PLACES);
}

/* Another one, but for one argument. */
static void change_wish(struct wish *w)
{
    struct wish other;
    new_wish(&other);
    switch (below(&shared, 9)) {
    case 0:
        w->root = other.root;
        break;
    case 1:
        w->n = other.n;
        break;
    case 2:
        w->base = other.base;
        break;
    case 3:
        w->type = other.type;
        break;
    case 4:
        w->op = other.op;
        break;
    case 5:
        w->in_place = !w->in_place;
        break;
    case 6:
        w->large = !w->large;
        break;
    case 7:
        w->comm = coll_shapes[w->coll].near ? 0 : other.comm;
        break;
    default:
        w->from = below(&shared, size);
        w->to = one_in(&shared, 2) ? 0 : below(&shared, size);
        w->more = 6 * below(&shared, 3);
    }
}

static void new_habit(struct habit *h)
{
    for (int i = 0; i < 2; i++) {
        h->type[i] = one_in(&own, 2) ? 0 : below(&own, AGAIN_PLACES + 1);
        h->shift[i] = below(&own, 3);
    }
    h->arrays = below(&own, AGAIN_PLACES);
    h->gap = one_in(&own, 2) ? 0 : below(&own, 3);
}

static void describe(const struct wish *w, const struct habit *h, const struct made *made)
{
    snprintf(testing_label, sizeof testing_label,
             "step %d: %s on communicator %d, rank %d of %d, root %d, n %d, base %d, type %d, op %d"
             "%s%s, counts %u (%d to %d: %d more), types %d %d, arrays %d, gap %d, shifts %d %d",
             step, coll_names[w->coll], w->comm, made->call.rank, again_comms[w->comm].size,
             made->call.root, w->n, (int)w->base, w->type, w->op, w->in_place ? ", in place" : "",
             w->large ? ", large" : "", w->seed, w->from, w->to, w->more, h->type[0], h->type[1],
             h->arrays, h->gap, h->shift[0], h->shift[1]);
}

/* What a call of the MPI itself gets wrong, under whatever may be chosen.  MPICH 4.0 writes past
 * its memory in reduce_scatter and reduce_scatter_block of elements with a gap at their end: it
 * takes them to be as long as their data. */
static bool spoilt(const struct wish *w, const struct made *made, enum mode mode)
{
#ifdef MPICH_NUMVERSION
    const struct coll_shape *shape = &coll_shapes[w->coll];
    if (shape->reduces && shape->sends_all && made->call.user != NULL && w->type > 0)
        return true;
#endif
    return !coll_shapes[w->coll].near && known_bug(&made->call, mode, w->in_place) != NULL;
}

static void check_call(const struct wish *w, const struct habit *h)
{
    struct made made;
    MPI_Request request = MPI_REQUEST_NULL;
    const bool near = coll_shapes[w->coll].near;
    const enum mode mode = w->large && !near && mode_exists(LARGE) ? LARGE : BLOCKING;
    again_make(w, h, (unsigned)step, &made);
    describe(w, h, &made);
    if (spoilt(w, &made, mode))
        return;
    const int rc = call_make(mode, &made.call, &request);
    CHECK(rc == MPI_SUCCESS, "returns %d", rc);
    CHECK(again_sent_is_whole(&made), "what is sent has changed");
    const char *right = again_reference(w, &made), *got = made.call.recvbuf;
    size_t i = 0;
    while (made.compares && i < made.received && got[i] == right[i])
        i++;
    if (made.compares && i < made.received)
        CHECK(got[i] == right[i], "byte %zu is %d, not %d", i, got[i], right[i]);
    testing_checks++;
}

static void some_call(void)
{
    const int place = below(&shared, HISTORY);
    struct wish *w = &wishes[place];
    if (one_in(&shared, 10))
        new_wish(w);
    else if (one_in(&shared, 3))
        change_wish(w);
    if (one_in(&own, 5))
        new_habit(&habits[place]);
    const int times = 1 + below(&shared, 4);
    for (int i = 0; i < times; i++)
        check_call(w, &habits[place]);
}

/* Nothing is remembered meanwhile, and what was remembered before is not. */
static void turn_profile(void)
{
    char *json = NULL;
    if (!profiled)
        CHECK(cresta_profile_start() == MPI_SUCCESS, "cresta_profile_start");
    else
        CHECK(cresta_profile_stop(&json) == MPI_SUCCESS, "cresta_profile_stop");
    free(json);
    profiled = !profiled;
}

/* A recording of some calls, that is not replayed. */
static void record(void)
{
    CRESTA_Recording recording = CRESTA_RECORDING_NULL;
    const int place = below(&shared, AGAIN_PLACES);
    CHECK(CRESTA_Record_begin(again_comms[place].comm) == MPI_SUCCESS, "CRESTA_Record_begin");
    for (int i = 0; i < 3; i++)
        some_call();
    CRESTA_Record_end(&recording);
    if (recording != CRESTA_RECORDING_NULL)
        CRESTA_Recording_free(&recording);
}

static void one_step(void)
{
    const int which = below(&shared, 60), place = below(&shared, AGAIN_PLACES);
    if (which == 0) {
        again_comm_free(place);
        make_comm(place);
    } else if (which < 4) {
        again_type_free(place);
        make_type(place);
    } else if (which < 7) {
        again_op_free(place);
        again_op_make(place, below(&shared, 3));
    } else if (which < 9) {
        set_impl(place, false);
    } else if (which == 9) {
        turn_profile();
    } else if (which == 10) {
        record();
    } else {
        some_call();
    }
}

static void run(unsigned long seed, int steps)
{
    shared = dice_of(seed, 1, 0);
    own = dice_of(seed, 2, (unsigned long)rank);
    for (int i = 0; i < AGAIN_PLACES; i++) {
        make_comm(i);
        make_type(i);
        again_op_make(i, i);
    }
    for (int i = 0; i < HISTORY; i++) {
        new_wish(&wishes[i]);
        new_habit(&habits[i]);
    }
    for (step = 1; step <= steps; step++)
        one_step();
    if (profiled)
        turn_profile();
    for (int i = 0; i < AGAIN_PLACES; i++) {
        again_comm_free(i);
        again_type_free(i);
        again_op_free(i);
    }
}

static void take_specs(char *list)
{
    spec_count = 0;
    for (char *spec; (spec = strsep(&list, "/")) != NULL && spec_count < SPECS;)
        specs[spec_count++] = spec;
}

int main(int argc, char **argv)
{
    unsigned long seed = 1;
    int steps = 1000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--steps") == 0)
            steps = atoi(argv[i + 1]);
        else
            take_specs(argv[i + 1]);
    }
    testing_watchdog(60 + (unsigned)steps / 20);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    run(seed, steps);
    MPI_Finalize();
    return testing_end("again");
}
