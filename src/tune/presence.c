/* SPDX-License-Identifier: BSD-3-Clause */
/* presence.c - see presence.h. */
#include "tune/presence.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "mpi/service.h"

static void presence_late(void *what)
{
    char here[1600];
    int rank, size;
    (void)what;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (cco_host_processes(here, sizeof here))
        cco_say("rank %d of %d waits in MPI_Init for ranks that do not answer. They may be late, or"
                " run without crestacoll, or with CRESTA_OFF=1: it must run in all ranks or in"
                " none. On this host:%s",
                rank, size, here);
}

void cco_presence_await(void)
{
    cco_service_meet(&(cco_patience){CCO_PATIENCE, 2 * CCO_PATIENCE, presence_late, NULL});
}

void cco_presence_report(MPI_Comm comm)
{
    char here[1600], name[MPI_MAX_OBJECT_NAME] = "";
    int length;
    PMPI_Comm_get_name(comm, name, &length);
    if (cco_host_processes(here, sizeof here))
        cco_log(CCO_LOG_WARN,
                "communicator '%s' waits in its first collective for ranks that do not answer."
                " They may be late, or run without crestacoll, which must be in all ranks or in"
                " none. On this host:%s",
                name, here);
}

/* The rank of a process, as launchers tell it. */
static const char *const rank_names[] = {
    "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "PMIX_RANK=", "SLURM_PROCID="};

/* A file of /proc as one string, with zeros where it has them; its length, 0 if it is not for us.
 */
static size_t host_processes_read_file(const char *process, const char *name, char *text,
                                       size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", process, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    const size_t n = fread(text, 1, room - 1, file);
    text[n] = '\0';
    fclose(file);
    return n;
}

static long parent_of(const char *process)
{
    char text[512];
    long parent = -1;
    host_processes_read_file(process, "stat", text, sizeof text);
    const char *behind = strrchr(text, ')'); /* the name may hold anything */
    if (behind != NULL)
        sscanf(behind, ") %*c %ld", &parent);
    return parent;
}

/* -1 if no launcher has given it a rank. */
static int host_processes_rank_of(const char *process)
{
    char path[64], *word = NULL;
    size_t room = 0;
    int rank = -1;
    snprintf(path, sizeof path, "/proc/%.20s/environ", process);
    FILE *file = fopen(path, "r");
    while (file != NULL && rank < 0 && getdelim(&word, &room, '\0', file) > 0)
        for (size_t i = 0; i < sizeof rank_names / sizeof rank_names[0]; i++)
            if (strncmp(word, rank_names[i], strlen(rank_names[i])) == 0)
                rank = atoi(word + strlen(rank_names[i]));
    free(word);
    if (file != NULL)
        fclose(file);
    return rank;
}

static bool same_program(const char *process)
{
    char path[64], mine[PATH_MAX], theirs[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%.20s/exe", process);
    const ssize_t m = readlink("/proc/self/exe", mine, sizeof mine);
    const ssize_t n = readlink(path, theirs, sizeof theirs);
    return m > 0 && m == n && memcmp(mine, theirs, (size_t)m) == 0;
}

static bool maps_library(const char *process)
{
    char path[64], line[PATH_MAX + 128];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/maps", process);
    FILE *file = fopen(path, "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strstr(line, "/libcrestacoll") != NULL;
    if (file != NULL)
        fclose(file);
    return found;
}

/* Where it is in no file of its own it is in the program. */
static bool has_library(const char *process)
{
    return maps_library(process) || (!maps_library("self") && same_program(process));
}

bool cco_host_processes(char *text, size_t room)
{
    const long parent = parent_of("self"), self = getpid();
    bool first = true;
    size_t used = 0;
    DIR *all = opendir("/proc");
    *text = '\0';
    for (struct dirent *d; all != NULL && (d = readdir(all)) != NULL;) {
        char name[64] = "";
        if (!isdigit((unsigned char)d->d_name[0]) || parent_of(d->d_name) != parent)
            continue;
        const int rank = host_processes_rank_of(d->d_name);
        const bool has = has_library(d->d_name);
        if (rank < 0)
            continue;
        first = first && !(has && atol(d->d_name) < self);
        host_processes_read_file(d->d_name, "comm", name, sizeof name);
        name[strcspn(name, "\n")] = '\0';
        if (used < room)
            used += (size_t)snprintf(text + used, room - used, "%s rank %d (process %.20s, %s) %s",
                                     used > 0 ? "," : "", rank, d->d_name, name,
                                     has ? "with it" : "without it");
    }
    if (all != NULL)
        closedir(all);
    return first;
}
