/* SPDX-License-Identifier: BSD-3-Clause */
/* fits.c - see fits.h. */
#define _GNU_SOURCE
#include "fits.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPICH 3.1 and what descends from it agreed on libmpi.so.12; Debian and Cray have names of their
 * own for it.  The interface of the standard (MPI-5.0, chapter 20) goes first, since the last
 * pattern would take it too. */
enum { CHOICES = 2 };
static const struct {
    const char *begin, *end; /* of the soname */
    const char *interfaces[CHOICES];
} interfaces[] = {
    {"libmpi_abi.so.", "", {"mpiabi"}},
    {"libmpi.so.40", "", {"openmpi-5", "openmpi-4"}},
    {"libmpi.so.12", "", {"mpich-4", "mpich-3"}},
    {"libmpich.so.", "", {"mpich-4", "mpich-3"}},
    {"libpmpi.so.12", "", {"mpich-4", "mpich-3"}},
    {"libmpi_", ".so.12", {"mpich-4", "mpich-3"}},
};
enum { INTERFACES = sizeof interfaces / sizeof interfaces[0] };

static bool matches(const char *soname, int i)
{
    const size_t n = strlen(soname), begin = strlen(interfaces[i].begin);
    const size_t end = strlen(interfaces[i].end);
    return n >= begin + end && strncmp(soname, interfaces[i].begin, begin) == 0 &&
           strcmp(soname + n - end, interfaces[i].end) == 0;
}

/* As it calls itself; its file name where it does not. */
static void soname_of(const struct link_map *map, char *soname, size_t room)
{
    const char *strings = NULL, *slash = strrchr(map->l_name, '/');
    size_t at = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
        if (d->d_tag == DT_SONAME)
            at = d->d_un.d_val;
    }
    snprintf(soname, room, "%s", at != 0 ? strings + at : slash != NULL ? slash + 1 : map->l_name);
}

/* The file that defines a function which no tool does, nor we (as we do PMPI_Init). */
#define ANCHOR "PMPI_Get_library_version"
static bool take(void *definition, cco_mpi *mpi)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (definition == NULL || dladdr1(definition, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
        map == NULL || map->l_name[0] == '\0')
        return false;
    mpi->handle = dlopen(map->l_name, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
    snprintf(mpi->path, sizeof mpi->path, "%s", map->l_name);
    soname_of(map, mpi->soname, sizeof mpi->soname);
    return mpi->handle != NULL;
}

/* Names of what is loaded and may be an MPI; the loader holds a lock meanwhile, so that nothing
 * else can be done yet. */
enum { NAMES = 16 };
typedef struct candidates {
    int count;
    char *names[NAMES];
} candidates;

static int note(struct dl_phdr_info *info, size_t size, void *to)
{
    candidates *all = to;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : info->dlpi_name;
    (void)size;
    if (all->count < NAMES && (strncmp(name, "libmpi", 6) == 0 || strncmp(name, "libpmpi", 7) == 0))
        all->names[all->count++] = strdup(info->dlpi_name);
    return 0;
}

static bool take_hidden(cco_mpi *mpi)
{
    candidates all = {.count = 0};
    bool found = false;
    dl_iterate_phdr(note, &all);
    for (int i = 0; i < all.count; i++) {
        void *handle = found || all.names[i] == NULL
                           ? NULL
                           : dlopen(all.names[i], RTLD_LAZY | RTLD_NOLOAD);
        if (handle != NULL) {
            found = take(dlsym(handle, ANCHOR), mpi);
            dlclose(handle);
        }
        free(all.names[i]);
    }
    return found;
}

bool cco_mpi_of_process(cco_mpi *mpi)
{
    return take(dlsym(RTLD_DEFAULT, ANCHOR), mpi) || take_hidden(mpi);
}

static const char here; /* in our file */

/* Where the folders of the interfaces are, seen from that of our file. */
#ifndef CRESTA_INTERFACES
#define CRESTA_INTERFACES ""
#endif

/* That place, with a slash. */
static void folder_of_us(char *folder, size_t room)
{
    Dl_info info;
    const bool known = dladdr(&here, &info) != 0 && strchr(info.dli_fname, '/') != NULL;
    snprintf(folder, room, "%s", known ? info.dli_fname : "./");
    *(strrchr(folder, '/') + 1) = '\0';
    strncat(folder, CRESTA_INTERFACES, room - strlen(folder) - 1);
}

static void *load(const char *interface, const char *file)
{
    char folder[PATH_MAX], path[PATH_MAX + NAME_MAX];
    folder_of_us(folder, sizeof folder);
    snprintf(path, sizeof path, "%s%s/%s", folder, interface, file);
    /* Now: a library that lacks something must not be found out in the middle of a run. */
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *cco_load_fitting(const cco_mpi *mpi, const char *file, const char **interface)
{
    for (int i = 0; i < INTERFACES; i++) {
        if (!matches(mpi->soname, i))
            continue;
        for (int k = 0; k < CHOICES && interfaces[i].interfaces[k] != NULL; k++) {
            void *handle = load(interfaces[i].interfaces[k], file);
            *interface = interfaces[i].interfaces[k];
            if (handle != NULL)
                return handle;
        }
        break;
    }
    return NULL;
}

/* "openmpi-4, mpich-4": the folders that are there. */
static void say_what_is_there(char *text, size_t room)
{
    char folder[PATH_MAX];
    size_t n = 0;
    folder_of_us(folder, sizeof folder);
    DIR *directory = opendir(folder);
    text[0] = '\0';
    for (struct dirent *e; directory != NULL && (e = readdir(directory)) != NULL;) {
        if ((strncmp(e->d_name, "openmpi", 7) == 0 || strncmp(e->d_name, "mpi", 3) == 0) &&
            n < room)
            n += (size_t)snprintf(text + n, room - n, "%s%s", n != 0 ? ", " : "", e->d_name);
    }
    if (directory != NULL)
        closedir(directory);
}

/* It may be asked before MPI_Init (MPI-4.0, section 9.1.1). */
void cco_mpi_version(const cco_mpi *mpi, char text[CCO_VERSION])
{
    int length = 0;
    int (*version)(char *, int *);
    *(void **)&version = dlsym(mpi->handle, "PMPI_Get_library_version");
    text[0] = '\0';
    if (version == NULL || version(text, &length) != 0 || text[0] == '\0')
        snprintf(text, CCO_VERSION, "of no known version");
    text[strcspn(text, "\n")] = '\0';
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\t')
            *c = ' ';
}

/* Its first words. */
static void version_of(const cco_mpi *mpi, char *text, size_t room)
{
    char said[CCO_VERSION];
    cco_mpi_version(mpi, said);
    said[strcspn(said, ",")] = '\0';
    snprintf(text, room, "%.200s", said);
}

void cco_say_misfit(const cco_mpi *mpi, char *text, int room)
{
    char version[256], there[256];
    version_of(mpi, version, sizeof version);
    say_what_is_there(there, sizeof there);
    snprintf(text, (size_t)room,
             "no library fits the MPI of this program, %s (%s, %s): there are %s", mpi->soname,
             version, mpi->path, there);
}

bool cco_is_first_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",     "PMI_RANK",
                                        "MV2_COMM_WORLD_RANK",  "PALS_RANKID",   "SLURM_PROCID",
                                        "ALPS_APP_PE",          "FLUX_TASK_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *rank = secure_getenv(names[i]);
        if (rank != NULL)
            return strcmp(rank, "0") == 0;
    }
    return true;
}
