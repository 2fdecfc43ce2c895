/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_repro.c - CRESTA_Repro_sum for module crestacoll: real and complex numbers of two kinds,
 * counts of two kinds, both kinds of handles. */
#include "base/log.h"
#include "handles.h"
#include "section.h"

/* The kind of the result says what the numbers are; those of another size are none of its kind. */
static void repro_sum(CFI_cdesc_t *x, MPI_Count n, MPI_Datatype type, size_t size, void *result,
                      const MPI_Fint *comm, MPI_Fint *ierror)
{
    const bool fits = x->elem_len == size;
    cco_f_section s = cco_f_copy_in(x);
    if (!fits)
        cco_say("CRESTA_Repro_sum: x has elements of %zu bytes, and the result %zu", x->elem_len,
                size);
    cco_f_return(ierror, CRESTA_Repro_sum_type(s.address, fits ? n : -1, type, result,
                                               PMPI_Comm_f2c(*comm)));
    cco_f_release(&s, 0);
}

#define ENTRIES(kind, C, type)                                                                     \
    void cresta_repro_sum_##kind##_int(CFI_cdesc_t *x, MPI_Fint *n, C *result, MPI_Fint *comm,     \
                                       MPI_Fint *ierror)                                           \
    {                                                                                              \
        repro_sum(x, *n, type, sizeof(C), result, comm, ierror);                                   \
    }                                                                                              \
    void cresta_repro_sum_##kind##_c_int(CFI_cdesc_t *x, int64_t *n, C *result, MPI_Fint *comm,    \
                                         MPI_Fint *ierror)                                         \
    {                                                                                              \
        repro_sum(x, *n, type, sizeof(C), result, comm, ierror);                                   \
    }                                                                                              \
    void cresta_repro_sum_##kind##_f08(CFI_cdesc_t *x, MPI_Fint *n, C *result, MPI_Fint *comm,     \
                                       MPI_Fint *ierror)                                           \
        __attribute__((alias("cresta_repro_sum_" #kind "_int")));                                  \
    void cresta_repro_sum_##kind##_c_f08(CFI_cdesc_t *x, int64_t *n, C *result, MPI_Fint *comm,    \
                                         MPI_Fint *ierror)                                         \
        __attribute__((alias("cresta_repro_sum_" #kind "_c_int")));

typedef struct two_floats {
    float parts[2];
} two_floats;
typedef struct two_doubles {
    double parts[2];
} two_doubles;

#pragma GCC visibility push(default)

ENTRIES(r4, float, MPI_FLOAT)
ENTRIES(r8, double, MPI_DOUBLE)
ENTRIES(c4, two_floats, MPI_C_FLOAT_COMPLEX)
ENTRIES(c8, two_doubles, MPI_C_DOUBLE_COMPLEX)

#pragma GCC visibility pop
