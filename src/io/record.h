/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h - the MPI-IO calls of this process, counted over time and by file, in bounded memory.
 *
 * Time has the bins of the collectives' timeline (profile/timeline.h): a fixed number, from
 * MPI_Init on, that get twice as long when the run is longer than they hold.  Files beyond a fixed
 * number are counted together.  A call costs one look at a table of open files and a few additions;
 * it allocates no memory and sends nothing. */
#ifndef CCO_IO_RECORD_H
#define CCO_IO_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "mpi/mpi_compat.h"
#include "profile/timeline.h"

enum {
    CCO_IO_FILES = 64,    /* that are counted one by one */
    CCO_IO_NAME = 256,    /* of a file, with its end; of a longer one the last characters */
    CCO_IO_HANDLES = 64,  /* that are open at a time; files of others are not told apart */
    CCO_IO_IN_WINDOW = 8, /* bins: in such windows we look whether all ranks of a file call */
    CCO_IO_WINDOWS = CCO_BINS / CCO_IO_IN_WINDOW,
};

/* How data calls work; calls with a shared pointer are independent, ordered ones collective. */
typedef enum cco_io_kind {
    CCO_IO_INDEPENDENT,
    CCO_IO_COLLECTIVE,
    CCO_IO_SPLIT,                  /* collective: begin and end are one call */
    CCO_IO_NONBLOCKING,            /* independent */
    CCO_IO_NONBLOCKING_COLLECTIVE, /* MPI_File_iwrite_all and its like */
    CCO_IO_KINDS
} cco_io_kind;
enum { CCO_IO_READ, CCO_IO_WRITE, CCO_IO_DIRECTIONS };

/* What is counted apart: each kind in both directions, then calls that move no data. */
#define CCO_IO_PART(kind, direction) ((int)(kind) * (int)CCO_IO_DIRECTIONS + (int)(direction))
enum {
    CCO_IO_DATA_PARTS = CCO_IO_KINDS * CCO_IO_DIRECTIONS,
    CCO_IO_OPEN = CCO_IO_DATA_PARTS,
    CCO_IO_CLOSE,
    CCO_IO_SYNC,
    CCO_IO_SET_VIEW,
    CCO_IO_PARTS
};

typedef struct cco_io_amount {
    uint64_t calls, bytes, ticks;
} cco_io_amount;

/* Independent calls of this rank in a window of time. */
typedef struct cco_io_apart {
    uint64_t calls, bytes;
} cco_io_apart;

typedef struct cco_io_file {
    char name[CCO_IO_NAME]; /* as the program named it; "" of files that it opened unseen */
    int processes;          /* that opened it together; 0: no file */
    cco_io_amount of[CCO_IO_PARTS];
    cco_io_apart apart[CCO_IO_DIRECTIONS][CCO_IO_WINDOWS];
} cco_io_file;

typedef struct cco_io_record {
    cco_clock_mark begin;
    unsigned shift;     /* a bin has 2^shift ticks */
    bool shared, taken; /* as in cco_timeline */
    cco_io_amount bins[CCO_BINS][CCO_IO_PARTS];
    cco_io_file files[CCO_IO_FILES];
    cco_io_file other; /* the sum of all that have no place */
} cco_io_record;

/* That of this process, from cco_io_begin on. */
extern cco_io_record *cco_io_here;

/* True while calls are counted. */
extern bool cco_io_recording;

/* Where the outermost counted call of this thread has its frame; NULL outside of one. */
extern _Thread_local const char *cco_io_frame __attribute__((tls_model("initial-exec")));

/* Starts the clock. */
void cco_io_begin(void);

/* MPI_Pcontrol: suspends counting, or resumes it if it had begun. */
void cco_io_control(int level);

/* Whether a file comes before another where not all have a place.  It does not depend on what a
 * rank does with them: so the first ones on all ranks together are nowhere among the others. */
bool cco_io_before(const cco_io_file *a, const cco_io_file *b);

/* Makes bins longer until they hold the moment `now`. */
void cco_io_reach(cco_io_record *record, uint64_t now);

/* Begins a call of the program; false if it is not counted: nothing is, or it comes from within
 * another one (an MPI or a tool that calls by public names).  An error handler may leave a call by
 * longjmp: a call that is not deeper in the stack than one that has not come back is no part of it.
 */
static inline bool cco_io_enter(uint64_t *start)
{
    if (!__atomic_load_n(&cco_io_recording, __ATOMIC_RELAXED))
        return false;
    const char *frame = __builtin_frame_address(0);
    if (cco_io_frame != NULL && frame < cco_io_frame)
        return false;
    cco_io_frame = frame;
    *start = cco_ticks();
    return true;
}

/* Ends it. */
static inline void cco_io_leave(void)
{
    cco_io_frame = NULL;
}

/* The bytes in the status of a data call, whatever its type. */
uint64_t cco_io_bytes(const MPI_Status *status);

/* The bytes that a call asks for. */
uint64_t cco_io_asked(MPI_Count count, MPI_Datatype type);

/* A call of some part, on a file, from `start` until now; it moved `bytes`. */
void cco_io_count(int part, MPI_File file, uint64_t start, uint64_t bytes);

/* Begin and end of a split collective: one call, whose bytes move from the start of the one to the
 * end of the other. */
void cco_io_split_begin(int part, MPI_File file, uint64_t start);
void cco_io_split_end(int part, MPI_File file, uint64_t start, uint64_t bytes);

/* MPI_File_open has opened a file, since `start`; the name has `length` characters. */
void cco_io_opened(MPI_File file, const char *name, size_t length, MPI_Comm comm, uint64_t start);

/* Before and after MPI_File_close: another thread may get the same handle in between. */
int cco_io_forget(MPI_File file);
void cco_io_closed(int place, uint64_t start);

#endif
