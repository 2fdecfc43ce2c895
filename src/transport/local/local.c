/* SPDX-License-Identifier: BSD-3-Clause */
/* local.c - see local.h. */
#include "transport/local/local.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "call/data.h"

enum { STAGE = 4096 }; /* bytes of the stack for data on their way from one layout to another */

/* Both sides have gaps, perhaps different ones: by way of packed
 * bytes. */
static int local_convert(const cco_data *from, const cco_data *to)
{
    char stage[STAGE], *packed = stage;
    const size_t bytes = cco_data_bytes(from);
    if (bytes > STAGE && (packed = malloc(bytes)) == NULL)
        return MPI_ERR_NO_MEM;
    int rc = cco_type_pack(packed, from->at, from->count, from->layout->type);
    if (rc == MPI_SUCCESS)
        rc = cco_type_unpack(to->at, to->count, to->layout->type, packed);
    if (packed != stage)
        free(packed);
    return rc;
}

int cco_mpi_copy(void *transfer, const cco_data *from, const cco_data *to)
{
    (void)transfer;
    if (from->layout->dense && to->layout->dense) {
        memcpy(to->at, from->at, cco_data_bytes(from));
        return MPI_SUCCESS;
    }
    if (to->layout->dense)
        return cco_type_pack(to->at, from->at, from->count, from->layout->type);
    if (from->layout->dense)
        return cco_type_unpack(to->at, to->count, to->layout->type, from->at);
    return local_convert(from, to);
}

int cco_mpi_reduce(void *transfer, const cco_data *from, const cco_data *into,
                   const cco_reduce_op *op)
{
    int rc = MPI_SUCCESS;
    (void)transfer;
    if (op->kernel != NULL) {
        op->kernel(from->at, into->at, into->at, into->count);
        return MPI_SUCCESS;
    }
    for (size_t i = 0; i < into->count && rc == MPI_SUCCESS; i += INT_MAX) {
        const size_t n = into->count - i < INT_MAX ? into->count - i : INT_MAX;
        const ptrdiff_t at = (ptrdiff_t)i * into->layout->extent;
        rc = PMPI_Reduce_local(from->at + at, into->at + at, (int)n, into->layout->type, op->op);
    }
    return rc;
}
