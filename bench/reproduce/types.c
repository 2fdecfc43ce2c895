/* SPDX-License-Identifier: BSD-3-Clause */
/* types.c - predefined types by their names. */
#include <string.h>

#include "file.h"

#define TYPE(name) {#name, name}

MPI_Datatype reproduce_type_named(const char *name)
{
    const struct {
        const char *name;
        MPI_Datatype type;
    } types[] = {
        /* clang-format off */
        TYPE(MPI_CHAR), TYPE(MPI_SIGNED_CHAR), TYPE(MPI_UNSIGNED_CHAR), TYPE(MPI_BYTE),
        TYPE(MPI_WCHAR), TYPE(MPI_SHORT), TYPE(MPI_UNSIGNED_SHORT), TYPE(MPI_INT),
        TYPE(MPI_UNSIGNED), TYPE(MPI_LONG), TYPE(MPI_UNSIGNED_LONG), TYPE(MPI_LONG_LONG),
        TYPE(MPI_LONG_LONG_INT), TYPE(MPI_UNSIGNED_LONG_LONG), TYPE(MPI_FLOAT), TYPE(MPI_DOUBLE),
        TYPE(MPI_LONG_DOUBLE), TYPE(MPI_PACKED), TYPE(MPI_FLOAT_INT), TYPE(MPI_DOUBLE_INT),
        TYPE(MPI_LONG_INT), TYPE(MPI_SHORT_INT), TYPE(MPI_2INT), TYPE(MPI_LONG_DOUBLE_INT),
        TYPE(MPI_INT8_T), TYPE(MPI_INT16_T), TYPE(MPI_INT32_T), TYPE(MPI_INT64_T),
        TYPE(MPI_UINT8_T), TYPE(MPI_UINT16_T), TYPE(MPI_UINT32_T), TYPE(MPI_UINT64_T),
        TYPE(MPI_C_BOOL), TYPE(MPI_C_FLOAT_COMPLEX), TYPE(MPI_C_COMPLEX),
        TYPE(MPI_C_DOUBLE_COMPLEX), TYPE(MPI_C_LONG_DOUBLE_COMPLEX), TYPE(MPI_AINT),
        TYPE(MPI_OFFSET), TYPE(MPI_COUNT), TYPE(MPI_INTEGER), TYPE(MPI_REAL),
        TYPE(MPI_DOUBLE_PRECISION), TYPE(MPI_COMPLEX), TYPE(MPI_DOUBLE_COMPLEX),
        TYPE(MPI_LOGICAL), TYPE(MPI_CHARACTER), TYPE(MPI_2REAL), TYPE(MPI_2DOUBLE_PRECISION),
        TYPE(MPI_2INTEGER),
    /* clang-format on */
#ifdef MPI_INTEGER4
        TYPE(MPI_INTEGER4),
#endif
#ifdef MPI_INTEGER8
        TYPE(MPI_INTEGER8),
#endif
#ifdef MPI_REAL4
        TYPE(MPI_REAL4),
#endif
#ifdef MPI_REAL8
        TYPE(MPI_REAL8),
#endif
#ifdef MPI_COMPLEX8
        TYPE(MPI_COMPLEX8),
#endif
#ifdef MPI_COMPLEX16
        TYPE(MPI_COMPLEX16),
#endif
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].type;
    return MPI_DATATYPE_NULL;
}
