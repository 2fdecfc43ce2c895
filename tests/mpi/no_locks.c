/* SPDX-License-Identifier: BSD-3-Clause */
/* no_locks.c - a blocking call of `shm` takes no lock: pthread_mutex_lock and its like are this
 * program's, and count those that the library takes while threads make calls of all sizes, each on
 * a communicator of its own.  Locks inside the MPI, which a long wait moves on, do not count.
 *
 *     no_locks IMPL,...
 */
#include <dlfcn.h>
#include <pthread.h>

#include "crestacoll.h"
#include "testing/testing.h"

enum { THREADS = 2, CALLS = 50, MOST = 64 << 10 };

static int taken;                   /* by the library, in a call that counts */
static int taken_ever;              /* in any: shows that they are seen at all */
static _Thread_local int counts;    /* this thread is in such a call */
static _Thread_local int elsewhere; /* dladdr takes locks, too */

static void note(void *caller)
{
    Dl_info info;
    if (elsewhere)
        return;
    elsewhere = 1;
    if (dladdr(caller, &info) != 0 && strstr(info.dli_fname, "libcrestacoll") != NULL) {
        __atomic_add_fetch(&taken_ever, 1, __ATOMIC_RELAXED);
        if (counts)
            __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
    }
    elsewhere = 0;
}

#define COUNTED(name, type)                                                                        \
    int name(type *lock)                                                                           \
    {                                                                                              \
        static int (*next)(type *);                                                                \
        if (next == NULL)                                                                          \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                             \
        note(__builtin_return_address(0));                                                         \
        return next(lock);                                                                         \
    }

COUNTED(pthread_mutex_lock, pthread_mutex_t)
COUNTED(pthread_mutex_trylock, pthread_mutex_t)
COUNTED(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNTED(pthread_rwlock_wrlock, pthread_rwlock_t)
COUNTED(pthread_spin_lock, pthread_spinlock_t)

static int rank, size;

typedef struct work {
    MPI_Comm comm;
    int in[MOST / sizeof(int)], out[MOST / sizeof(int)];
} work;

static void calls(work *w, int n)
{
    CRESTA_Allreduce(w->in, w->out, n, MPI_INT, MPI_SUM, w->comm);
    CRESTA_Bcast(w->out, n, MPI_INT, 0, w->comm);
    CRESTA_Alltoall(w->in, n / size, MPI_INT, w->out, n / size, MPI_INT, w->comm);
    CRESTA_Barrier(w->comm);
}

static void *thread_main(void *argument)
{
    work *w = argument;
    for (int n = size; n <= (int)LEN(w->in); n *= 4) {
        calls(w, n); /* sets up what this size needs */
        calls(w, n);
        counts = 1;
        for (int i = 0; i < CALLS; i++)
            calls(w, n);
        counts = 0;
    }
    return NULL;
}

static void run(const char *impl)
{
    static work works[THREADS];
    pthread_t threads[THREADS];
    char spec[128];
    taken = 0;
    snprintf(spec, sizeof spec, "*=%s", impl);
    for (int t = 0; t < THREADS; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &works[t].comm);
        CRESTA_Set_impl(works[t].comm, spec);
    }
    for (int t = 1; t < THREADS; t++)
        pthread_create(&threads[t], NULL, thread_main, &works[t]);
    thread_main(&works[0]);
    for (int t = 1; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    CHECK(taken_ever > 0, "no lock of the set-up was seen");
    CHECK(taken == 0, "%d locks in blocking calls", taken);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&works[t].comm);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_watchdog(60);
    if (level == MPI_THREAD_MULTIPLE)
        testing_each(argc > 1 ? argv[1] : "shm", run);
    MPI_Finalize();
    return level == MPI_THREAD_MULTIPLE ? testing_end("no_locks") : 0;
}
