/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_lines.c - two threads of a process write no cache line both in their blocking calls, each
 * on a communicator of its own.
 *
 *     shared_lines IMPL,...
 *
 * Rank 0 watches its own stores: the memory where the library keeps something may not be written
 * while a thread is in a call, so that each store stops there (SIGSEGV), is noted, and runs alone
 * (single step, SIGTRAP).  One thread makes its calls after the other, as nothing depends on both
 * being there at once.  All states are made by one thread, and lie next to each other.  Stores of
 * the MPI, which a long wait moves on, do not count. */
#include "testing/testing.h"

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__) &&                 \
    !defined(__SANITIZE_THREAD__)

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "crestacoll.h"

enum {
    THREADS = 2,
    CALLS = 4,
    LATE_US = 30000,
    MOST = 512, /* integers of a call */
    LINE = 64,
    PLACES = 64,
    LINES = 1 << 15,
    STACK = 64 << 10,
    TRAP = 0x100 /* of the flags: run one instruction */
};

typedef struct range {
    char *from, *to;
} range;

typedef struct store {
    uintptr_t line, by;
} store;

static range places[PLACES];
static int n_places;
static range library; /* its code */
static store stores[THREADS][LINES];
static int n_stores[THREADS];
static char *opened[2]; /* pages that the store under way has opened */
static size_t page;
static int rank, size;
static _Thread_local int watched = -1; /* this thread, by its number */
static char stacks[THREADS][STACK];

/* Where the library keeps what it writes: its own variables, the heap, memory of the ranks. */
static int keeps_state(const char *line)
{
    return strstr(line, " rw-") != NULL &&
           (strstr(line, "[heap]") != NULL || strstr(line, "libcrestacoll") != NULL ||
            strstr(line, "memfd:") != NULL);
}

static void find_places(void)
{
    char line[1024];
    FILE *f = fopen("/proc/self/maps", "r");
    n_places = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL && n_places < PLACES) {
        unsigned long from, to;
        if (strstr(line, " r-x") != NULL && strstr(line, "libcrestacoll.so") != NULL &&
            sscanf(line, "%lx-%lx", &from, &to) == 2)
            library = (range){(char *)from, (char *)to};
        if (keeps_state(line) && sscanf(line, "%lx-%lx", &from, &to) == 2)
            places[n_places++] = (range){(char *)from, (char *)to};
    }
    if (f != NULL)
        fclose(f);
}

static void let_write(int may)
{
    for (int i = 0; i < n_places; i++)
        mprotect(places[i].from, (size_t)(places[i].to - places[i].from),
                 may ? PROT_READ | PROT_WRITE : PROT_READ);
}

/* The kernel writes what the MPI waits for, and cannot be stopped at a store. */
#define OPEN(type, name, parameters, given)                                                        \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*next) parameters;                                                             \
        if (next == NULL)                                                                          \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                             \
        if (watched >= 0)                                                                          \
            let_write(1);                                                                          \
        const type n = next given;                                                                 \
        if (watched >= 0)                                                                          \
            let_write(0);                                                                          \
        return n;                                                                                  \
    }

OPEN(int, poll, (struct pollfd * list, nfds_t n_list, int ms), (list, n_list, ms))
OPEN(int, epoll_wait, (int set, struct epoll_event *list, int n_list, int ms),
     (set, list, n_list, ms))
OPEN(ssize_t, read, (int file, void *to, size_t bytes), (file, to, bytes))

static int is_place(const char *at)
{
    for (int i = 0; i < n_places; i++)
        if (at >= places[i].from && at < places[i].to)
            return 1;
    return 0;
}

static int is_ours(uintptr_t code)
{
    return code >= (uintptr_t)library.from && code < (uintptr_t)library.to;
}

/* By the library itself, or by a function of the C library that it calls. */
static void note(uintptr_t at, uintptr_t by, const uintptr_t *stack)
{
    if (!is_ours(by) && !is_ours(*stack))
        return;
    int *n = &n_stores[watched];
    for (int i = 0; i < *n; i++)
        if (stores[watched][i].line == at / LINE)
            return;
    if (*n < LINES)
        stores[watched][(*n)++] = (store){at / LINE, by};
}

/* A store to what is closed: opens its page for one instruction. */
static void on_store(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    char *at = info->si_addr, *its = at - (uintptr_t)at % page;
    if (!is_place(at)) {
        signal(number, SIG_DFL); /* a fault of another kind: comes again */
        return;
    }
    mprotect(its, page, PROT_READ | PROT_WRITE);
    if (watched < 0) /* another thread, of the MPI: no more of this page */
        return;
    note((uintptr_t)at, (uintptr_t)registers[REG_RIP], (uintptr_t *)registers[REG_RSP]);
    opened[opened[0] != NULL] = its;
    registers[REG_EFL] |= TRAP;
}

