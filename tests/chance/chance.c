/* SPDX-License-Identifier: BSD-3-Clause */
/* chance.c - random valid MPI programs: each is derived from a seed, on all ranks alike, runs in
 * plain MPI first and then under every implementation, and must give the same answers.
 *
 *     chance [--seed S] [--programs N] [--seconds T] [--impl A,B,...] [--without CLASS,...]
 *            [--world init|session|both|spawn] [--level single|multiple] [--patience S]
 *            [--show yes] [--steps 3,5-9]
 *
 * Programs S to S + N - 1, or as many as begin within T seconds.  Implementations are given to
 * CRESTA_Set_impl; "mix" is another one for each communicator, "env" what CRESTA_IMPL or the build
 * says, "plain" the MPI's own calls once more.  The form for the preload library, chance_plain, has
 * "env" and "plain" only.  --show prints the steps of each program, on rank 0.
 * Exit code 0: nothing found. 124: no end; what ran then is printed, and how to repeat it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow.h"
#include "steps.h"
#include "testing/testing.h"
#include "worlds.h"

#ifndef CHANCE_LAUNCH
#define CHANCE_LAUNCH "mpiexec"
#endif

static unsigned patience = 60; /* seconds for a pass */
extern char **environ;

static const char *impls = "mpi,nonblock,persist,p2p,shm,os,mix", *world = "init";
static const char *without = "", *level = "single";
static unsigned long first_seed = 1, programs = 10;
static double seconds = 1e9;
static char **arguments, again[1500];
static unsigned long expected[RECORDS];
static int expected_records;
static bool complete;

struct program program;

#define CLASS_NAME(name) #name,
static const char *const class_names[] = {CLASSES(CLASS_NAME)};

bool has(enum class what)
{
    return !program.without[what];
}

void say(const char *format, ...)
{
    char text[WORDS];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(testing_label, sizeof testing_label, "seed %lu, %s, step %d: %s", program.seed,
             program.plain ? "plain" : program.impl, program.step, text);
    if (program.show && program.plain)
        printf("[%d] %4d  %s\n", program.rank, program.step, text), fflush(stdout);
}

int record_new(void)
{
    if (program.records == RECORDS) {
        fprintf(stderr, "chance: too many records\n");
        abort();
    }
    snprintf(program.words[program.records], WORDS, "%.190s", testing_label);
    return program.records++;
}

void record_put(int record, unsigned long value)
{
    if (record >= 0)
        program.results[record] += value;
}

