/* SPDX-License-Identifier: BSD-3-Clause */
/* elements.c - see elements.h. */
#include "transport/local/elements.h"

#include <stdint.h>

#include "call/data.h"
#include "transport/local/local.h"

enum {
    PACKED = 8 << 10,  /* bytes reduced at once: what fold.c does with elements without gaps, */
    SPREAD = 64 << 10, /* unless they are further apart than that */
    LINE = 64,
};

static size_t elements_step_of(const cco_layout *layout)
{
    return (size_t)(layout->extent < 0 ? -layout->extent : layout->extent);
}

size_t cco_elements_most(const cco_layout *layout, size_t bytes)
{
    const size_t step = elements_step_of(layout), all = bytes / layout->size;
    size_t most = PACKED / layout->size;
    if (step > 0 && most > SPREAD / step)
        most = SPREAD / step;
    most = most < all ? most : all;
    return most > 0 ? most : 1;
}

/* Memory of `most` elements, and what is lost where they begin between two lines. */
static size_t elements_half(const cco_layout *layout, size_t most)
{
    const size_t reach = most * elements_step_of(layout) + layout->spill;
    return (reach / LINE + 2) * LINE;
}

size_t cco_elements_room(const cco_layout *layout, size_t most)
{
    return 2 * elements_half(layout, most);
}

void cco_elements_place(cco_elements *e, char *memory, ptrdiff_t low)
{
    const ptrdiff_t extent = e->layout.extent;
    const ptrdiff_t first = low + (extent < 0 ? (ptrdiff_t)(e->most - 1) * extent : 0);
    const uintptr_t lines = (uintptr_t)first & ~(uintptr_t)(LINE - 1); /* rounded down */
    e->operand = (char *)((uintptr_t)memory - lines);
    e->result = (char *)((uintptr_t)memory + elements_half(&e->layout, e->most) - lines);
}

int cco_elements_start(const cco_elements *e, const char *packed, size_t n)
{
    return cco_type_unpack(e->result, n / e->layout.size, e->layout.type, packed);
}

int cco_elements_reduce(const cco_elements *e, const char *packed, size_t n)
{
    const cco_data from = {e->operand, n / e->layout.size, &e->layout};
    const cco_data into = {e->result, from.count, &e->layout};
    const int rc = cco_type_unpack(from.at, from.count, e->layout.type, packed);
    return rc == MPI_SUCCESS ? cco_mpi_reduce(NULL, &from, &into, &e->operation) : rc;
}

int cco_elements_end(const cco_elements *e, char *packed, size_t n)
{
    return cco_type_pack(packed, e->result, n / e->layout.size, e->layout.type);
}

int cco_elements_combine(const cco_elements *e, const char *from, char *into, size_t n)
{
    const size_t step = e->most * e->layout.size;
    int rc = MPI_SUCCESS;
    for (size_t at = 0; at < n && rc == MPI_SUCCESS; at += step) {
        const size_t part = n - at < step ? n - at : step;
        rc = cco_elements_start(e, into + at, part);
        if (rc == MPI_SUCCESS)
            rc = cco_elements_reduce(e, from + at, part);
        if (rc == MPI_SUCCESS)
            rc = cco_elements_end(e, into + at, part);
    }
    return rc;
}
