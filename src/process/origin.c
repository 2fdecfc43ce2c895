/* SPDX-License-Identifier: BSD-3-Clause */
/* origin.c - see origin.h.  A line has a kind, a rank and members of a JSON object; ranks with the
 * same members become one object. */
#define _GNU_SOURCE
#include "process/origin.h"

#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/config.h"
#include "base/json_out.h"
#include "base/node_key.h"
#include "tune/machine.h"

enum {
    SETS = 32, /* of 1024 cores: the kernel refuses a set that is smaller than its own */
    ARGUMENTS = 8192,
    VALUE = 1024 /* bytes of a variable */
};
#define CUT "[...]" /* where something is longer */
#define CPU "/sys/devices/system/cpu/cpu%d/topology/"

/* No other variables are written: settings of MPIs and their networks, of threads, of this library,
 * and the number of a batch job. */
static const char *const families[] = {
    "OMPI_MCA_", "PRTE_MCA_",     "PMIX_MCA_",    "MPIR_CVAR_",  "MPICH_",     "I_MPI_",
    "MV2_",      "UCX_",          "FI_",          "HCOLL_",      "PSM2_",      "OMP_",
    "GOMP_",     "KMP_",          "CRESTA_",      "PBS_JOBID=",  "LSB_JOBID=", "SLURM_JOB_ID=",
    "JOB_ID=",   "COBALT_JOBID=", "FLUX_JOB_ID=", "OAR_JOB_ID=", "PJM_JOBID=",
};

/* What launchers tell their ranks in the same way, which is different in each run. */
static const char *const plumbing[] = {
    "OMPI_MCA_orte_",        "OMPI_MCA_ess",   "OMPI_MCA_pmix",
    "OMPI_MCA_initial_wdir", "CRESTA_LOADED=", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=",
    "CRESTA_WATCHDOG_AT=",
};

static bool origin_begins(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

static void origin_put_variables(FILE *file)
{
    const char *comma = "";
    fprintf(file, "{");
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        const char *value = strchr(*at, '=');
        char name[256], text[VALUE + sizeof CUT];
        if (value == NULL || value - *at >= (long)sizeof name ||
            !origin_begins(*at, families, sizeof families / sizeof *families) ||
            origin_begins(*at, plumbing, sizeof plumbing / sizeof *plumbing))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(value - *at), *at);
        snprintf(text, sizeof text, "%.*s%s", VALUE, value + 1,
                 strlen(value + 1) > VALUE ? CUT : "");
        fprintf(file, "%s\n    ", comma);
        cco_put_string(file, name);
        fprintf(file, ": ");
        cco_put_string(file, text);
        comma = ",";
    }
    fprintf(file, "}");
}

/* The words with which this process was started. */
static void origin_put_command(FILE *file)
{
    char words[ARGUMENTS + 1];
    FILE *from = fopen("/proc/self/cmdline", "r");
    const size_t bytes = from != NULL ? fread(words, 1, ARGUMENTS, from) : 0;
    const bool more = from != NULL && fgetc(from) != EOF;
    words[bytes] = '\0';
    fprintf(file, "[");
    for (size_t at = 0; at < bytes; at += strlen(words + at) + 1) {
        fprintf(file, at > 0 ? ", " : "");
        cco_put_string(file, words + at);
    }
    fprintf(file, more ? ", \"" CUT "\"]" : "]");
    if (from != NULL)
        fclose(from);
}

static void origin_put_time(FILE *file, const char *member, time_t when)
{
    char date[32] = "", zone[8] = "";
    struct tm parts;
    if (localtime_r(&when, &parts) != NULL) {
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
        strftime(zone, sizeof zone, "%z", &parts);
    }
    fprintf(file, ",\n  \"%s\": \"%s%.3s:%s\"", member, date, zone, zone[0] ? zone + 3 : "");
}

/* Numbers in rising order as a list: "0-3,8". */
typedef struct origin_list {
    FILE *file;
    int first, last, written;
} origin_list;

static void origin_list_flush(origin_list *list)
{
    if (list->first < 0)
        return;
    fprintf(list->file, "%s%d", list->written++ > 0 ? "," : "", list->first);
    if (list->last > list->first)
        fprintf(list->file, "-%d", list->last);
    list->first = -1;
}

static void origin_list_add(origin_list *list, int number)
{
    if (list->first < 0 || number != list->last + 1) {
        origin_list_flush(list);
        list->first = number;
    }
    list->last = number;
}

