/* SPDX-License-Identifier: BSD-3-Clause */
/* two_threads.c - two threads of a process in different collectives of one communicator at once,
 * which the standard forbids: the second one gets an error that names both calls, and the first one
 * its result.  One after the other they may call as they like.
 *
 *     two_threads IMPL,...
 *
 * The first one waits in an operation of the program until the second one has its error, so that
 * nothing depends on time. */
#include <setjmp.h>
#include <stdbool.h>

#include <pthread.h>
#include <semaphore.h>

#include <cresta_sp_coll.h>

#include "testing/testing.h"

enum { AFTER = 20, CANARY = 0x5a5a5a5a };
enum { BCAST, ALLGATHER, BARRIER, ALLREDUCE, BEGUN, SECONDS };

static const char *const names[SECONDS] = {"bcast", "allgather", "barrier", "allreduce",
                                           "begun bcast"};
static MPI_Comm comm;
static int rank, size, second, second_error, beyond;
static bool meets; /* the operation waits for the second thread, once */
static sem_t turn[2];
static jmp_buf out;

static int sum_of_ranks(void)
{
    return size * (size - 1) / 2;
}

static int call_second(void)
{
    int room[66];
    MPI_Request request;
    for (int i = 0; i < 66; i++)
        room[i] = CANARY;
    const int rc = second == BCAST ? CRESTA_Bcast(room, 1, MPI_INT, 0, comm)
                   : second == ALLGATHER
                       ? CRESTA_Allgather(&rank, 1, MPI_INT, room, 1, MPI_INT, comm)
                   : second == BARRIER   ? CRESTA_Barrier(comm)
                   : second == ALLREDUCE ? CRESTA_Allreduce(&rank, room, 1, MPI_INT, MPI_SUM, comm)
                                         : CRESTA_Bcast_begin(room, 1, MPI_INT, 0, comm, &request);
    CHECK(second != BEGUN || request == MPI_REQUEST_NULL, "what did not begin has a request");
    for (int i = size; i < 66; i++)
        beyond += room[i] != CANARY;
    return rc;
}

static void sum_and_wait(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    if (!meets)
        return;
    meets = false;
    sem_post(&turn[1]);
    sem_wait(&turn[0]);
}

/* The other thread: makes the second call, and then every other one of those that take turns. */
static void *thread_main(void *nothing)
{
    sem_wait(&turn[1]);
    second_error = call_second();
    sem_post(&turn[0]);
    for (int i = 0; i < AFTER; i++) {
        int sum = 0;
        sem_wait(&turn[1]);
        CRESTA_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == sum_of_ranks(), "the other thread's turn %d: %d", i, sum);
        sem_post(&turn[0]);
    }
    return nothing;
}

static void take_turns(void)
{
    for (int i = 0; i < AFTER; i++) {
        int word = rank == 0 ? i : -1;
        CRESTA_Bcast(&word, 1, MPI_INT, 0, comm);
        CHECK(word == i, "turn %d: %d", i, word);
        sem_post(&turn[1]);
        sem_wait(&turn[0]);
    }
}

static void try(const char *impl, int call, MPI_Op op)
{
    int sum = 0, class = MPI_SUCCESS;
    char spec[64];
    pthread_t other;
    second = call;
    snprintf(testing_label, sizeof testing_label, "allreduce, and %s meanwhile", names[call]);
    snprintf(spec, sizeof spec, "*=%s", impl);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(CRESTA_Set_impl(comm, spec) == MPI_SUCCESS, "CRESTA_Set_impl %s", spec);
    pthread_create(&other, NULL, thread_main, NULL);
    meets = true;
    const int rc = CRESTA_Allreduce(&rank, &sum, 1, MPI_INT, op, comm);
    if (meets) /* the MPI needs no operation on this rank */
        sum_and_wait(&rank, &(int){0}, &(int){0}, NULL);
    CHECK(rc == MPI_SUCCESS && sum == sum_of_ranks(), "the first call: error %d, %d", rc, sum);
    if (second_error != MPI_SUCCESS)
        MPI_Error_class(second_error, &class);
    CHECK(class == MPI_ERR_OTHER, "the second call has no error of ours: class %d", class);
    CHECK(beyond == 0, "%d words behind the buffer are written", beyond);
    take_turns();
    pthread_join(other, NULL);
    MPI_Comm_free(&comm);
}

static void jump(MPI_Comm *where, int *error, ...)
{
    (void)where, (void)error;
    longjmp(out, 1);
}

static void *call_again(void *sum)
{
    CRESTA_Allreduce(&rank, sum, 1, MPI_INT, MPI_SUM, comm);
    return NULL;
}

/* An error handler that never comes back leaves no mark. */
__attribute__((unused)) static void try_handler(const char *impl)
{
    int sum = 0;
    char spec[64];
    pthread_t other;
    MPI_Errhandler handler;
    snprintf(testing_label, sizeof testing_label, "after an error handler that jumps");
    snprintf(spec, sizeof spec, "*=%s", impl);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    CRESTA_Set_impl(comm, spec);
    call_again(&sum);
    if (setjmp(out) == 0)
        CRESTA_Bcast(&sum, 1, MPI_INT, -7, comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    pthread_create(&other, NULL, call_again, &sum);
    pthread_join(other, NULL);
    CHECK(sum == sum_of_ranks(), "%d", sum);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

static void run(const char *impl)
{
    MPI_Op op;
    MPI_Op_create(sum_and_wait, 1, &op);
    for (int call = 0; call < SECONDS; call++)
        try(impl, call, op);
#if defined(OPEN_MPI) /* MPICH does not go on where its handler does not come back */
    try_handler(impl);
#endif
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    int provided;
    testing_watchdog(30);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    if (provided < MPI_THREAD_MULTIPLE) {
        if (rank == 0)
            printf("left out: this MPI provides no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    sem_init(&turn[0], 0, 0);
    sem_init(&turn[1], 0, 0);
    testing_each(argc > 1 ? argv[1] : "shm", run);
    MPI_Finalize();
    return testing_end("two_threads");
}
