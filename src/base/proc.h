/* SPDX-License-Identifier: BSD-3-Clause */
/* proc.h - whether another process of this node still runs.
 *
 * Its number may come to mean another process, so the time of its start goes along.  The kernel
 * tells its end by a pidfd (pidfd_open of Linux 5.3), at once, however it ends and whether or not
 * anybody has waited for it; where there is none, /proc tells.  The pidfd of a process for which
 * this one has waited long stays open until it ends. */
#ifndef CCO_PROC_H
#define CCO_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/mpi_compat.h"

typedef struct cco_proc {
    int64_t process; /* 0: it is not known */
    uint64_t begun;  /* clock ticks after the boot; 0: not known */
} cco_proc;

/* This process. */
cco_proc cco_proc_mine(void);

/* True once it has ended; false also if nobody knows.  A system call or two, from any thread. */
bool cco_proc_ended(const cco_proc *life);

/* A rank of MPI_COMM_WORLD on this node. */
typedef struct cco_neighbor {
    uint64_t node;
    int64_t rank;
    cco_proc life;
} cco_neighbor;

/* This one, and those of all ranks on this node, which stay here.  Lives of ranks in another
 * container are not known. */
cco_neighbor cco_life_neighbor(void);
void cco_lives_take(cco_neighbor *list, int count);

/* The life of a rank of `comm`; NULL if it is not known: on another node or in another world. */
const cco_proc *cco_proc_of(MPI_Comm comm, int rank);

/* Whether the parent of one that has ended, which is the launcher, has seen that. */
bool cco_proc_reaped(const cco_proc *life);

/* The ranks of `comm` on this node that have ended, `most` at most; returns how many. */
int cco_procs_ended(MPI_Comm comm, int *ranks, int most);

#endif