/* Clock ticks for which a thread has run; -1: it has ended. */
static long long origin_ticks(const char *thread)
{
    char path[300], text[1024];
    unsigned long long user = 0, kernel = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *at = strrchr(text, ')'); /* its name may have anything in it */
    const char *form = " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu";
    return at != NULL && sscanf(at + 1, form, &user, &kernel) == 2 ? (long long)(user + kernel)
                                                                   : -1;
}

/* The threads of this process; those that compute, and the cores on which these may run. */
typedef struct origin_threads {
    int all, busy;
    cpu_set_t cpus[SETS];
} origin_threads;

static void origin_may_run(origin_threads *threads, int thread)
{
    cpu_set_t its[SETS];
    memset(its, 0, sizeof its);
    if (sched_getaffinity(thread, sizeof its, its) == 0)
        CPU_OR_S(sizeof its, threads->cpus, threads->cpus, its);
}

/* Goes through all threads; returns the ticks of the one that ran longest.  Busy are those that ran
 * for `least` ticks. */
static long long origin_go_through(origin_threads *threads, long long least)
{
    long long most = 0;
    DIR *tasks = opendir("/proc/self/task");
    threads->all = threads->busy = 0;
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        const long long ticks = isdigit(task->d_name[0]) ? origin_ticks(task->d_name) : -1;
        most = ticks > most ? ticks : most;
        threads->all += ticks >= 0;
        threads->busy += ticks >= least;
        if (ticks >= least)
            origin_may_run(threads, atoi(task->d_name));
    }
    if (tasks != NULL)
        closedir(tasks);
    return most;
}

/* A thread computes if it ran for a hundredth of the time, and a tenth of the one that ran most:
 * those of an MPI sleep. */
static void origin_put_binding(FILE *file, int rank, double wall_s)
{
    origin_threads threads;
    memset(&threads, 0, sizeof threads);
    const long long most = origin_go_through(&threads, INT64_MAX);
    const long long least = (long long)(wall_s * (double)sysconf(_SC_CLK_TCK) / 100) + 1;
    origin_go_through(&threads, most / 10 > least ? most / 10 : least);
    origin_may_run(&threads, 0);
    origin_list list = {.file = file, .first = -1};
    fprintf(file, "b %d \"cpus\": \"", rank);
    for (int i = 0; i < SETS * CPU_SETSIZE; i++)
        if (CPU_ISSET_S((size_t)i, sizeof threads.cpus, threads.cpus))
            origin_list_add(&list, i);
    origin_list_flush(&list);
    fprintf(file, "\", \"threads\": %d, \"busy_threads\": %d\n", threads.all, threads.busy);
}

/* A list of processors, if the file has one that begins with this processor. */
static bool origin_read_list(const char *form, int cpu, char *list, int room)
{
    char path[128];
    snprintf(path, sizeof path, form, cpu);
    FILE *file = fopen(path, "r");
    const bool read = file != NULL && fgets(list, room, file) != NULL;
    if (file != NULL)
        fclose(file);
    list[read ? strcspn(list, "\n") : 0] = '\0';
    return read && atoi(list) == cpu;
}

static void origin_put_lists(FILE *file, const char *member, const char *form)
{
    char list[4096];
    const char *comma = "";
    fprintf(file, ", \"%s\": [", member);
    for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
        if (origin_read_list(form, cpu, list, sizeof list)) {
            fprintf(file, "%s", comma);
            cco_put_string(file, list);
            comma = ", ";
        }
    fprintf(file, "]");
}

static void origin_put_machine(FILE *file, int rank)
{
    cco_machine machine;
    cco_machine_here(&machine);
    fprintf(file, "m %d \"processor\": ", rank);
    cco_put_string(file, machine.cpu);
    origin_put_lists(file, "sockets", CPU "core_siblings_list");
    origin_put_lists(file, "cores", CPU "thread_siblings_list");
    fprintf(file, "\n");
}

/* The first rank under this one's kernel, whose machine is that of both. */
static int origin_leader(int rank, int ranks, const char *host)
{
    const uint64_t boot = cco_boot_key(), mine = boot != 0 ? boot : cco_hash(1, host);
    uint64_t *all = malloc((size_t)ranks * sizeof *all);
    int first = 0;
    const bool room = cco_service_all(all != NULL, MPI_COMM_WORLD);
    if (!room || cco_service_allgather(&mine, all, sizeof mine, MPI_COMM_WORLD) != MPI_SUCCESS)
        first = rank;
    while (first < rank && all[first] != mine)
        first++;
    free(all);
    return first;
}