int class_of(int code)
{
    int class = code;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

/* One line that runs this program in this pass alone. */
static void set_again(void)
{
    int at = 0;
    const int most = (int)sizeof again - 300;
    for (char **e = environ; *e && at < most; e++)
        if (strncmp(*e, "CRESTA_", 7) == 0)
            at += snprintf(again + at, (size_t)(most - at), "'%s' ", *e);
    at = at < most ? at : most;
    at += snprintf(again + at, 300, "%s", CHANCE_LAUNCH);
    for (char **e = environ; *e && at < most; e++)
        if (strncmp(*e, "LD_PRELOAD=", 11) == 0)
#ifdef OPEN_MPI
            at += snprintf(again + at, 300, " -x %s", *e);
#else
            at += snprintf(again + at, 300, " -genv LD_PRELOAD %s", *e + 11);
#endif
    snprintf(again + at, sizeof again - (size_t)at,
             " -n %d %s --seed %lu --programs 1 --impl '%s' --world %s --level %s%s%s",
             program.size - (strcmp(world, "spawn") == 0 ? 2 : 0), arguments[0], program.seed,
             program.impl, world, level, *without ? " --without " : "", without);
}

static void put(const char *text)
{
    (void)!write(2, text, strlen(text));
}

/* On whatever ends this process before its time. */
static void tell(const char *what)
{
    put(what);
    put(testing_label);
    put("\nrepeat: ");
    put(again);
    put("\n");
}

static void left_early(void)
{
    if (!complete)
        tell("\nFAIL: the MPI ends the process: ");
}

static void caught(int number)
{
    tell(number == SIGALRM ? "\nFAIL: no end: " : "\nFAIL: a signal ends the process: ");
    if (number == SIGALRM)
        _exit(124);
    signal(number, SIG_DFL);
    raise(number);
}

static void refused(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    (void)comm;
    MPI_Error_string(*code, text, &length);
    put("\nFAIL: an error that no call should have: ");
    put(text);
    caught(SIGABRT);
}

static void watch(void)
{
    MPI_Errhandler handler;
    const int numbers[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    for (int i = 0; i < LEN(numbers); i++)
        signal(numbers[i], caught);
    atexit(left_early);
    MPI_Comm_create_errhandler(refused, &handler);
    MPI_Comm_set_errhandler(program.world, handler);
    MPI_Errhandler_free(&handler);
}

static void pass(const char *impl, bool plain)
{
    program.impl = impl;
    program.plain = plain;
    set_again();
    alarm(patience);
    steps_run();
    alarm(0);
}

static void compare(void)
{
    CHECK(program.records == expected_records, "%d records instead of %d", program.records,
          expected_records);
    for (int i = 0; i < program.records; i++)
        if (program.results[i] != expected[i]) {
            snprintf(testing_label, sizeof testing_label, "%s", program.words[i]);
            CHECK(0, "another result than in plain MPI: %lx, not %lx", program.results[i],
                  expected[i]);
        }
}

/* In plain MPI, then under each implementation. */
static void run_seed(unsigned long seed)
{
    static char list[500]; /* the name of the last one is read after the last pass */
    char *rest = list;
    program.seed = seed;
    pass("plain", true);
    memcpy(expected, program.results, sizeof expected);
    expected_records = program.records;
    snprintf(list, sizeof list, "%s", impls);
    for (char *impl; (impl = strsep(&rest, ",")) != NULL;) {
        const long before = testing_failures;
        pass(impl, strcmp(impl, "plain") == 0);
        compare();
        if (testing_failures > before)
            fprintf(stderr, "repeat: %s\n", again);
    }
}

static void leave_out(void)
{
    char list[500], *rest = list;
    snprintf(list, sizeof list, "%s", without);
    for (char *word; (word = strsep(&rest, ",")) != NULL;)
        for (int i = 0; i < CLASS_COUNT; i++)
            if (strcmp(word, class_names[i]) == 0)
                program.without[i] = true;
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--seed") == 0)
            first_seed = strtoul(value, NULL, 10);
        else if (strcmp(name, "--programs") == 0)
            programs = strtoul(value, NULL, 10);
        else if (strcmp(name, "--seconds") == 0)
            seconds = atof(value), programs = -1ul;
        else if (strcmp(name, "--impl") == 0)
            impls = value;
        else if (strcmp(name, "--without") == 0)
            without = value;
        else if (strcmp(name, "--steps") == 0)
            program.steps = value;
        else if (strcmp(name, "--world") == 0)
            world = value;
        else if (strcmp(name, "--level") == 0)
            level = value;
        else if (strcmp(name, "--patience") == 0)
            patience = (unsigned)atoi(value);
        else if (strcmp(name, "--show") == 0)
            program.show = strcmp(value, "yes") == 0;
    }
    program.threads = strcmp(level, "multiple") == 0;
    arguments = argv;
    leave_out();
}

static bool time_left(double end)
{
    int more = MPI_Wtime() < end;
    if (seconds < 1e9)
        PMPI_Bcast(&more, 1, MPI_INT, 0, program.world);
    return more;
}

int main(int argc, char **argv)
{
    unsigned long k = 0;
    read_options(argc, argv);
    const int code = world_begin(world, &argc, &argv);
    if (code != 0)
        return code;
    MPI_Comm_rank(program.world, &program.rank);
    MPI_Comm_size(program.world, &program.size);
    testing_rank = program.rank;
    program.words = malloc(sizeof *program.words * RECORDS);
    watch();
    const double end = MPI_Wtime() + seconds;
    for (; k < programs && time_left(end); k++)
        run_seed(first_seed + k);
    if (program.rank == 0)
        printf("chance: %lu programs from seed %lu\n", k, first_seed);
    free(program.words);
    say("the end");
    alarm(patience);
    world_end();
    complete = true;
    return testing_end("chance");
}
