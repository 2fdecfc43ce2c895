/* SPDX-License-Identifier: BSD-3-Clause */
/* hopping.h - the hopping term of a lattice Dirac operator, for one rank's part of a 4-D torus:
 *
 *     h(x) = sum over the four directions mu of  u_mu f(x + mu) + conj(u_mu) f(x - mu)
 *
 * f(x) has six complex components, as the half spinors that a Wilson operator exchanges (2 spins x
 * 3 colours); the links u_mu = exp(i theta_mu) are constant.  Sites are even or odd, by the sum of
 * their coordinates: h on sites of one kind needs f on those of the other.  So a rank sends half of
 * the sites of each of its eight faces.
 *
 * Each component is a plane wave f(x) = exp(i k x), which is an eigenvector: h is f times the sum
 * of 2 cos(k_mu + theta_mu). */
#ifndef HOPPING_H
#define HOPPING_H

#include <complex.h>
#include <stddef.h>

enum { DIRECTIONS = 4, FACES = 2 * DIRECTIONS, COMPONENTS = 6 };

typedef struct lattice {
    int n;                  /* sites of a rank in each direction, even */
    int extent[DIRECTIONS]; /* sites of the whole torus, */
    int first[DIRECTIONS];  /* and where this rank's begin */
    size_t face;            /* components of one kind of sites on a face */
    double complex link[DIRECTIONS];
    double complex *field, *result; /* with a site around them on each side */
} lattice;

/* 0 if there is no memory.  Freed by lattice_free. */
int lattice_make(lattice *l, int n, const int processes[DIRECTIONS], const int place[DIRECTIONS]);
void lattice_free(lattice *l);

/* Sites of a kind (0 even, 1 odd) on all faces, into or from `faces`: those towards lower
 * coordinates of the first direction, then towards higher ones, then of the second direction, as
 * neighbours are ordered in a Cartesian topology (MPI 4.1, section 8.6). */
void lattice_pack(const lattice *l, int kind, double complex *faces);
void lattice_unpack(lattice *l, int kind, const double complex *faces);

/* The sites of a kind from those of the other. */
void lattice_hop(lattice *l, int kind);

/* The largest error of these, against the plane waves. */
double lattice_error(const lattice *l, int kind);

#endif
