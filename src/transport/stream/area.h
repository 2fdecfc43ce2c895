/* SPDX-License-Identifier: BSD-3-Clause */
/* area.h - memory that the ranks of a communicator write to and read from on each other: what
 * one-sided transports are made of, MPI windows and coarrays alike.
 *
 * Each rank has a share of `bytes`, zero to begin with.  Nothing orders what ranks do there but
 * `tell`: what was put to a peer and completed, or written by this rank into its own share, before
 * a word was told to that peer, can be read by the peer, in its share or with a get, once it has
 * seen the word after a `look`. */
#ifndef CCO_AREA_H
#define CCO_AREA_H

#include "mpi/mpi_compat.h"
#include "base/watch.h"
#include "base/writes.h"
#include <stddef.h>
#include <stdint.h>

typedef struct cco_area cco_area;

/* What an area can do.  Operations return MPI_SUCCESS or an MPI error class; `at` counts bytes of
 * the peer's share.  A peer may be this rank. */
typedef struct cco_area_kind {
    const char *name;
    /* Begin to write, or to read, `n` bytes; over with the next `complete` of that peer, until when
     * the memory of this side must stay as it is. */
    int (*put)(cco_area *area, int peer, size_t at, const void *from, size_t n);
    int (*get)(cco_area *area, int peer, size_t at, void *to, size_t n);
    /* Waits until all that was put to a peer is there, and all that was got from it is here. */
    int (*complete)(cco_area *area, int peer);
    /* Writes a word, never half of it; `at` is a multiple of 4.  There when it returns. */
    int (*tell)(cco_area *area, int peer, size_t at, uint32_t word);
    /* Whatever others have told and put is seen in this rank's share from now on.  Lets the MPI get
     * on: others may wait for that. */
    int (*look)(cco_area *area);
} cco_area_kind;

struct cco_area {
    const cco_area_kind *kind;
    char *share; /* of this rank, aligned to 64 bytes */
    size_t bytes;
    int rank, size;
    const int *ranks; /* of the communicator, of each of these; NULL: the same */
    char **shares;    /* of each rank, where all are in the memory of this one; else NULL */
    MPI_Comm comm;    /* of these ranks */
    unsigned looks;
    cco_watch *watch;  /* of these ranks; NULL: nobody looks after them */
    cco_writes writes; /* by ordinary or other stores, into shares */
};

/* The kind of areas with `shares`: ranks read and write there by themselves. */
extern const cco_area_kind cco_area_direct;

/* A direct area that never calls the MPI. */
extern const cco_area_kind cco_area_quiet;

/* For `look`: every so many times lets the MPI get on. */
int cco_area_progress_mpi(cco_area *area, unsigned every);

#endif