static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
    for (int i = 0; i < 2; i++)
        if (opened[i] != NULL)
            mprotect(opened[i], page, PROT_READ);
    opened[0] = opened[1] = NULL;
}

typedef struct work {
    MPI_Comm comm;
    int number, n, watch;
    int in[MOST], out[MOST];
} work;

static void calls(work *w)
{
    for (int i = 0; i < CALLS; i++) {
        if (i == 1 && rank != 0)
            usleep(LATE_US); /* rank 0 waits long, and looks whether this process still runs */
        w->in[0]++;
        CRESTA_Allreduce(w->in, w->out, w->n, MPI_INT, MPI_SUM, w->comm);
        CRESTA_Bcast(w->out, w->n, MPI_INT, i % size, w->comm);
        CRESTA_Alltoall(w->in, w->n / size, MPI_INT, w->out, w->n / size, MPI_INT, w->comm);
        CRESTA_Barrier(w->comm);
    }
}

static void *thread_main(void *argument)
{
    work *w = argument;
    const stack_t own = {.ss_sp = stacks[w->number], .ss_size = STACK};
    calls(w);
    if (!w->watch) {
        calls(w);
        return NULL;
    }
    sigaltstack(&own, NULL);
    watched = w->number;
    let_write(0);
    calls(w);
    let_write(1);
    watched = -1;
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    return NULL;
}

/* A place in a library, as addr2line takes it. */
static const char *place_of(uintptr_t code, char text[256])
{
    Dl_info info;
    if (dladdr((void *)code, &info) == 0)
        return "?";
    snprintf(text, 256, "%s+%#lx", info.dli_fname,
             (unsigned long)(code - (uintptr_t)info.dli_fbase));
    return text;
}

static int both_write(const char *impl, int n)
{
    int count = 0;
    for (int i = 0; i < n_stores[0]; i++)
        for (int k = 0; k < n_stores[1]; k++)
            if (stores[0][i].line == stores[1][k].line) {
                char a[256], b[256];
                printf("%s, %d: line %#lx is written at %s and %s\n", impl, n,
                       (unsigned long)stores[0][i].line * LINE, place_of(stores[0][i].by, a),
                       place_of(stores[1][k].by, b));
                count++;
            }
    return count;
}

static void watch_calls(work works[THREADS], const char *impl, int n)
{
    for (int t = 0; t < THREADS; t++) {
        pthread_t thread;
        n_stores[t] = 0;
        works[t].n = n;
        works[t].watch = rank == 0;
        calls(&works[t]); /* what the calls need is made here */
        find_places();
        pthread_create(&thread, NULL, thread_main, &works[t]);
        pthread_join(thread, NULL);
    }
    if (rank != 0)
        return;
    CHECK(n_stores[0] > 3 && n_stores[1] > 3, "%s: lines of %d and %d stores were seen", impl,
          n_stores[0], n_stores[1]);
    CHECK(both_write(impl, n) == 0, "%s: threads write the same cache lines", impl);
    printf("%s, %d integers: the threads write %d and %d cache lines\n", impl, n, n_stores[0],
           n_stores[1]);
}

static void run(const char *impl)
{
    static work works[THREADS];
    char spec[128];
    snprintf(spec, sizeof spec, "*=%s", impl);
    for (int t = 0; t < THREADS; t++) {
        works[t].number = t;
        MPI_Comm_dup(MPI_COMM_WORLD, &works[t].comm);
        CRESTA_Set_impl(works[t].comm, spec);
    }
    for (int n = size; n <= MOST; n *= 16) {
        for (int t = 0; t < THREADS; t++) { /* states next to each other */
            works[t].n = n;
            calls(&works[t]);
        }
        watch_calls(works, impl, n);
    }
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&works[t].comm);
}

static void catch (int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = handler;
    sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    testing_rank = rank;
    testing_watchdog(60);
    page = (size_t)sysconf(_SC_PAGESIZE);
    catch (SIGSEGV, on_store);
    catch (SIGTRAP, on_step);
    if (level == MPI_THREAD_MULTIPLE)
        testing_each(argc > 1 ? argv[1] : "shm", run);
    MPI_Finalize();
    return level == MPI_THREAD_MULTIPLE ? testing_end("shared_lines") : 0;
}

#else

int main(void)
{
    printf("left out: stores are watched on x86-64 and without sanitizers only\n");
    return 0;
}

#endif
