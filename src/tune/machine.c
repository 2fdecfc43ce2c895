/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.c - see machine.h. */
#include "tune/machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "mpi/mpi_compat.h"

/* What follows "model name :" in a line of /proc/cpuinfo; NULL for any other line. */
static char *model_name(char *line)
{
    if (strncmp(line, "model name", 10) != 0)
        return NULL;
    char *at = line + 10 + strspn(line + 10, " \t");
    if (*at != ':')
        return NULL;
    at += 1 + strspn(at + 1, " \t");
    at[strcspn(at, "\n")] = '\0';
    return *at != '\0' ? at : NULL;
}

static void name_processor(char *cpu, size_t room)
{
    struct utsname system;
    char line[512];
    const char *found = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && found == NULL && fgets(line, sizeof line, file) != NULL)
        found = model_name(line);
    if (file != NULL)
        fclose(file);
    if (found == NULL && uname(&system) == 0)
        found = system.machine;
    snprintf(cpu, room, "%s", found != NULL ? found : "");
}

void cco_machine_mpi(const char *library, char *name, size_t room)
{
    const char *end = library + strcspn(library, ",\n");
    size_t used = 0;
    for (const char *c = library; c < end && used + 2 < room;) {
        const size_t blanks = strspn(c, " \t\r\v\f");
        c += blanks;
        if (c >= end)
            break;
        if (blanks > 0 && used > 0)
            name[used++] = ' ';
        name[used++] = *c++;
    }
    name[used] = '\0';
}

void cco_machine_here(cco_machine *here)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(library, &length);
    cco_machine_mpi(library, here->mpi, sizeof here->mpi);
    name_processor(here->cpu, sizeof here->cpu);
    here->cores = sysconf(_SC_NPROCESSORS_ONLN);
}

bool cco_machine_same(const cco_machine *made, const cco_machine *here, char *text, size_t room)
{
    const bool machine = strcmp(made->cpu, here->cpu) == 0 && made->cores == here->cores;
    const bool mpi = strcmp(made->mpi, here->mpi) == 0;
    const cco_machine *const both[] = {made, here};
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < 2 && !(machine && mpi); i++) {
        const cco_machine *one = both[i];
        char what[640] = "";
        if (!machine)
            snprintf(what, sizeof what, "%s with %lld cores", one->cpu, one->cores);
        if (!mpi)
            snprintf(what + strlen(what), sizeof what - strlen(what), "%s%s",
                     machine ? "" : " and ", one->mpi);
        if (used < room)
            used += (size_t)snprintf(text + used, room - used, "%s%s",
                                     i == 0 ? "it was made for " : ", and this is ", what);
    }
    return machine && mpi;
}
