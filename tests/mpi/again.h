/* SPDX-License-Identifier: BSD-3-Clause */
/* again.h - calls at random that come again, or nearly so (again.c): what a call is. */
#ifndef TESTS_AGAIN_H
#define TESTS_AGAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "call.h"

enum {
    AGAIN_RANKS = 16,
    AGAIN_PLACES = 3,    /* for communicators, types and operations, which come and go */
    AGAIN_ROOM = 1 << 20 /* of a buffer, in bytes */
};

/* Types that come and go are of int; in one element there may be several. */
enum base { OF_INT, OF_DOUBLE, OF_BYTE, OF_SHORT, OF_PAIR, BASES };

/* A call, as all ranks know it. */
struct wish {
    enum coll coll;
    int comm, root, n;
    enum base base;
    int type; /* of a reduction: 0, or a place and 1 */
    int op;   /* places of operations that come and go, then those of the standard */
    bool in_place, large;
    unsigned seed;      /* of counts that are not alike: */
    int from, to, more; /* of which one is another */
};

/* What a rank adds to that by itself. */
struct habit {
    int type[2]; /* of data that it sends and receives, likewise */
    int arrays;  /* where its counts lie */
    int gap, shift[2];
};

/* A communicator that comes and goes. */
struct place {
    MPI_Comm comm;
    int rank, size;
};

/* A call with its buffers. */
struct made {
    struct call call;
    size_t sent, received; /* bytes that belong to the buffers */
    bool compares;         /* what it receives is defined */
};

extern struct place again_comms[AGAIN_PLACES];

/* Communicators: the first is a line of all ranks. */
void again_comm_make(int place, int kind);
void again_comm_free(int place);

/* Types: `ints` in one element, side by side or each second one. */
void again_type_make(int place, int ints, bool apart);
void again_type_free(int place);

/* Operations: a sum, the left operand, the exclusive or. */
void again_op_make(int place, int kind);
void again_op_free(int place);

/* The call; its buffers are filled the same each time. */
void again_make(const struct wish *wish, const struct habit *habit, unsigned data,
                struct made *made);

/* The same call by the MPI, not in place, on memory of its own; where it has put what it
 * receives. */
const char *again_reference(const struct wish *wish, const struct made *made);

/* Whether the send buffer is what it was. */
bool again_sent_is_whole(const struct made *made);

#endif
