/* SPDX-License-Identifier: BSD-3-Clause */
/* split_stress.c - split-phase collectives at random: any of them, sizes, implementations (which
 * change while calls are under way), communicators, many under way, ended in any order and any way,
 * blocking calls and messages in between.
 *
 *     split_stress [--seconds S] [--seed N] [--protected yes] [--caf yes] [--hier yes]
 *
 * --caf adds model caf, whose blocking calls take long where ranks outnumber cores.  --hier is for
 * CRESTA_NODES: little else than model hier.
 * What begins is decided by a generator that all ranks share; what ends, and how, by one of each
 * rank.  The seed is printed. */
#include <sched.h>
#include <time.h>

#include "begun.h"
#include "testing/testing.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

enum { COMMS = 4, MOST = 24, ROUNDS = 50 };

static MPI_Comm comms[COMMS];
static const char *const impls[] = {"*=mpi",
                                    "*=nonblock",
                                    "*=p2p",
                                    "*=shm",
                                    "alltoall[1K-inf]=p2p,allreduce[0-100]=p2p:ring,*=nonblock",
                                    "*=p2p:binomial",
                                    "*=p2p:ring",
                                    "*=p2p:bruck",
                                    "*=os",
                                    "*=os?via=get",
                                    "barrier=p2p:tree,*=p2p:linear",
                                    "*=p2p:pairwise",
                                    "*=shm:ring",
                                    "*=shm:binomial",
                                    "*=shm?copy=single",
                                    "*=shm:linear?copy=single",
                                    "*=p2p",
                                    "*=hier",
                                    "*=caf"};
static const char *const of_nodes[] = {"*=hier", "*=hier:leaders", "*=p2p",
                                       "alltoallv=hier:leaders,*=hier:binomial"};
static struct begun calls[MOST];
static MPI_Request requests[MOST]; /* of the operations that a call is to end */
static int chosen[MOST];
static unsigned long shared, own; /* generators */
static bool spoil, caf, hier;

/* SplitMix64, after G. Steele et al., 2014. */
static int random_below(unsigned long *state, int n)
{
    unsigned long z = *state += 0x9e3779b97f4a7c15ul;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return (int)((z ^ z >> 31) % (unsigned long)n);
}

/* Also while calls are under way, which stay what they are. */
static void choose_impl(int comm)
{
    const char *impl = hier ? of_nodes[random_below(&shared, LEN(of_nodes))]
                            : impls[random_below(&shared, LEN(impls) - !caf)];
    snprintf(testing_label, sizeof testing_label, "choosing %s", impl);
    CHECK(CRESTA_Set_impl(comms[comm], impl) == MPI_SUCCESS, "%s", impl);
}

static void make_comms(int rank)
{
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
    for (int i = 0; i < COMMS; i++)
        choose_impl(i);
}

/* Some of what is under way; at least one if there is any. */
static int choose(void)
{
    int count = 0;
    for (int i = 0; i < MOST; i++)
        if (calls[i].request != MPI_REQUEST_NULL && random_below(&own, 3) > 0) {
            chosen[count] = i;
            requests[count++] = calls[i].request;
        }
    return count;
}

static void end_all(int count)
{
    int done = 0, indices[MOST];
    switch (random_below(&own, 6)) {
    case 0:
        CHECK(CRESTA_Coll_end(count, requests) == MPI_SUCCESS, "CRESTA_Coll_end");
        break;
    case 1:
        CHECK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS, "MPI_Waitall");
        break;
    case 2:
        MPI_Waitany(count, requests, indices, MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        break;
    case 4:
        CRESTA_Coll_test(count, requests, &done);
        break;
    default:
        for (int i = 0; i < count; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
}

static void end_some(void)
{
    const int count = choose();
    snprintf(testing_label, sizeof testing_label, "ending %d", count);
    end_all(count);
    for (int i = 0; i < count; i++) {
        struct begun *f = &calls[chosen[i]];
        f->request = requests[i];
        if (f->request == MPI_REQUEST_NULL)
            begun_check(f);
    }
}

static void end_slot(struct begun *f)
{
    if (f->request == MPI_REQUEST_NULL)
        return;
    CRESTA_Coll_end(1, &f->request);
    begun_check(f);
}

static int random_size(void)
{
    static const int limits[] = {1, 4, 100, 1000, 40000};
    return random_below(&shared, limits[random_below(&shared, LEN(limits))]);
}

static void begin_one(long number)
{
    struct begun *f = &calls[number % MOST];
    const enum coll coll = (enum coll)random_below(&shared, WHOLE_COLLS);
    const int comm = random_below(&shared, COMMS), root = random_below(&shared, 16);
    const int n = random_size();
    end_slot(f); /* all ranks use the same slots, so that numbers say which request is whose */
    snprintf(testing_label, sizeof testing_label, "beginning %s number %ld, %d ints, comm %d",
             coll_names[coll], number, n, comm);
    begun_start(f, coll, comms[comm], n, root, number, spoil);
}

/* A collective that blocks while others are under way. */
static void block(void)
{
    const int comm = random_below(&shared, COMMS);
    int size, sum = 0, one = 1;
    MPI_Comm_size(comms[comm], &size);
    snprintf(testing_label, sizeof testing_label, "blocking on comm %d", comm);
    CRESTA_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[comm]);
    CHECK(sum == size, "blocking allreduce: %d of %d", sum, size);
}

/* A ring of messages, not by collectives. */
static void pass_on(int rank, int size)
{
    int got = -1;
    MPI_Request request;
    snprintf(testing_label, sizeof testing_label, "passing on");
    MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
    CRESTA_Coll_end(1, &request);
    CHECK(got == (rank + size - 1) % size, "message from %d", got);
}

static bool time_left(double end)
{
    int more = MPI_Wtime() < end;
    MPI_Request request;
    MPI_Ibcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    wait_politely(&request);
    return more;
}

static void run(double seconds, int rank, int size)
{
    const double end = MPI_Wtime() + seconds;
    long number = 0;
    while (testing_failures == 0 && time_left(end))
        for (int round = 0; round < ROUNDS; round++) {
            begin_one(number++);
            if (random_below(&own, 4) == 0)
                end_some();
            if (random_below(&shared, 10) == 0)
                block();
            if (random_below(&shared, 100) == 0)
                choose_impl(random_below(&shared, COMMS));
            if (random_below(&shared, 10) == 0)
                pass_on(rank, size);
        }
    for (int i = 0; i < MOST; i++)
        end_slot(&calls[i]);
    if (rank == 0)
        printf("%ld collectives begun\n", number);
}

int main(int argc, char **argv)
{
    double seconds = 5;
    int rank, size;
    unsigned long seed = (unsigned long)time(NULL);
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--seconds") == 0)
            seconds = atof(argv[i + 1]);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--protected") == 0)
            spoil = strcmp(argv[i + 1], "yes") == 0;
        else if (strcmp(argv[i], "--caf") == 0)
            caf = strcmp(argv[i + 1], "yes") == 0;
        else if (strcmp(argv[i], "--hier") == 0)
            hier = strcmp(argv[i + 1], "yes") == 0;
    testing_watchdog((unsigned)seconds + 60);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seed %lu\n", seed);
    shared = seed;
    own = seed + 1000003ul * (unsigned long)(rank + 1);
    for (int i = 0; i < MOST; i++)
        calls[i].request = MPI_REQUEST_NULL;
    make_comms(rank);
    run(seconds, rank, size);
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return testing_end("split_stress");
}
