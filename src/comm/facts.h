/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.h - what a rank knows of itself, and what the ranks of a communicator agree on of that.
 *
 * Whatever ranks must decide alike may depend only on the arguments that the standard makes equal,
 * on the configuration, and on agreed facts.  What a rank sees alone (its world, its cores, its
 * thread level, a tool before it, memory that it does not get) becomes a fact here, or is agreed on
 * by cco_service_all (wait/wait.h) where it comes up.  tools/check_facts.py knows the functions
 * that tell such things, and where they may be called. */
#ifndef CCO_FACTS_H
#define CCO_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "wait/progress_thread.h"

typedef struct cco_facts {
    cco_progress_level progress; /* what progress threads do: on the rank where they do least */
    bool crowded;                /* ranks outnumber the cores that they may use, on some node */
    bool linked, preloaded; /* the library is so on all ranks: one may begin calls in two phases, in
                               the other non-blocking calls may be ours */
    bool begins;            /* some program has begun such a call: make ready what they run over */
    bool device;            /* buffers may lie in a GPU's memory, on some rank */
    bool one_node;          /* all ranks are on it; false: on several, or some rank does not know */
} cco_facts;

/* What this process knows of its job, and what the settings ask for. */
typedef struct cco_job_facts {
    bool chosen;       /* an implementation is, for some collective */
    bool wishes;       /* the settings ask for something, on this rank; */
    bool asked;        /* on any, once ranks have agreed on that */
    bool mends;        /* `auto` may replace neighborhood collectives, on any rank likewise */
    bool linked;       /* the library is linked, not preloaded, on any rank likewise */
    bool many_threads; /* of this process may call the MPI at once */
    bool met;          /* all ranks of MPI_COMM_WORLD have been in MPI_Init with the library */
    bool spawned;      /* by another program's MPI_Comm_spawn */
} cco_job_facts;
extern cco_job_facts cco_job;

/* The facts as words, to be compared by cco_agree, and back: `least` and `most` of each word. */
enum { CCO_FACT_WORDS = 6 };
void cco_facts_mine(uint64_t words[CCO_FACT_WORDS]);
void cco_facts_agreed(cco_facts *facts, const uint64_t *least, const uint64_t *most);

/* What this rank says of itself: called by those who find it out. */
void cco_fact_progress(cco_progress_level progress);
void cco_fact_crowded(bool crowded);
void cco_fact_begins(void);

/* In MPI_Init: ranks disagree from now on, if they are to. */
void cco_facts_begin(void);

/* CRESTA_DEBUG=disagree=SEED: true now and then, at other places on other ranks: then the caller
 * acts as if the system had refused what it is about to ask for. */
bool cco_inject_mismatch(void);

/* cco_inject_mismatch as a number below `n`; 0 without CRESTA_DEBUG=disagree. */
unsigned cco_disagreement(unsigned n);

#endif
