/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.h - memory that the ranks of a communicator on one node share.
 *
 * It has no name: rank 0 makes it (memfd_create), the others map it by way of /proc, and the kernel
 * frees it with the last process, however that ends.  Each rank has a share of it, whose pages it
 * takes itself before anybody writes there: near its core, and no write finds memory run out. */
#ifndef CCO_SEGMENT_H
#define CCO_SEGMENT_H

#include "mpi/mpi_compat.h"
#include "mpi/service.h"
#include "base/watch.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names a segment: all ranks that have mapped it know it by this, and no other segment has it. */
typedef struct cco_segment_id {
    uint64_t process, inode; /* that made it, of its memory; 0 if there is none */
} cco_segment_id;

typedef struct cco_segment {
    char *memory; /* zero to begin with; NULL: there is none */
    size_t share; /* bytes of a rank, whole pages */
    int shares;
    cco_peer_state *seats; /* of the ranks that share it, behind the shares */
    int members, me;       /* these, and the place of this rank among them */
    bool counted;          /* its share is among what `most` bounds */
    bool unlike; /* there is none because ranks asked for unlike sizes, as all of them know */
    cco_segment_id id;
} cco_segment;

/* Bytes in whole pages. */
size_t cco_segment_pages(size_t bytes);

/* Bytes of this process, of all segments that count: its shares, and its parts of the seats. */
size_t cco_segments_in_use(void);

/* Makes a segment with `share` bytes for each rank; collective over `comm`, on which errors are
 * returned.  True on all ranks, or false on all: ranks on other nodes, in other containers, no
 * memory, or more for one of them than `most` bytes in all segments with such a bound; SIZE_MAX for
 * none. */
bool cco_segment_make(cco_segment *segment, size_t share, size_t most, MPI_Comm comm);

/* A rank's part of a segment whose shares are not one for each rank in turn. */
typedef struct cco_segment_part {
    int shares;  /* of the segment, the same on all ranks */
    int share;   /* this rank's: nobody else's */
    size_t uses; /* bytes of it: this rank takes no further pages */
} cco_segment_part;

bool cco_segment_make_parts(cco_segment *segment, size_t share, size_t most,
                            const cco_segment_part *part, MPI_Comm comm);

/* Makes a segment for some ranks of a communicator, with a share for each of them. */
bool cco_segment_make_among(cco_segment *segment, size_t share, size_t most,
                            const cco_company *company);

void cco_segment_free(cco_segment *segment); /* local */

/* This rank writes nothing more there because of an error, a class, and others must not wait for it
 * (base/watch.h).  It must not be given to a pool. */
void cco_segment_leave(cco_segment *segment, int error);

/* Leaves the segment, and puts memory of this rank alone, zeros, at the addresses of the shares: a
 * call that is under way comes to its end there, and touches nothing of what others still read. */
void cco_segment_detach(cco_segment *segment, int error);

#endif
