/* SPDX-License-Identifier: BSD-3-Clause */
/* hopping.c - see hopping.h. */
#include "hopping.h"

#include <math.h>
#include <stdlib.h>

static const double theta = 0.3, pi = 3.14159265358979323846;

static size_t stride(const lattice *l, int direction)
{
    size_t sites = COMPONENTS;
    for (int i = 0; i < direction; i++)
        sites *= (size_t)l->n + 2;
    return sites;
}

static size_t index_of(const lattice *l, const int at[DIRECTIONS])
{
    size_t index = 0;
    for (int i = DIRECTIONS - 1; i >= 0; i--)
        index = index * ((size_t)l->n + 2) + (size_t)(at[i] + 1);
    return index * COMPONENTS;
}

/* Component c has a wave along direction c modulo 4, so that no two blocks of a message can change
 * places unseen. */
static double complex wave(const lattice *l, int component, const int at[DIRECTIONS])
{
    const int i = component % DIRECTIONS;
    return cexp(I * 2 * pi * (l->first[i] + at[i]) / l->extent[i]);
}

static double eigenvalue(const lattice *l, int component)
{
    const int i = component % DIRECTIONS;
    return 2 * cos(2 * pi / l->extent[i] + theta) + 2 * (DIRECTIONS - 1) * cos(theta);
}

/* The next site of a kind whose coordinate in `fixed` stays (-1: none does); 0 behind the last.
 * Begins where at[0], or at[1] if the first is fixed, is -1. */
static int next_site(const lattice *l, int kind, int fixed, int at[DIRECTIONS])
{
    for (;;) {
        int i = fixed == 0;
        while (i < DIRECTIONS && ++at[i] == l->n) {
            at[i++] = 0;
            i += i == fixed;
        }
        if (i >= DIRECTIONS)
            return 0;
        if (((at[0] + at[1] + at[2] + at[3]) & 1) == kind)
            return 1;
    }
}

static void start(int fixed, int value, int at[DIRECTIONS])
{
    for (int i = 0; i < DIRECTIONS; i++)
        at[i] = 0;
    at[fixed == 0] = -1;
    if (fixed >= 0)
        at[fixed] = value;
}

int lattice_make(lattice *l, int n, const int processes[DIRECTIONS], const int place[DIRECTIONS])
{
    *l = (lattice){.n = n, .face = (size_t)n * n * n / 2 * COMPONENTS};
    const size_t all = stride(l, DIRECTIONS);
    l->field = calloc(all, sizeof *l->field);
    l->result = calloc(all, sizeof *l->result);
    for (int i = 0; i < DIRECTIONS; i++) {
        l->extent[i] = n * processes[i];
        l->first[i] = n * place[i];
        l->link[i] = cexp(I * theta);
    }
    if (l->field == NULL || l->result == NULL)
        return 0;
    int at[DIRECTIONS];
    for (int kind = 0; kind < 2; kind++)
        for (start(-1, 0, at); next_site(l, kind, -1, at);)
            for (int c = 0; c < COMPONENTS; c++)
                l->field[index_of(l, at) + (size_t)c] = wave(l, c, at);
    return 1;
}

void lattice_free(lattice *l)
{
    free(l->field);
    free(l->result);
}

/* The sites of a face, which is at coordinate `where` of its direction, from or into `packed`. */
static void copy_face(const lattice *l, int kind, int face, int where, double complex *packed,
                      int pack)
{
    int at[DIRECTIONS];
    for (start(face / 2, where, at); next_site(l, kind, face / 2, at); packed += COMPONENTS) {
        double complex *site = l->field + index_of(l, at);
        for (int c = 0; c < COMPONENTS; c++)
            *(pack ? packed + c : site + c) = *(pack ? site + c : packed + c);
    }
}

void lattice_pack(const lattice *l, int kind, double complex *faces)
{
    for (int face = 0; face < FACES; face++)
        copy_face(l, kind, face, face & 1 ? l->n - 1 : 0, faces + (size_t)face * l->face, 1);
}

/* What comes is a site beyond the face. */
void lattice_unpack(lattice *l, int kind, const double complex *faces)
{
    for (int face = 0; face < FACES; face++)
        copy_face(l, kind, face, face & 1 ? l->n : -1,
                  (double complex *)faces + (size_t)face * l->face, 0);
}

void lattice_hop(lattice *l, int kind)
{
    int at[DIRECTIONS];
    for (start(-1, 0, at); next_site(l, kind, -1, at);) {
        const size_t x = index_of(l, at);
        for (int c = 0; c < COMPONENTS; c++) {
            double complex sum = 0;
            for (int i = 0; i < DIRECTIONS; i++)
                sum += l->link[i] * l->field[x + stride(l, i) + (size_t)c] +
                       conj(l->link[i]) * l->field[x - stride(l, i) + (size_t)c];
            l->result[x + (size_t)c] = sum;
        }
    }
}

double lattice_error(const lattice *l, int kind)
{
    double worst = 0;
    int at[DIRECTIONS];
    for (start(-1, 0, at); next_site(l, kind, -1, at);)
        for (int c = 0; c < COMPONENTS; c++) {
            const size_t x = index_of(l, at) + (size_t)c;
            worst = fmax(worst, cabs(l->result[x] - eigenvalue(l, c) * l->field[x]));
        }
    return worst;
}
