/* SPDX-License-Identifier: BSD-3-Clause */
/* chance.h - what the files of `chance` share: a random program, which all ranks derive from one
 * seed, and which runs in several passes, the first of them in plain MPI. */
#ifndef CHANCE_CHANCE_H
#define CHANCE_CHANCE_H

#include "call.h"
#include "dice.h"

#include <stddef.h>

/* Intel MPI has what is wrong in MPICH 4.0. */
#if defined(MPICH_NUMVERSION) || defined(I_MPI_VERSION)
#define LIKE_MPICH
#endif

enum { SLOTS = 48, ITEMS = 600, RECORDS = 1200, WORDS = 200 };

/* What can be left out of programs by --without, while a known fault is not mended. */
/* clang-format off */
#define CLASSES(X)                                                                                 \
    X(attributes) X(badop) X(begin) X(beginerrors) X(collend) X(crowd) X(errors) X(f90)            \
    X(freed) X(grids) X(ibegin) X(inplace) X(jump) X(memory) X(messages) X(names) X(nulls)         \
    X(orders) X(persistent) X(threads) X(userops) X(waitany) X(windows) X(zerosize)
/* clang-format on */
#define CLASS_ENUM(name) CLASS_##name,
enum class { CLASSES(CLASS_ENUM) CLASS_COUNT };

/* A communicator of the program.  Ranks that are no members have one without a handle. */
struct slot {
    MPI_Comm comm;
    int rank, size;
    int pending;           /* operations of this rank that are under way there */
    unsigned char *memory; /* of CRESTA_Alloc_mem, or NULL */
    size_t bytes;
    bool lent;    /* some operation uses it */
    bool grid;    /* MPI_Cart_create made it */
    bool windows; /* CRESTA_Win_init was called for it */
    char name[40];
};

/* Equal on all ranks but what is said to be of this rank. */
struct program {
    unsigned long seed;
    bool plain;       /* this pass calls the MPI alone */
    const char *impl; /* the implementation of this pass; "env": what the environment says */
    bool without[CLASS_COUNT];
    bool show, threads; /* threads: this launch has MPI_THREAD_MULTIPLE */
    bool sessions;      /* this launch has some */
    const char *steps;  /* the numbers of those that run; NULL: all */
    int step, records;
    dice shared, own; /* own: of this rank and step */
    MPI_Comm world;
    int rank, size;
    struct slot *slots[SLOTS];
    unsigned long results[RECORDS]; /* of this rank */
    char (*words)[WORDS];           /* what each record is of */
};
extern struct program program;

/* The plain MPI's call in the first pass, else the one that crestacoll sees. */
#define VIA(name) (program.plain ? PMPI_##name : MPI_##name)

/* A program that has the class at random, and was not told to leave it out. */
bool has(enum class what);

/* Says what runs now, for failures, the watchdog and --show. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* A place for a result; the words are what say() said last. */
int record_new(void);
void record_put(int record, unsigned long value);

int class_of(int code);

#endif
