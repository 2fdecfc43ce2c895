/* SPDX-License-Identifier: BSD-3-Clause */
/* box.h - the black box of a process: what its threads have counted, the call that each is in, and
 * its last calls, in a file that stays behind if the process is killed.  `crestacoll autopsy` reads
 * it (python/crestacoll_tools/autopsy/box.py).
 *
 * CRESTA_BLACKBOX names the folder, on a memory file system, which the first process makes.
 * MPI_Finalize removes the file.  Without the variable, or where a file cannot be made, memory is
 * the process's own.
 *
 * The file has a head, notes (lines of text) and an area for each thread, at offsets that the head
 * tells; numbers are in the byte order of the machine.  Space is allocated before it is written, so
 * that a full file system does no harm. */
#ifndef CCO_CALLS_BOX_H
#define CCO_CALLS_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CCO_BOX_MAGIC "crestbox"
enum { CCO_BOX_VERSION = 1, CCO_BOX_LAST = 1024 };

typedef struct cco_box_head {
    char magic[8];
    uint32_t version, pid;
    int32_t rank, ranks;  /* in MPI_COMM_WORLD; -1: not known */
    int32_t spawned, one; /* by MPI_Comm_spawn; 1: the byte order is that of the reader */
    uint64_t notes_at, notes_bytes;
    uint64_t areas_at, area_bytes, last_at; /* the latter within an area */
    uint64_t first_ticks, now_ticks;        /* with these times: how long a tick is */
    double first_s, now_s;                  /* CLOCK_MONOTONIC */
    double began_s;                         /* first_s by CLOCK_REALTIME */
    char host[64];
} cco_box_head;

/* A call that has ended. */
typedef struct cco_box_call {
    uint64_t site, what, start, end;
} cco_box_call;

/* What an area begins with. */
typedef struct cco_box_thread {
    uint64_t main;                /* 1: the thread that called MPI_Init */
    uint64_t table, entries;      /* where in the area, and how many; 0: not in the file */
    uint64_t calls;               /* that have ended; the last CCO_BOX_LAST are kept */
    uint64_t inside, site, start; /* 1 more than the function that it is in; 0: in none */
} cco_box_thread;

/* In MPI_Init, before and after; at the end of MPI_Finalize.  `like`: what an area consists of. */
void cco_box_begin(const cco_box_head *like);
void cco_box_rank(void);
void cco_box_end(void);

bool cco_box_is_open(void);

/* A new area, which begins at `place` in the file, and of which the first bytes are allocated.
 * NULL: there is no box, or no room. */
void *cco_box_area(size_t bytes, uint64_t *place);

/* Allocates more of an area; false if there is no room. */
bool cco_box_more(uint64_t place, size_t bytes);

/* A place that a thread has come to for the first time: a line of Python, or an address in a file
 * that the loader may have mapped since. */
void cco_box_note_site(const void *site);

/* How late it is, which a box has to know now and then. */
void cco_box_mark(void);

#endif
