/* SPDX-License-Identifier: BSD-3-Clause */
/* leaves.c - see leaves.h. */
#include "validate/leaves.h"

#include <stdlib.h>
#include <string.h>

#include "core/data.h"
#include "core/kernels.h"

/* Of types that C does not know, such as Fortran's REAL(16), the name tells. */
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

/* Whoever asks for the types of which one is made frees those that are not predefined. */
static bool parts_are_exact(MPI_Datatype type, int integers, int addresses, int types)
{
    int *numbers = malloc(((size_t)integers + 1) * sizeof *numbers);
    MPI_Aint *places = malloc(((size_t)addresses + 1) * sizeof *places);
    MPI_Datatype *parts = malloc(((size_t)types + 1) * sizeof(*parts));
    bool exact = numbers != NULL && places != NULL && parts != NULL &&
                 PMPI_Type_get_contents(type, integers, addresses, types, numbers, places,
                                        parts) == MPI_SUCCESS;
    for (int i = 0, read = exact; read && i < types; i++) {
        exact = exact && cco_leaves_are_exact(parts[i]);
        if (!cco_type_predefined(parts[i]))
            PMPI_Type_free(&parts[i]);
    }
    free(numbers);
    free(places);
    free(parts);
    return exact;
}

bool cco_leaves_are_exact(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
        return false;
    if (combiner == MPI_COMBINER_NAMED)
        return named_is_exact(type);
    if (combiner == MPI_COMBINER_F90_INTEGER)
        return true;
    if (combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX)
        return false;
    return parts_are_exact(type, integers, addresses, types);
}
