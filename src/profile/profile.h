/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.h - recording: calls, bytes, time and waiting per communicator, collective, size class
 * and implementation.
 *
 * While the program runs, counters hang on the choices of a communicator.  When that goes, they
 * become rows, and rows with one key are added up: on this rank, then over the ranks
 * (profile_merge.c), then written (profile_json.c). */
#ifndef CCO_PROFILE_H
#define CCO_PROFILE_H

#include "mpi/mpi_compat.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/arrivals.h"
#include "call/collectives.h"
#include "comm/members.h"
#include "profile/waiting.h"

enum {
    CCO_SIZE_CLASSES = 48
}; /* class 0: no bytes; class k: 2^(k-1) to 2^k - 1; the last takes the rest */

typedef enum cco_mode { CCO_BLOCKING, CCO_NONBLOCKING, CCO_PERSISTENT, CCO_MODES } cco_mode;

/* What a rank has sent to other nodes. */
typedef struct cco_internode_traffic {
    uint64_t calls; /* of which it is known: those that ran as schedules of ours */
    uint64_t messages, bytes;
} cco_internode_traffic;

typedef struct cco_profile_counter {
    uint64_t calls, bytes;
    uint32_t
        timed; /* calls with larger hashes are not timed; the rest is profile/profile_time.h's: */
    int row;   /* of those kept, counted from 1 (cco_profile_row); 0: none yet, -1: no memory */
    uint64_t ticks, counted;           /* in so many of the calls */
    uint64_t end;                      /* of the last one that was timed; 0: not known */
    uint64_t close;                    /* calls in a row that were close to each other */
    double each, apart;                /* ticks of the last ones, and from one to the next */
    uint64_t untimed, unsure, sampled; /* calls; ticks; calls that were timed in their place, */
    double squares;                    /* and those of their differences from the mean */
    cco_internode_traffic between;
} cco_profile_counter;

/* Rows of one key, added up.  Plain data: rows travel between ranks as bytes. */
typedef struct cco_row {
    char communicator[MPI_MAX_OBJECT_NAME], impl[64];
    char rule[128], refused[96]; /* what decided, and why it is not what the rule names; no keys */
    int32_t coll, mode, size_class, processes;
    int64_t ranks;                 /* that made such calls */
    uint64_t calls_max;            /* of one rank */
    uint64_t calls, bytes;         /* of all ranks */
    double us_min, us_sum, us_max; /* time in these calls, over ranks */
    uint64_t timed;                /* calls of one rank that were timed, the most, */
    double us_error;               /* and how wrong its time is at most for that, of any rank */
    cco_wait_sums sampled;         /* of this rank, until they become */
    cco_waiting waiting;
    int32_t nodes;                 /* of the communicator, the most of one; 0: not known */
    cco_internode_traffic between; /* of all ranks */
} cco_row;

typedef struct cco_rows {
    cco_row *list;
    int count, room;
    int *places, slots; /* by the hash of the key, counted from 1; NULL: rows have no keys */
} cco_rows;

struct cco_choice;
struct cco_comm;

/* True once there will be a profile: all ranks have agreed on it. */
extern bool cco_profiled;

/* True if it is one of the whole run, as CRESTA_PROFILE asks. */
extern bool cco_profiled_run;

/* True while calls are to be recorded; MPI_Pcontrol switches it. */
extern bool cco_profile_active;

static inline int cco_size_class(MPI_Count bytes)
{
    const int bits = bytes > 0 ? 64 - __builtin_clzll((unsigned long long)bytes) : 0;
    return bits < CCO_SIZE_CLASSES ? bits : CCO_SIZE_CLASSES - 1;
}

/* The place, counted from 1, that the row of a record has among those kept, also in copies of them;
 * -1 when memory runs out. */
int cco_profile_row(const struct cco_comm *state, cco_coll coll, const struct cco_choice *choice,
                    cco_mode mode, int size_class);

/* The record for a call, made when first needed; NULL when memory runs out. */
cco_profile_counter *cco_profile_record_slow(struct cco_choice *choice, cco_mode mode,
                                             int size_class);

static inline void cco_internode_traffic_add(cco_internode_traffic *sum,
                                             const cco_internode_traffic *more)
{
    sum->calls += more->calls;
    sum->messages += more->messages;
    sum->bytes += more->bytes;
}

/* Turns the counters of a choice into rows and lets go of them. */
void cco_profile_keep(struct cco_comm *state, cco_coll coll, struct cco_choice *choice);

/* Starts the clock; `rate` is CRESTA_PROFILE_WAIT.  Collective over `comm`, which is like the
 * world, or MPI_COMM_NULL on all ranks: then nobody knows what they wait.  Communicators that are
 * there have to be updated (cco_comm_update). */
void cco_profile_begin(MPI_Comm comm, unsigned rate);

/* No more rows are kept in a set by their keys. */
void cco_rows_end_keys(cco_rows *rows);

/* Appends a row to a set.  False when memory runs out. */
bool cco_rows_add(cco_rows *rows, const cco_row *row);

/* The rows of this rank, and the members of communicators whose rank 0 it is; they are the caller's
 * then. */
cco_rows cco_profile_take(cco_member_sets *members);

/* Adds copies to a set, while the program goes on: of the rows of communicators that are gone, and
 * of what a communicator has counted, which no other thread may do meanwhile. */
void cco_profile_add_kept(cco_rows *rows);
void cco_profile_add_state(cco_rows *rows, const struct cco_comm *state);

/* Their sums become what they say of all calls. */
void cco_rows_finish(cco_rows *rows);

/* Takes from rows of this rank what they were `before`; those without calls go. */
void cco_rows_subtract(cco_rows *rows, const cco_rows *before);

/* Seconds since cco_profile_begin. */
double cco_profile_wall(void);

/* The length of a tick of cco_ticks, measured since then. */
double cco_profile_tick_us(void);

#endif