void cco_origin_begin(cco_origin *origin, double wall_s)
{
    char host[256] = "";
    int rank, ranks;
    *origin = (cco_origin){.file = NULL};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    gethostname(host, sizeof host - 1);
    const int leader = origin_leader(rank, ranks, host);
    origin->file = open_memstream(&origin->text, &origin->bytes);
    if (origin->file == NULL)
        return;
    fprintf(origin->file, "h %d \"name\": ", rank);
    cco_put_string(origin->file, host);
    fprintf(origin->file, ", \"machine\": %d\n", leader);
    if (leader == rank)
        origin_put_machine(origin->file, rank);
    origin_put_binding(origin->file, rank, wall_s);
}

static const void *origin_give(void *what, size_t *bytes)
{
    cco_origin *origin = what;
    const bool there = origin->file != NULL && fflush(origin->file) == 0;
    *bytes = there ? origin->bytes : 0;
    return there ? origin->text : NULL;
}

static bool origin_take(void *what, void *theirs, size_t bytes)
{
    cco_origin *origin = what;
    if (origin->file != NULL)
        fwrite(theirs, 1, bytes, origin->file);
    return true;
}

cco_merger cco_origin_merger(cco_origin *origin)
{
    return (cco_merger){origin_give, origin_take, origin, NULL, NULL};
}

typedef struct origin_line {
    char kind;
    int rank;
    const char *members;
} origin_line;

static int origin_compare(const void *x, const void *y)
{
    const origin_line *a = x, *b = y;
    const int order = a->kind != b->kind ? a->kind - b->kind : strcmp(a->members, b->members);
    return order != 0 ? order : a->rank - b->rank;
}

/* Divides a text into lines; how many there are. */
static int origin_divide(char *text, origin_line *lines)
{
    int count = 0;
    for (char *next; (next = strchr(text, '\n')) != NULL; text = next + 1) {
        char *members;
        const int rank = (int)strtol(text + 1, &members, 10);
        *next = '\0';
        lines[count++] = (origin_line){text[0], rank, members + 1};
    }
    qsort(lines, (size_t)count, sizeof *lines, origin_compare);
    return count;
}

static void origin_put_ranks(FILE *file, const char *member, char kind, const origin_line *lines,
                             int count)
{
    const char *before = NULL;
    origin_list ranks = {.file = file, .first = -1};
    fprintf(file, ",\n  \"%s\": [", member);
    for (int i = 0; i < count; i++) {
        if (lines[i].kind != kind)
            continue;
        if (before == NULL || strcmp(before, lines[i].members) != 0) {
            origin_list_flush(&ranks);
            fprintf(file, "%s{%s, \"ranks\": \"", before == NULL ? "\n    " : "\"},\n    ",
                    lines[i].members);
            ranks.written = 0;
            before = lines[i].members;
        }
        origin_list_add(&ranks, lines[i].rank);
    }
    origin_list_flush(&ranks);
    fprintf(file, before == NULL ? "]" : "\"}]");
}

static char *origin_write(char *text, double wall_s)
{
    char *made = NULL;
    size_t bytes, count = 0;
    for (const char *c = text; *c; c++)
        count += *c == '\n';
    origin_line *lines = malloc((count + 1) * sizeof *lines);
    FILE *file = lines != NULL ? open_memstream(&made, &bytes) : NULL;
    if (file != NULL) {
        const int n = origin_divide(text, lines);
        const time_t now = time(NULL);
        fprintf(file, "{\"command\": ");
        origin_put_command(file);
        origin_put_time(file, "start", now - (time_t)(wall_s + 0.5));
        origin_put_time(file, "end", now);
        fprintf(file, ",\n  \"variables\": ");
        origin_put_variables(file);
        origin_put_ranks(file, "hosts", 'h', lines, n);
        origin_put_ranks(file, "machines", 'm', lines, n);
        origin_put_ranks(file, "bindings", 'b', lines, n);
        fprintf(file, "}");
        fclose(file);
    }
    free(lines);
    return made;
}

char *cco_origin_end(cco_origin *origin, int rank, double wall_s)
{
    const bool there = origin->file != NULL && fclose(origin->file) == 0;
    char *made = there && rank == 0 ? origin_write(origin->text, wall_s) : NULL;
    free(origin->text);
    return made;
}
