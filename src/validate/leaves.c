/* SPDX-License-Identifier: BSD-3-Clause */
/* leaves.c - see leaves.h. */
#include "validate/leaves.h"

#include <string.h>

#include "core/data.h"
#include "core/kernels.h"
#include "core/type_contents.h"

/* The name tells it for types that C does not know, such as Fortran's REAL(16). */
static bool name_is_exact(MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Type_get_name(type, name, &length);
    return strstr(name, "REAL") == NULL && strstr(name, "COMPLEX") == NULL &&
           strstr(name, "DOUBLE") == NULL && strstr(name, "FLOAT") == NULL;
}

static bool named_is_exact(MPI_Datatype type)
{
    const cco_number number = cco_number_of(type);
    if (number == CCO_NUMBERS)
        return name_is_exact(type);
    return number <= CCO_U64 || (number >= CCO_SHORT_INT && number <= CCO_LONG_INT);
}

static bool parts_are_exact(MPI_Datatype type)
{
    cco_type_contents contents;
    if (cco_type_contents_get(type, &contents) != MPI_SUCCESS)
        return false;
    bool exact = true;
    for (size_t i = 0; exact && i < contents.types; i++)
        exact = cco_leaves_are_exact(contents.inner[i]);
    cco_type_contents_release(&contents);
    return exact;
}

bool cco_leaves_are_exact(MPI_Datatype type)
{
    switch (type != MPI_DATATYPE_NULL ? cco_type_combiner(type) : -1) {
    case -1:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
        return false;
    case MPI_COMBINER_F90_INTEGER:
        return true;
    case MPI_COMBINER_NAMED:
        return named_is_exact(type);
    default:
        return parts_are_exact(type);
    }
}
