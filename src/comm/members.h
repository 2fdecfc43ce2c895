/* SPDX-License-Identifier: BSD-3-Clause */
/* members.h - which ranks of MPI_COMM_WORLD the communicators of a profile have.
 *
 * Rank 0 of a communicator knows them all, so only it keeps them, and counts its own bytes: rows of
 * a grid have one name and one size, and a profile adds their calls up, but their members differ.
 */
#ifndef CCO_MEMBERS_H
#define CCO_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "call/collectives.h"
#include "mpi/mpi_compat.h"

enum {
    CCO_MEMBER_RUNS = 64,       /* members that need more runs are not kept */
    CCO_MEMBER_LOOKS = 1 << 30, /* ranks times ranks of MPI_COMM_WORLD: with more it would take
                                   seconds to look them up, and they are not kept either */
    CCO_MEMBER_KEPT = 512,      /* of a rank, or up to twice as many: those with the most bytes */
    CCO_MEMBER_SETS = 4096      /* of a job */
};

/* Ranks first, first + stride, ... */
typedef struct cco_run {
    int32_t first, stride, count;
} cco_run;

/* On how many nodes they are, and ranks of one; 0: not known. */
typedef struct cco_member_nodes {
    int32_t count, ranks_min, ranks_max;
} cco_member_nodes;

/* The members of a communicator in its order, and the bytes of the calls of its rank 0.  Plain
 * data: it travels between ranks as bytes. */
typedef struct cco_members {
    char communicator[MPI_MAX_OBJECT_NAME];
    int32_t processes, runs; /* 0 runs: members are not known: too many, or of another world */
    cco_run run[CCO_MEMBER_RUNS];
    cco_member_nodes nodes;
    uint64_t bytes[CCO_COLLECTIVES];
} cco_members;

typedef struct cco_member_sets {
    cco_members *list;
    int count, room;
} cco_member_sets;

/* Writes `count` ranks as runs.  0 if there are more than CCO_MEMBER_RUNS, or a rank is none. */
int cco_member_runs(const int *ranks, int count, cco_run *run);

/* The members of an intracommunicator, local; NULL when memory runs out. */
cco_members *cco_members_of(MPI_Comm comm);

/* Adds bytes of calls on a communicator, which may be one with the same members and name as an
 * earlier one.  False when memory runs out. */
bool cco_members_add(cco_member_sets *sets, const cco_members *members, const char *name,
                     cco_coll coll, uint64_t bytes);

/* Those with the most bytes come first; no more than CCO_MEMBER_SETS remain. */
void cco_members_sort(cco_member_sets *sets);

/* Collective: the sets of all ranks on rank 0; others have none then. */
void cco_members_gather(MPI_Comm comm, cco_member_sets *sets);

#endif
