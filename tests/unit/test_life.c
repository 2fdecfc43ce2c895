/* SPDX-License-Identifier: BSD-3-Clause */
/* test_life.c - whether a process still runs: a child that runs, that was killed, that nobody has
 * waited for, and whose number means another one now. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "testing/testing.h"

/* A child that says who it is, and then waits for its end. */
static pid_t start(cco_proc *life)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        const cco_proc mine = cco_proc_mine();
        if (write(ends[1], &mine, sizeof mine) == sizeof mine)
            pause();
        _exit(1);
    }
    CHECK(read(ends[0], life, sizeof *life) == sizeof *life, "the child says nothing");
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void await_end(const cco_proc *life)
{
    while (!cco_proc_ended(life)) /* the watchdog ends it */
        usleep(1000);
}

static void running_and_ended(void)
{
    cco_proc life;
    const pid_t child = start(&life);
    CHECK(life.process == child && life.begun > 0, "process %lld", (long long)life.process);
    CHECK(!cco_proc_ended(&life), "a child that runs is said to be over");
    kill(child, SIGKILL);
    await_end(&life); /* also before anybody has waited for it */
    waitpid(child, NULL, 0);
    CHECK(cco_proc_ended(&life), "what has ended runs again");
}

/* Emulators of a processor tell a start of their own, a moment later than the kernel's. */
static void starts_apart(void)
{
    cco_proc life;
    const pid_t child = start(&life);
    const long second = sysconf(_SC_CLK_TCK);
    cco_proc later = {life.process, life.begun + (uint64_t)second / 10};
    cco_proc much_later = {life.process, life.begun + 1000 * (uint64_t)second};
    CHECK(!cco_proc_ended(&later) && !cco_proc_ended(&much_later), "it told a later start");
    if (life.begun > 2 * (uint64_t)second) {
        cco_proc before = {life.process, life.begun - 2 * (uint64_t)second};
        CHECK(cco_proc_ended(&before), "its number means another process now");
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(void)
{
    const cco_proc nobody = {0, 0}, mine = cco_proc_mine();
    testing_watchdog(60);
    CHECK(!cco_proc_ended(&nobody), "an unknown process");
    CHECK(!cco_proc_ended(&mine), "this one");
    running_and_ended();
    starts_apart();
    return testing_end("test_life");
}
