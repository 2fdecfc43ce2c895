/* SPDX-License-Identifier: BSD-3-Clause */
/* type_contents.c - see type_contents.h. */
#include "call/type_contents.h"

#include <stdlib.h>

#include "call/data.h"

/* How many numbers and types there are. */
typedef struct envelope {
    MPI_Count integers, addresses, counts, types;
} envelope;

#if defined(CRESTA_HAVE_LARGE_COUNT)
static int read_envelope(MPI_Datatype type, envelope *e, int *combiner)
{
    return PMPI_Type_get_envelope_c(type, &e->integers, &e->addresses, &e->counts, &e->types,
                                    combiner);
}

static int type_contents_read_contents(MPI_Datatype type, const envelope *e, int *integers,
                                       MPI_Aint *addresses, MPI_Count *counts, MPI_Datatype *inner)
{
    return PMPI_Type_get_contents_c(type, e->integers, e->addresses, e->counts, e->types, integers,
                                    addresses, counts, inner);
}
#else
static int read_envelope(MPI_Datatype type, envelope *e, int *combiner)
{
    int integers, addresses, types;
    const int rc = PMPI_Type_get_envelope(type, &integers, &addresses, &types, combiner);
    if (rc == MPI_SUCCESS)
        *e = (envelope){integers, addresses, 0, types};
    return rc;
}

static int type_contents_read_contents(MPI_Datatype type, const envelope *e, int *integers,
                                       MPI_Aint *addresses, MPI_Count *counts, MPI_Datatype *inner)
{
    (void)counts;
    return PMPI_Type_get_contents(type, (int)e->integers, (int)e->addresses, (int)e->types,
                                  integers, addresses, inner);
}
#endif

/* `c` has room for what the envelope says; what is read decides how many inner types it has. */
static int type_contents_fill(cco_type_contents *c, MPI_Datatype type, const envelope *e)
{
    int *integers = malloc((size_t)e->integers * sizeof *integers + 1);
    MPI_Aint *addresses = malloc((size_t)e->addresses * sizeof *addresses + 1);
    int rc = integers != NULL && addresses != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS &&
        type_contents_read_contents(type, e, integers, addresses, c->numbers + e->integers,
                                    c->inner) != MPI_SUCCESS)
        rc = MPI_ERR_TYPE;
    for (MPI_Count i = 0; rc == MPI_SUCCESS && i < e->integers; i++)
        c->numbers[i] = integers[i];
    for (MPI_Count i = 0; rc == MPI_SUCCESS && i < e->addresses; i++)
        c->numbers[e->integers + e->counts + i] = addresses[i];
    c->types = rc == MPI_SUCCESS ? (size_t)e->types : 0;
    free(integers);
    free(addresses);
    return rc;
}

int cco_type_contents_get(MPI_Datatype type, cco_type_contents *c)
{
    envelope e;
    *c = (cco_type_contents){.types = 0};
    if (read_envelope(type, &e, &c->combiner) != MPI_SUCCESS)
        return MPI_ERR_TYPE;
    const size_t numbers = (size_t)(e.integers + e.addresses + e.counts);
    c->large = e.counts > 0;
    c->numbers = calloc(numbers + 1, sizeof *c->numbers);
    c->inner = malloc((size_t)e.types * sizeof *c->inner + 1);
    const int rc = c->numbers != NULL && c->inner != NULL ? type_contents_fill(c, type, &e)
                                                          : MPI_ERR_NO_MEM;
    if (rc != MPI_SUCCESS)
        cco_type_contents_release(c);
    return rc;
}

void cco_type_contents_release(cco_type_contents *c)
{
    for (size_t i = 0; i < c->types; i++)
        if (!cco_type_predefined(c->inner[i]))
            PMPI_Type_free(&c->inner[i]);
    free(c->inner);
    free(c->numbers);
}
