/* SPDX-License-Identifier: BSD-3-Clause */
/* packed.c - see packed.h. */
#include "plan/packed.h"

#include <stdint.h>

static size_t packed_bytes_of(const cco_side *side)
{
    size_t n = side->n == NULL ? side->each * (size_t)side->blocks : 0;
    for (int i = 0; side->n != NULL && i < side->blocks; i++)
        n += side->n[i];
    return n;
}

bool cco_packed_wanted(const cco_bound *f)
{
    return cco_coll_infos[f->problem.coll].properties & CCO_REDUCTION &&
           !f->binding.layouts[CCO_OUT].dense;
}

/* A side becomes bytes in memory of its own, its buffer one block: what a reduction reads and
 * writes lies in one piece, wherever it is cut. */
static bool pack_side(cco_bound *f, cco_side *side, cco_buffer *end, cco_base base,
                      cco_workspace *workspace)
{
    ptrdiff_t *at = (ptrdiff_t *)(uintptr_t)side->at; /* the workspace's */
    ptrdiff_t next = 0;
    const size_t n = packed_bytes_of(side);
    for (int i = 0; side->n != NULL && i < side->blocks; i++) {
        at[i] = next;
        next += (ptrdiff_t)side->n[i];
    }
    side->base = base;
    side->layout = (int)base;
    side->pitch = (ptrdiff_t)side->each;
    end->blocks = side->blocks > 0;
    end->count = (MPI_Count)(n / f->problem.unit);
    end->counts = NULL;
    f->binding.base[base] = cco_workspace_room(workspace, base, n);
    return f->binding.base[base] != NULL;
}

int cco_packed_make(cco_bound *f, cco_elements *e, cco_workspace *workspace)
{
    cco_problem *q = &f->problem;
    *e = (cco_elements){.layout = f->binding.layouts[CCO_OUT], .operation = f->binding.operation};
    e->most = cco_elements_most(&e->layout, packed_bytes_of(&q->in));
    char *memory = cco_workspace_room(workspace, CCO_TMP, cco_elements_room(&e->layout, e->most));
    if (memory == NULL || !pack_side(f, &q->in, &f->in, CCO_IN, workspace) ||
        !pack_side(f, &q->out, &f->out, CCO_OUT, workspace))
        return MPI_ERR_NO_MEM;
    cco_elements_place(e, memory, f->low);
    for (int base = 0; base < CCO_BASES; base++)
        f->binding.layouts[base] = cco_layout_of_bytes;
    f->binding.operation.kernel = NULL; /* it knows elements only */
    f->binding.elements = e;
    f->packs_in = true;
    f->packs_out = q->coll != CCO_EXSCAN || q->rank > 0; /* rank 0 gets nothing */
    return MPI_SUCCESS;
}
