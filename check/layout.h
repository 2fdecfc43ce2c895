/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - ways for ints to lie in memory, and a side (send or receive) of a call made of blocks
 * of them. */
#ifndef CHECK_LAYOUT_H
#define CHECK_LAYOUT_H

#include <mpi.h>
#include <stddef.h>

enum { MAX_RANKS = 256, GUARD = 1024, COLUMN_SPAN = 128 /* ints */ };

enum layout_name { INTS, PAIRS, GAPS, NEGATIVE, COLUMN, LAYOUTS };

struct layout {
    MPI_Datatype type;
    int unit; /* ints in an element: always divides a block */
    MPI_Aint extent;
};
extern struct layout layouts[LAYOUTS];

void layouts_make(void);
void layouts_free(void);

/* One element that holds all n ints: 1 x this has the signature of n x MPI_INT. The caller frees
 * the type. */
struct layout layout_whole(int n);

/* A buffer in three states: as the call gets it, as it was before, as it must be after. */
struct buffer {
    unsigned char *now, *before, *after;
    size_t size;
    void *start; /* what the call is given: GUARD bytes into now */
};

void buffer_make(struct buffer *buffer, size_t payload);
void buffer_free(struct buffer *buffer);

/* Copy before to now. */
void buffer_reset(const struct buffer *buffer);

/* The first byte in which now differs from after, relative to start; -GUARD - 1 if none does. */
ptrdiff_t buffer_differs(const struct buffer *buffer);

/* How blocks follow each other: as in allgather, by displacements in elements (v), in bytes (w). */
enum placing { REGULAR, ELEMENTS, BYTES };

struct side {
    struct buffer buffer;
    int blocks;
    struct layout layout[MAX_RANKS];
    MPI_Datatype types[MAX_RANKS];
    int counts[MAX_RANKS], displs[MAX_RANKS];
    size_t at[MAX_RANKS]; /* bytes from start */
};

/* Place blocks of so many ints each; layout[] is set by the caller, and equal in all blocks unless
 * BYTES. */
void side_make(struct side *side, int blocks, const int *ints, enum placing placing);

/* Write the ints of a block through its type into one of the three states of the buffer. */
void side_put(const struct side *side, unsigned char *state, int block, const int *values);

#endif
