/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.h - what a reduction is over: a type, an operation, and its plain definition. */
#ifndef CHECK_KINDS_H
#define CHECK_KINDS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { KINDS = 8 };

struct kind {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    size_t extent;
    void (*element)(void *at, int rank, int k);     /* write what rank contributes in place k */
    void (*combine)(const void *left, void *right); /* right = left op right */
    size_t padding, padded;  /* bytes of an element without meaning: first, how many */
    MPI_User_function *user; /* NULL: a predefined operation */
    int commutes;
    bool big; /* also tried with large counts */
};
extern struct kind kinds[KINDS];

void kinds_make(void);
void kinds_free(void);

#endif
