/* SPDX-License-Identifier: BSD-3-Clause */
/* problem.h - one collective call on one rank as an algorithm sees it: ranks, blocks, bytes.
 *
 * Sizes are bytes of data, without the gaps of datatypes: all ranks agree on them where MPI makes
 * them agree, in whatever types they describe their buffers. */
#ifndef CCO_PROBLEM_H
#define CCO_PROBLEM_H

#include "call/collectives.h"
#include "comm/model.h"
#include "comm/neighbors.h"
#include "sched/node_map.h"
#include "sched/sched.h"

/* How elements lie in memory.  A schedule depends on numbers only; the type is for transports. */
typedef struct cco_layout {
    size_t size;       /* bytes of data of an element */
    ptrdiff_t extent;  /* bytes of memory from one to the next */
    size_t spill;      /* bytes that one reaches beyond its extent */
    bool dense;        /* the data are the memory: no gaps, in order */
    MPI_Datatype type; /* of an element */
} cco_layout;

/* The blocks of a buffer.  The arrays are NULL where all blocks are alike. */
typedef struct cco_side {
    cco_base base; /* in place, the send side lies in CCO_OUT */
    int blocks;    /* 0 where the buffer is not significant */
    int layout;
    ptrdiff_t start;     /* memory from the base to the first block */
    size_t each;         /* bytes of a block */
    ptrdiff_t pitch;     /* memory from one block to the next */
    const size_t *n;     /* bytes of each block */
    const ptrdiff_t *at; /* memory from the base to each */
} cco_side;

typedef struct cco_problem {
    cco_coll coll;
    int rank, size, root;
    bool commutative; /* the operation; true for the collectives without one */
    size_t bytes; /* of a rank's block or of the vector (call/call.h); 0 if ranks do not share it */
    size_t unit;  /* data may be cut at multiples of this: an element in reductions, else 1 */
    cco_side in, out; /* in place, `in` lies where the data are: nothing else need know */
    const size_t
        *counts;  /* if an algorithm asks (algo.h), else NULL: bytes of every rank's block;
                     of an alltoallv what each rank of this node gives to all ranks, and
                     then what it takes, on the first rank of the node; on others of them
                     alone; of neighbors the same of ranks of other nodes (neighbor_counts.h) */
    bool pieces;  /* messages to other nodes go in pieces (node_map.h), as hier has them */
    bool empties; /* some messages have no bytes: they end a wait for others (transport.h) */
    const cco_node_map *nodes; /* of the ranks, where the model tells them; NULL: it does not */
    const cco_neighbors *near; /* of this rank, in neighborhood collectives; else NULL */
    const cco_layout *layouts; /* CCO_IN, CCO_OUT and CCO_TMP first */
    long params[CCO_PARAMS];   /* of the algorithm */
} cco_problem;

/* The block that a side has for rank `i`, counted modulo the number of ranks; of a neighborhood
 * collective the `i`th. */
cco_span cco_block(const cco_problem *q, const cco_side *side, int i);

/* The most blocks that a side of this rank has, in whatever collective on the communicator: room
 * for arrays. */
int cco_most_blocks(const cco_problem *q);

/* The block of a side that has one: what this rank gives to a gather, the vector of an allreduce.
 */
cco_span cco_whole(const cco_side *side);

/* How many counts an algorithm that asks gets on this rank. */
size_t cco_count_of_counts(const cco_problem *q);

/* Bytes before part `i` of a span that is cut into `parts`, 0 to `parts`. */
size_t cco_cut_start(const cco_problem *q, cco_span span, int i, int parts);

/* Part `i` (modulo `parts`) of a span cut at units as evenly as can be; the first are larger. */
cco_span cco_cut(cco_sched *s, const cco_problem *q, cco_span span, int i, int parts);

#endif
