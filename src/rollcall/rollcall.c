/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall.c - see rollcall.h. */
#define _GNU_SOURCE
#include "rollcall/rollcall.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/config.h"
#include "comm/facts.h"
#include "base/log.h"
#include "mpi/mpi_compat.h"
#include "wait/polite.h"
#include "mpi/service.h"
#include "observe/observe.h"
#include "observe/where_comm.h"
#include "base/world.h"
#include "rollcall/address.h"
#include "rollcall/answer_format.h"

enum {
    CALLERS = 4,      /* at once */
    ANSWER = 1 << 16, /* characters */
    LINES = 40,       /* on stderr, of a process */
    ENDED = 123,      /* exit code: CRESTA_WATCHDOG ended the job */
    SEND_MS = 2000,   /* for a peer that does not read the answer it asked for */
    LONGEST_TICK_MS = 5000,
    SHORTEST_TICK_MS = 20,
    REST_MS = 1000,
    LAST_WORDS_MS = 2000 /* between a line and the end of the job: others write theirs */
};

/* A stay of a thread, as long as it lasts. */
typedef struct watched {
    uint64_t version;
    int64_t round;
    int64_t since_ms;
    bool told;
} watched;

static cco_teller who;
static volatile sig_atomic_t asked;
static struct {
    pthread_t thread;
    bool runs, stops; /* the thread */
    int wake, listener, server, callers[CALLERS];
    char *answered; /* the text, there from the beginning on: a rank may hang in malloc */
    int lines;
    watched stays[CCO_WHERE_THREADS];
    int64_t ends_at_ms;     /* 0: the job goes on */
    int64_t rests_until_ms; /* the listener */
    struct sigaction handled_before;
    bool handles;
} caller = {.wake = -1, .listener = -1, .server = -1, .lines = LINES};

static int64_t now_ms(void)
{
    return cco_ns(CLOCK_MONOTONIC) / 1000000;
}

