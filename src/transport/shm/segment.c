/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.c - see segment.h. */
#define _GNU_SOURCE
#include "transport/shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "comm/facts.h"
#include "base/hold_signals.h"
#include "base/log.h"
#include "base/node_key.h"

/* Where rank 0 has the memory.  Process numbers mean the same on a node. */
typedef struct address {
    uint64_t node;
    int32_t process, file;
    uint64_t inode; /* of the memory: a file that was opened by mistake has another */
} address;

/* The memory of rank 0 as a file, -1 if there is none. */
static int make_file(size_t size, address *a)
{
    struct stat status;
    const int file = (int)syscall(SYS_memfd_create, "crestacoll", 1u /* MFD_CLOEXEC */);
    if (file < 0)
        return -1;
    cco_held_signals held;
    cco_hold_signals(&held); /* the limit of the size of files is one here, too */
    const bool grown = ftruncate(file, (off_t)size) == 0;
    cco_let_signals_go(&held);
    if (!grown || fstat(file, &status) != 0) {
        close(file);
        return -1;
    }
    a->process = getpid();
    a->file = file;
    a->inode = status.st_ino;
    return file;
}

/* Ranks whose calls do not match may ask for unlike sizes: beyond its end there is no memory. */
static int open_file(const address *theirs, size_t size, bool *unlike)
{
    char path[64];
    struct stat status;
    const uint64_t node = cco_node_key();
    if (theirs->file < 0 || node == 0 || node != theirs->node)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", theirs->process, theirs->file);
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0)
        return -1;
    const bool known = fstat(file, &status) == 0 && status.st_ino == theirs->inode;
    *unlike = known && status.st_size != (off_t)size;
    if (!known || *unlike) {
        close(file);
        return -1;
    }
    return file;
}

static size_t in_use;

size_t cco_segments_in_use(void)
{
    return __atomic_load_n(&in_use, __ATOMIC_RELAXED);
}

size_t cco_segment_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static size_t shares_of(const cco_segment *segment)
{
    return segment->share * (size_t)segment->shares;
}

static size_t segment_size_of(const cco_segment *segment)
{
    return shares_of(segment) +
           cco_segment_pages((size_t)segment->members * sizeof(cco_peer_state));
}

/* What a rank uses of it: its share, and its part of the seats. */
static size_t of_rank(const cco_segment *segment)
{
    const size_t ranks = (size_t)segment->members;
    return segment->share + (segment_size_of(segment) - shares_of(segment) + ranks - 1) / ranks;
}

static void segment_give_back(cco_segment *segment)
{
    if (segment->counted)
        __atomic_sub_fetch(&in_use, of_rank(segment), __ATOMIC_RELAXED);
    segment->counted = false;
}

static bool may_use(cco_segment *segment, size_t most)
{
    segment->counted = most != SIZE_MAX;
    const size_t mine = of_rank(segment);
    if (!segment->counted || __atomic_add_fetch(&in_use, mine, __ATOMIC_RELAXED) <= most)
        return true;
    segment_give_back(segment);
    return false;
}

/* Takes the pages of a part of the memory.  Linux before 5.17 undoes a call during which a signal
 * comes: it must not be a long one, or a program with a timer never gets through. */
static bool take_pages(int file, size_t from, size_t size)
{
    enum { STEP = 64 << 10 };
    for (size_t done = 0; done < size;) {
        const size_t n = size - done < STEP ? size - done : STEP;
        if (fallocate(file, 0, (off_t)(from + done), (off_t)n) == 0)
            done += n;
        else if (errno != EINTR)
            return errno == EOPNOTSUPP;
    }
    return true;
}

/* The pages of the seats, which are nobody's share, are those of the rank that has the memory. */
static bool take_seats(int file, const cco_segment *segment)
{
    return segment->me != 0 ||
           take_pages(file, shares_of(segment), segment_size_of(segment) - shares_of(segment));
}

/* Before the ranks agree that all have it. */
static void sit_down(cco_segment *segment)
{
    segment->seats = (cco_peer_state *)(void *)(segment->memory + shares_of(segment));
    segment->seats[segment->me].life = cco_proc_mine();
}

/* Maps the memory and takes the pages of this rank's part. */
static char *segment_map(int file, const cco_segment *segment, const cco_segment_part *part)
{
    const size_t size = segment_size_of(segment);
    if (file < 0 || cco_inject_mismatch() ||
        !take_pages(file, segment->share * (size_t)part->share, cco_segment_pages(part->uses)) ||
        !take_seats(file, segment))
        return NULL;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static bool segment_make(cco_segment *segment, size_t share, size_t most,
                         const cco_segment_part *part, const cco_company *c)
{
    address a = {.file = -1};
    int file = -1;
    bool unlike = false;
    const bool first = c->place == 0;
    *segment = (cco_segment){.share = cco_segment_pages(share),
                             .shares = part->shares,
                             .members = c->count,
                             .me = c->place};
    if (first) { /* it has the memory, and tells the others where */
        a.node = cco_node_key();
        file = make_file(segment_size_of(segment), &a);
    }
    if (cco_service_bcast_among(&a, sizeof a, c) != MPI_SUCCESS)
        a.file = -1;
    segment->id = (cco_segment_id){(uint64_t)a.process, a.inode};
    if (!first)
        file = open_file(&a, segment_size_of(segment), &unlike);
    if (may_use(segment, most))
        segment->memory = segment_map(file, segment, part);
    if (segment->memory != NULL)
        sit_down(segment);
    const bool all = cco_service_all_among(segment->memory != NULL, c);
    if (file >= 0)
        close(file);
    if (all)
        return true;
    cco_segment_free(segment);
    segment->unlike = !cco_service_all_among(!unlike, c);
    return false;
}

bool cco_segment_make_parts(cco_segment *segment, size_t share, size_t most,
                            const cco_segment_part *part, MPI_Comm comm)
{
    cco_company all = {.comm = comm};
    PMPI_Comm_rank(comm, &all.place);
    PMPI_Comm_size(comm, &all.count);
    return segment_make(segment, share, most, part, &all);
}

bool cco_segment_make_among(cco_segment *segment, size_t share, size_t most,
                            const cco_company *company)
{
    const cco_segment_part part = {company->count, company->place, share};
    return segment_make(segment, share, most, &part, company);
}

bool cco_segment_make(cco_segment *segment, size_t share, size_t most, MPI_Comm comm)
{
    cco_segment_part part = {.uses = share};
    PMPI_Comm_size(comm, &part.shares);
    PMPI_Comm_rank(comm, &part.share);
    return cco_segment_make_parts(segment, share, most, &part, comm);
}

void cco_segment_free(cco_segment *segment)
{
    segment_give_back(segment);
    if (segment->memory != NULL)
        munmap(segment->memory, segment_size_of(segment));
    segment->memory = NULL;
    segment->seats = NULL;
}

void cco_segment_leave(cco_segment *segment, int error)
{
    if (segment->seats != NULL)
        __atomic_store_n(&segment->seats[segment->me].left, (uint32_t)error, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* before what others may read is other data */
}

void cco_segment_detach(cco_segment *segment, int error)
{
    cco_segment_leave(segment, error);
    if (segment->memory != NULL &&
        mmap(segment->memory, shares_of(segment), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
        cco_fatal("no memory after a process has failed");
}
