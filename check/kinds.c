/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c - the kinds: predefined pairs, exact floating point, a matrix product that does not
 * commute, a type with gaps. All results are exact, so that every order of combining gives the same
 * bits.
 */
#include "kinds.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENT(name, type, expression)                                                            \
    static void name(void *at, int rank, int k)                                                    \
    {                                                                                              \
        (void)rank, (void)k;                                                                       \
        *(type *)at = (expression);                                                                \
    }
#define COMBINE(name, type, expression)                                                            \
    static void name(const void *left, void *right)                                                \
    {                                                                                              \
        const type a = *(const type *)left, b = *(type *)right;                                    \
        *(type *)right = (expression);                                                             \
    }

struct double_int {
    double value;
    int index;
};
struct matrix {
    int x[4];
};
struct sparse {
    int first, gap[2], second, tail[2];
};
enum { PRIME = 10007 };

static int mixed(int rank, int k)
{
    return (int)((unsigned)(rank * 37 + k * 101 + 11) * 2654435761U >> 16);
}

ELEMENT(int_element, int, mixed(rank, k) - 30000)
COMBINE(int_sum, int, a + b)
ELEMENT(double_element, double, (mixed(rank, k) % 4096) * 0.25 - 300.0)
COMBINE(double_sum, double, a + b)
COMBINE(double_max, double, a > b ? a : b)
ELEMENT(byte_element, unsigned char, (unsigned char)mixed(rank, k))
COMBINE(byte_xor, unsigned char, (unsigned char)(a ^ b))
ELEMENT(bool_element, _Bool, mixed(rank, k) % 5 != 0)
COMBINE(bool_and, _Bool, a &&b)

static void pair_element(void *at, int rank, int k)
{
    struct double_int *e = at;
    e->value = mixed(rank / 2, k) % 3; /* ties between ranks: the lower index must win */
    e->index = rank;
}
COMBINE(pair_minloc, struct double_int,
        a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b)

static void matrix_element(void *at, int rank, int k)
{
    struct matrix *e = at;
    for (int i = 0; i < 4; i++)
        e->x[i] = mixed(rank + 7 * i, k) % PRIME;
}

static void matrix_product(const void *left, void *right)
{
    const int *a = ((const struct matrix *)left)->x;
    int *b = ((struct matrix *)right)->x, c[4];
    for (int i = 0; i < 4; i++)
        c[i] = (int)(((long)a[i & 2] * b[i & 1] + (long)a[(i & 2) + 1] * b[2 + (i & 1)]) % PRIME);
    memcpy(b, c, sizeof c);
}

static void sparse_element(void *at, int rank, int k)
{
    struct sparse *e = at;
    e->first = mixed(rank, k);
    e->second = mixed(rank + 3, k);
}

static void sparse_sum(const void *left, void *right)
{
    const struct sparse *a = left;
    struct sparse *b = right;
    b->first += a->first;
    b->second = a->second > b->second ? a->second : b->second;
}

static void user_matrix(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        matrix_product((struct matrix *)in + i, (struct matrix *)inout + i);
}

static void user_sparse(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        sparse_sum((struct sparse *)in + i, (struct sparse *)inout + i);
}

struct kind kinds[KINDS];

/* With large counts, where the MPI has these. */
static MPI_Datatype make_sparse(void)
{
    MPI_Datatype bare, sparse;
#if MPI_VERSION >= 4
    MPI_Type_indexed_c(2, (const MPI_Count[]){1, 1}, (const MPI_Count[]){0, 3}, MPI_INT, &bare);
    MPI_Type_create_resized_c(bare, 0, sizeof(struct sparse), &sparse);
#else
    MPI_Type_indexed(2, (const int[]){1, 1}, (const int[]){0, 3}, MPI_INT, &bare);
    MPI_Type_create_resized(bare, 0, sizeof(struct sparse), &sparse);
#endif
    MPI_Type_free(&bare);
    return sparse;
}

void kinds_make(void)
{
    MPI_Datatype matrix, sparse = make_sparse();
    MPI_Op product, sum;
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Type_commit(&sparse);
    MPI_Op_create(user_matrix, 0, &product);
    MPI_Op_create(user_sparse, 1, &sum);

    const struct kind all[KINDS] = {
        {"int sum", MPI_INT, MPI_SUM, sizeof(int), int_element, int_sum, .big = true},
        {"double sum", MPI_DOUBLE, MPI_SUM, sizeof(double), double_element, double_sum,
         .big = true},
        {"double max", MPI_DOUBLE, MPI_MAX, sizeof(double), double_element, double_max,
         .big = false},
        {"byte xor", MPI_UNSIGNED_CHAR, MPI_BXOR, 1, byte_element, byte_xor, .big = false},
        {"bool and", MPI_C_BOOL, MPI_LAND, sizeof(_Bool), bool_element, bool_and, .big = false},
        {"double-int minloc", MPI_DOUBLE_INT, MPI_MINLOC, sizeof(struct double_int), pair_element,
         pair_minloc, .padding = sizeof(double) + sizeof(int),
         .padded = sizeof(struct double_int) - sizeof(double) - sizeof(int)},
        {"matrix product", matrix, product, sizeof(struct matrix), matrix_element, matrix_product,
         .user = user_matrix, .commutes = 0, .big = true},
        {"sparse user", sparse, sum, sizeof(struct sparse), sparse_element, sparse_sum,
         .user = user_sparse, .commutes = 1},
    };
    memcpy(kinds, all, sizeof all);
}

void kinds_free(void)
{
    for (int i = 0; i < KINDS; i++)
        if (kinds[i].user) {
            MPI_Op_free(&kinds[i].op);
            MPI_Type_free(&kinds[i].type);
        }
}
