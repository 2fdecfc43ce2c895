/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.c - see segment.h. */
#define _GNU_SOURCE
#include "transport/shm/segment.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/wait.h"

/* Where rank 0 has the memory.  Process numbers mean the same to those who run under the same boot
 * of a kernel and in the same name space of processes. */
typedef struct address {
    char boot[40];
    uint64_t processes; /* name space */
    int32_t process, file;
    uint64_t inode; /* of the memory: a file that was opened by mistake has another */
} address;

static void whereabouts(address *a)
{
    struct stat status;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file != NULL) {
        if (fgets(a->boot, sizeof a->boot, file) == NULL)
            a->boot[0] = '\0';
        fclose(file);
    }
    a->processes = stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

/* The memory of rank 0 as a file, -1 if there is none. */
static int make_file(size_t size, address *a)
{
    struct stat status;
    const int file = (int)syscall(SYS_memfd_create, "crestacoll", 1u /* MFD_CLOEXEC */);
    if (file < 0)
        return -1;
    if (ftruncate(file, (off_t)size) != 0 || fstat(file, &status) != 0) {
        close(file);
        return -1;
    }
    a->process = getpid();
    a->file = file;
    a->inode = status.st_ino;
    return file;
}

static int open_file(const address *theirs)
{
    char path[64];
    struct stat status;
    address mine = {.file = -1};
    whereabouts(&mine);
    if (theirs->file < 0 || mine.boot[0] == '\0' || mine.processes == 0 ||
        strcmp(mine.boot, theirs->boot) != 0 || mine.processes != theirs->processes)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", theirs->process, theirs->file);
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file >= 0 && (fstat(file, &status) != 0 || status.st_ino != theirs->inode)) {
        close(file);
        return -1;
    }
    return file;
}

static char *map(int file, size_t size)
{
    void *memory = MAP_FAILED;
    if (file >= 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static bool all_have(bool mine, MPI_Comm comm)
{
    int have = mine, all = 0;
    MPI_Request request;
    return PMPI_Iallreduce(&have, &all, 1, MPI_INT, MPI_MIN, comm, &request) == MPI_SUCCESS &&
           cco_wait(&request) == MPI_SUCCESS && all;
}

bool cco_segment_make(cco_segment *segment, size_t size, MPI_Comm comm, int rank)
{
    address a = {.file = -1};
    MPI_Request request;
    int file = -1;
    *segment = (cco_segment){.size = size};
    if (rank == 0) {
        whereabouts(&a);
        file = make_file(size, &a);
    }
    if (PMPI_Ibcast(&a, (int)sizeof a, MPI_BYTE, 0, comm, &request) != MPI_SUCCESS ||
        cco_wait(&request) != MPI_SUCCESS)
        a.file = -1;
    if (rank != 0)
        file = open_file(&a);
    segment->memory = map(file, size);
    const bool all = all_have(segment->memory != NULL, comm);
    if (file >= 0)
        close(file);
    if (!all)
        cco_segment_free(segment);
    return all;
}

void cco_segment_free(cco_segment *segment)
{
    if (segment->memory != NULL)
        munmap(segment->memory, segment->size);
    segment->memory = NULL;
}
