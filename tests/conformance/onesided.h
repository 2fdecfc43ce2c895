/* SPDX-License-Identifier: BSD-3-Clause */
/* onesided.h - algorithms of one-sided steps that exist to test them, and what may be wrong with
 * them. */
#ifndef ONESIDED_H
#define ONESIDED_H

#include "algo/algo.h"

typedef enum fault {
    RIGHT,
    NO_AWAIT,      /* of the last data */
    NO_NOTIFY,     /* of the last data */
    EARLY_NOTIFY,  /* in the round of the put that it is for */
    EARLY_READ,    /* in the round of the await */
    OVERWRITE,     /* a slot that its owner may be reading */
    OUTSIDE,       /* of the slot */
    SECOND_NOTIFY, /* one too many */
    NOT_OPEN,      /* touched before the peer's first notification */
    LEAVE,         /* while others read */
    REUSE,         /* what others read is written to */
    SHORT,         /* not all hear that all are done */
    INDIRECT,      /* a put's target hears of it from another rank */
    TWICE,         /* two puts to one place */
    UNEQUAL,       /* one rank exposes more */
    SAME_PLACE,    /* two gets of a round to one place */
    SLOT,          /* that does not exist */
    SELF,          /* a rank touches its own slot as if of a peer */
    LATE_EXPOSE,   /* after another step */
} fault;

extern fault onesided_fault;

typedef enum onesided_name {
    RING,
    PULL,
    TREE,
    CHAIN,
    COLLECT,
    DISSEMINATION,
    MIXED,
    ONESIDED_ALGOS
} onesided_name;

typedef struct onesided_algo {
    cco_coll coll;
    const char *name;
    void (*build)(cco_sched *s, const cco_problem *q);
} onesided_algo;

extern const onesided_algo onesided_algos[];

/* Accesses that are ordered and that are not (onesided_cases.c). */
void onesided_cases(void);

#endif