static void rollcall_drop(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* All of it, or the connection ends. */
static void send_all(int *fd, const char *text, size_t length)
{
    while (*fd >= 0 && length > 0) {
        const ssize_t n = send(*fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        struct pollfd ready = {.fd = *fd, .events = POLLOUT};
        if (n > 0)
            text += n, length -= (size_t)n;
        else if (n < 0 && errno != EINTR && (errno != EAGAIN || poll(&ready, 1, SEND_MS) != 1))
            rollcall_drop(fd);
    }
}

static void rollcall_answer(int *fd, const char *head)
{
    const size_t length = cco_answer_format(&who, caller.answered, ANSWER);
    send_all(fd, head, strlen(head));
    send_all(fd, caller.answered, length);
}

static void rollcall_say(const cco_where *where, unsigned seconds)
{
    char text[1024];
    cco_answer_format_line(&who, where, seconds, text, sizeof text);
    if (caller.lines > 0)
        cco_say("%s%s", text, caller.lines == 1 ? " (this process writes no more lines)" : "");
    caller.lines--;
}

/* Without `crestacoll run`: a line for each thread. */
static void say_all(void)
{
    cco_where where = {.now = {.kind = CCO_STAY_NONE}};
    bool any = false;
    for (int k = 0; k < CCO_WHERE_THREADS; k++) {
        cco_where_lock(true);
        if (cco_where_read(k, &where)) {
            rollcall_say(&where, 0);
            any = true;
        }
        cco_where_lock(false);
    }
    if (!any)
        rollcall_say(&(cco_where){.now = {.kind = CCO_STAY_NONE}}, 0);
}

static void tell_asked(void)
{
    static const char line[] = "asked\n";
    if (caller.server >= 0)
        send_all(&caller.server, line, sizeof line - 1);
    else
        say_all();
}

static void tell_hang(const cco_where *where, int64_t ms)
{
    char line[80];
    const unsigned seconds = (unsigned)(ms / 1000);
    const int n = snprintf(line, sizeof line, "hang\tversion=%llu\tseconds=%u\n",
                           (unsigned long long)where->version, seconds);
    send_all(&caller.server, line, (size_t)n);
    if (caller.server >= 0)
        return; /* who ends the job, if need be */
    rollcall_say(where, seconds);
    if (cco_configured.watchdog.ends && caller.ends_at_ms == 0)
        caller.ends_at_ms = now_ms() + LAST_WORDS_MS;
}

/* MPI_Finalize waits for the last rank by its nature; there only questions are answered. */
static bool may_hang(const cco_where *w)
{
    return w->now.inside && w->now.kind != CCO_STAY_FINALIZE;
}

static void look_at(watched *stay, const cco_where *where)
{
    const int64_t now = now_ms(), most = 1000 * (int64_t)cco_configured.watchdog.seconds;
    if (!may_hang(where) || where->version != stay->version || where->step.round != stay->round)
        *stay = (watched){where->version, where->step.round, now, false};
    else if (now - stay->since_ms >= most && !stay->told) {
        stay->told = true;
        tell_hang(where, now - stay->since_ms);
    }
}

static void rollcall_look(void)
{
    cco_where where;
    for (int k = 0; cco_configured.watchdog.seconds > 0 && k < CCO_WHERE_THREADS; k++) {
        cco_where_lock(true);
        if (cco_where_read(k, &where))
            look_at(&caller.stays[k], &where);
        cco_where_lock(false);
    }
    if (caller.ends_at_ms != 0 && now_ms() >= caller.ends_at_ms) {
        cco_say("rank %d (%s, process %ld) ends the job, as CRESTA_WATCHDOG says", who.rank,
                who.host, who.pid);
        _exit(ENDED);
    }
}

/* A question, "tell NUMBER" from the server, comes in one piece: it is the only one under way. */
static void hear_server(void)
{
    char text[128], head[160];
    const ssize_t n = recv(caller.server, text, sizeof text - 1, MSG_DONTWAIT);
    if (n > 0) {
        unsigned number;
        text[n] = '\0';
        if (sscanf(text, "tell %u", &number) == 1) {
            snprintf(head, sizeof head, "told\tquestion=%u\n", number);
            rollcall_answer(&caller.server, head);
        }
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        rollcall_drop(&caller.server);
}

static void hear_caller(int *caller)
{
    char text[128];
    const ssize_t n = recv(*caller, text, sizeof text, MSG_DONTWAIT);
    if (n > 0)
        rollcall_answer(caller, "");
    if (n >= 0 || (errno != EAGAIN && errno != EINTR))
        rollcall_drop(caller);
}

/* In the place of the oldest.  Without a descriptor for it, the listener would be ready all the
 * time: so it rests. */
static void take_caller(void)
{
    static int next;
    const int fd = cco_address_accept(caller.listener);
    if (fd == CCO_ADDRESS_FULL)
        caller.rests_until_ms = now_ms() + REST_MS;
    if (fd < 0)
        return;
    rollcall_drop(&caller.callers[next]);
    caller.callers[next] = fd;
    next = (next + 1) % CALLERS;
}

static void hear_wake(void)
{
    uint64_t count;
    if (read(caller.wake, &count, sizeof count) < 0 && errno != EAGAIN && errno != EINTR)
        rollcall_drop(&caller.wake);
    if (asked) {
        asked = 0;
        tell_asked();
    }
}

static int tick_ms(bool rests)
{
    const unsigned seconds = cco_configured.watchdog.seconds;
    const int eighth = seconds < 1000 ? (int)seconds * 125 : LONGEST_TICK_MS;
    if (seconds == 0)
        return rests ? REST_MS : -1;
    return eighth > LONGEST_TICK_MS    ? LONGEST_TICK_MS
           : eighth < SHORTEST_TICK_MS ? SHORTEST_TICK_MS
                                       : eighth;
}

static bool rollcall_shall_stop(void)
{
    return __atomic_load_n(&caller.stops, __ATOMIC_ACQUIRE);
}

static void rollcall_introduce(void)
{
    char why[320], line[512];
    const char *file = cco_configured.watchdog_at;
    if (file == NULL)
        return;
    caller.server = cco_address_connect(file, rollcall_shall_stop, why, sizeof why);
    if (caller.server < 0) {
        if (!rollcall_shall_stop())
            cco_say("rank %d (%s) reports hangs on stderr, not to crestacoll run: %s", who.rank,
                    who.host, why);
        return;
    }
    send_all(&caller.server, line, cco_answer_format_process(&who, line, sizeof line));
}

static void *rollcall_work(void *data)
{
    (void)data;
    rollcall_introduce();
    while (!rollcall_shall_stop() && caller.wake >= 0) {
        const bool rests = now_ms() < caller.rests_until_ms;
        struct pollfd ready[3 + CALLERS] = {{caller.wake, POLLIN, 0},
                                            {rests ? -1 : caller.listener, POLLIN, 0},
                                            {caller.server, POLLIN, 0}};
        for (int i = 0; i < CALLERS; i++)
            ready[3 + i] = (struct pollfd){caller.callers[i], POLLIN, 0};
        poll(ready, 3 + CALLERS, tick_ms(rests));
        if (ready[0].revents != 0)
            hear_wake();
        if (ready[1].revents != 0)
            take_caller();
        if (ready[2].revents != 0)
            hear_server();
        for (int i = 0; i < CALLERS; i++)
            if (ready[3 + i].revents != 0)
                hear_caller(&caller.callers[i]);
        rollcall_look();
    }
    return NULL;
}

static void rollcall_handle(int number)
{
    const int before = errno;
    const uint64_t one = 1;
    (void)number;
    asked = 1;
    (void)!write(caller.wake, &one, sizeof one);
    errno = before;
}

/* The program's own handler, or the MPI's, comes first. */
static void take_signal(void)
{
    const int number = cco_configured.watchdog_signal;
    struct sigaction ours = {.sa_handler = rollcall_handle, .sa_flags = SA_RESTART};
    if (number == 0 || sigaction(number, NULL, &caller.handled_before) != 0)
        return;
    if (caller.handled_before.sa_flags & SA_SIGINFO ||
        (caller.handled_before.sa_handler != SIG_DFL &&
         caller.handled_before.sa_handler != SIG_IGN)) {
        if (who.rank <= 0 && cco_configured.watchdog_at == NULL) /* else crestacoll run has it */
            cco_say("CRESTA_WATCHDOG_SIGNAL: the program or its MPI handles this signal already; "
                    "name another one");
        return;
    }
    sigemptyset(&ours.sa_mask);
    caller.handles = sigaction(number, &ours, NULL) == 0;
}

static void leave_signal(void)
{
    struct sigaction now;
    const int number = cco_configured.watchdog_signal;
    if (caller.handles && sigaction(number, NULL, &now) == 0 && now.sa_handler == rollcall_handle)
        sigaction(number, &caller.handled_before, NULL);
    caller.handles = false;
}

static void find_who(bool together)
{
    uint64_t world = 0;
    who = (cco_teller){.rank = -1, .size = -1, .pid = getpid()};
    who.spawned = together && cco_job.spawned;
    gethostname(who.host, sizeof who.host - 1);
    if (cco_world_rank(&who.rank))
        PMPI_Comm_size(MPI_COMM_WORLD, &who.size);
    if (!together)
        return;
    world = cco_hash((uint64_t)who.pid ^ (uint64_t)cco_ns(CLOCK_REALTIME), who.host);
    cco_service_bcast(&world, sizeof world, MPI_COMM_WORLD);
    who.world = world;
}

/* The program's signals are not for this thread. */
static bool rollcall_start(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool created = pthread_create(&caller.thread, NULL, rollcall_work, NULL) == 0;
    if (created)
        pthread_setname_np(caller.thread, "crestacoll-hang");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return created;
}

static void rollcall_begin(bool together)
{
    if (!cco_configured.watchdog.on && cco_configured.watchdog_signal == 0)
        return;
    if (together || !caller.runs) /* a session may have come first, on some ranks only */
        find_who(together);
    if (caller.runs)
        return;
    for (int i = 0; i < CALLERS; i++)
        caller.callers[i] = -1;
    caller.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    caller.listener = cco_address_listen(who.pid);
    caller.stops = false;
    caller.answered = malloc(ANSWER);
    caller.runs = caller.wake >= 0 && caller.answered != NULL && rollcall_start();
    if (!caller.runs) {
        cco_log(CCO_LOG_WARN, "rank %d: no thread for CRESTA_WATCHDOG: %s", who.rank,
                strerror(errno));
        free(caller.answered);
        rollcall_drop(&caller.wake);
        rollcall_drop(&caller.listener);
        return;
    }
    cco_where_begin(dlsym(RTLD_DEFAULT, CCO_AHEAD));
    cco_observe_switch(&cco_observer_where, 1);
    if (who.rank >= 0)
        cco_where_comm_of_handle(MPI_COMM_WORLD);
    cco_polite_note(true);
    take_signal();
}

void cco_rollcall_begin(void)
{
    rollcall_begin(true);
}

void cco_rollcall_begin_late(void)
{
    rollcall_begin(false);
}

void cco_rollcall_finalizes(void)
{
    const cco_open_call stay = cco_open_call_of(CCO_STAY_FINALIZE, "Finalize", NULL);
    cco_where_enter(&stay);
}

void cco_rollcall_end(void)
{
    static const char bye[] = "bye\n";
    const uint64_t one = 1;
    if (!caller.runs)
        return;
    leave_signal();
    cco_polite_note(false);
    cco_observe_switch(&cco_observer_where, -1);
    cco_where_end();
    __atomic_store_n(&caller.stops, true, __ATOMIC_RELEASE);
    (void)!write(caller.wake, &one, sizeof one);
    pthread_join(caller.thread, NULL);
    send_all(&caller.server, bye, sizeof bye - 1);
    rollcall_drop(&caller.server);
    rollcall_drop(&caller.listener);
    rollcall_drop(&caller.wake);
    for (int i = 0; i < CALLERS; i++)
        rollcall_drop(&caller.callers[i]);
    free(caller.answered);
    caller.runs = false;
}
