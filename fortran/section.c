/* SPDX-License-Identifier: BSD-3-Clause */
/* section.c - see section.h.  Needs the header ISO_Fortran_binding.h, nothing of the Fortran
 * run-time library. */
#include "section.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mpi/mpi_compat.h"
#include "record/recorder.h"

static bool has_gaps(const CFI_cdesc_t *a)
{
    CFI_index_t expected = (CFI_index_t)a->elem_len;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i].extent == 0)
            return false;
        if (a->dim[i].extent != 1 && a->dim[i].sm != expected)
            return true;
        expected *= a->dim[i].extent; /* -1, of an assumed-size array, can only be the last */
    }
    return false;
}

static size_t elements(const CFI_cdesc_t *a)
{
    size_t count = 1;
    for (int i = 0; i < a->rank; i++)
        count *= (size_t)a->dim[i].extent;
    return count;
}

/* Steps an odometer over the elements, first dimension fastest. */
static void step(const CFI_cdesc_t *a, CFI_index_t *index, char **at)
{
    for (int i = 0; i < a->rank; i++) {
        *at += a->dim[i].sm;
        if (++index[i] < a->dim[i].extent)
            return;
        *at -= a->dim[i].sm * a->dim[i].extent;
        index[i] = 0;
    }
}

static void copy(const CFI_cdesc_t *a, char *packed, bool out)
{
    CFI_index_t index[CFI_MAX_RANK] = {0};
    char *at = a->base_addr;
    for (size_t left = elements(a); left > 0; left--, packed += a->elem_len) {
        memcpy(out ? at : packed, out ? packed : at, a->elem_len);
        step(a, index, &at);
    }
}

cco_f_section cco_f_copy_in(CFI_cdesc_t *argument)
{
    cco_f_section s = {.address = argument->base_addr};
    if (!has_gaps(argument))
        return s;
    s.copied = argument;
    s.address = malloc(elements(argument) * argument->elem_len);
    if (s.address == NULL)
        cco_fatal("no memory for a copy of an array section of %zu elements", elements(argument));
    copy(argument, s.address, false);
    cco_recorder_passes_copies(1);
    return s;
}

/* The places of the first `count` elements; freed by the caller. */
static MPI_Aint *places(const CFI_cdesc_t *a, MPI_Count count)
{
    CFI_index_t index[CFI_MAX_RANK] = {0};
    char *at = a->base_addr;
    MPI_Aint *list = malloc((size_t)count * sizeof *list + 1);
    for (MPI_Count i = 0; list != NULL && i < count; i++) {
        list[i] = (MPI_Aint)(at - (char *)a->base_addr);
        step(a, index, &at);
    }
    return list;
}

cco_f_section cco_f_describe(CFI_cdesc_t *argument, MPI_Count count, MPI_Fint type)
{
    cco_f_section s = {.address = argument->base_addr,
                       .count = (MPI_Fint)count,
                       .large_count = count,
                       .type = type};
    if (!has_gaps(argument))
        return s;
    const MPI_Datatype element = PMPI_Type_f2c(type);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int size = 0;
    PMPI_Type_size(element, &size);
    s.error = (size_t)size != argument->elem_len || count < 0 ||
              count > (MPI_Count)elements(argument) || count != (int)count;
    MPI_Aint *list = s.error ? NULL : places(argument, count);
    s.error = list == NULL ||
              PMPI_Type_create_hindexed_block((int)count, 1, list, element, &made) != MPI_SUCCESS ||
              PMPI_Type_commit(&made) != MPI_SUCCESS;
    free(list);
    if (!s.error) {
        s.made = true;
        s.count = s.large_count = 1;
        s.type = PMPI_Type_c2f(made);
    }
    return s;
}

cco_f_section cco_f_contiguous(CFI_cdesc_t *argument)
{
    return (cco_f_section){.address = argument->base_addr, .error = has_gaps(argument)};
}

void cco_f_release(cco_f_section *s, int out)
{
    if (s->made) { /* the operation in flight keeps it alive */
        MPI_Datatype type = PMPI_Type_f2c(s->type);
        PMPI_Type_free(&type);
    }
    if (s->copied == NULL)
        return;
    cco_recorder_passes_copies(-1);
    if (out)
        copy(s->copied, s->address, true);
    free(s->address);
}

void *cco_f_keep(cco_f_section *s)
{
    void *copy = s->copied != NULL ? s->address : NULL;
    if (copy != NULL)
        cco_recorder_passes_copies(-1);
    s->copied = NULL;
    return copy;
}

int cco_f_section_error(MPI_Fint comm)
{
    cco_say("a call that only starts a collective got an array section that cannot be described to "
            "MPI; pass a contiguous array");
    PMPI_Comm_call_errhandler(PMPI_Comm_f2c(comm), MPI_ERR_BUFFER);
    return MPI_ERR_BUFFER;
}
