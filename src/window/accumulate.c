/* SPDX-License-Identifier: BSD-3-Clause */
/* accumulate.c - see accumulate.h.
 *
 * Looks at a lock may be all that a program calls of the MPI for a while: now and then they move on
 * what is under way there, as the MPI's own would. */
#include "window/accumulate.h"

#include <stdlib.h>

#include "call/data.h"
#include "wait/wait.h"
#include "window/element_map.h"

enum { CALLS_PER_MOVE = 64 };

static inline void move_now_and_then(void)
{
    static _Thread_local unsigned calls __attribute__((tls_model("initial-exec")));
    if (++calls % CALLS_PER_MOVE == 0)
        cco_mpi_progress();
}

/* The memory of a rank at a displacement, if `first` to `end` bytes from there are in its share. */
static inline char *memory_at(cco_shared_window *w, int rank, MPI_Aint disp, MPI_Aint first,
                              MPI_Aint end)
{
    if (rank < 0 || rank >= w->ranks)
        return NULL;
    const cco_window_share *share = &w->shares[rank];
    MPI_Aint at;
    if (__builtin_mul_overflow(disp, share->unit, &at) || at < 0 || (size_t)at > share->size ||
        at + first < 0 || end > (MPI_Aint)share->size - at)
        return NULL;
    return share->base + at;
}

bool cco_fetch_and_op(cco_shared_window *w, const void *origin, void *result, MPI_Datatype type,
                      int rank, MPI_Aint disp, MPI_Op op)
{
    const cco_element *e = cco_element_of(type, op);
    char *target = e != NULL ? memory_at(w, rank, disp, 0, (MPI_Aint)e->size) : NULL;
    if (target == NULL || result == NULL || (origin == NULL && op != MPI_NO_OP))
        return false;
    cco_element_change(e, 1, target, origin, result, &w->locks[rank]);
    move_now_and_then();
    return true;
}

bool cco_compare_and_swap(cco_shared_window *w, const void *origin, const void *compare,
                          void *result, MPI_Datatype type, int rank, MPI_Aint disp)
{
    const cco_element *e = cco_element_of(type, MPI_REPLACE);
    char *target = e != NULL ? memory_at(w, rank, disp, 0, (MPI_Aint)e->size) : NULL;
    if (target == NULL || origin == NULL || compare == NULL || result == NULL || !e->compares)
        return false;
    cco_element_compare(e->size, target, compare, origin, result, &w->locks[rank]);
    move_now_and_then();
    return true;
}

/* Elements of a predefined type, one after the other: the program's, or a copy without gaps. */
typedef struct row {
    char *at;
    void *copy; /* NULL: the program's */
} row;

static bool same_elements(const cco_rma_data *data, const cco_accumulate *a)
{
    return data->type == a->type && data->count == a->count;
}

static bool same_bytes(const cco_rma_data *data, size_t bytes)
{
    MPI_Count size;
    return data->count >= 0 && cco_is_type(data->type) &&
           PMPI_Type_size_x(data->type, &size) == MPI_SUCCESS &&
           (size_t)(size * data->count) == bytes;
}

/* From the program's data to a row of `n` elements of `basic`, or back, by way of `packed`. */
static int accumulate_convert(const cco_rma_data *data, char *to, size_t n, MPI_Datatype basic,
                              char *packed, bool back)
{
    const size_t count = (size_t)data->count;
    const int rc = back ? cco_type_pack(packed, to, n, basic)
                        : cco_type_pack(packed, data->at, count, data->type);
    if (rc != MPI_SUCCESS)
        return rc;
    return back ? cco_type_unpack(data->at, count, data->type, packed)
                : cco_type_unpack(to, n, basic, packed);
}

static int accumulate_make_row(row *r, const cco_rma_data *data, size_t n, size_t extent)
{
    *r = (row){.at = data->at};
    if (cco_type_predefined(data->type))
        return MPI_SUCCESS;
    r->at = r->copy = calloc(n + 1, extent);
    return r->copy != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* One row, or the elements that a derived type picks. */
static void change_all(cco_shared_window *w, const cco_accumulate *a, const cco_element_map *map,
                       const cco_element *e, char *target, const char *operand, char *result)
{
    cco_element_lock *lock = &w->locks[a->rank];
    if (map->runs == NULL) {
        cco_element_change(e, (size_t)a->count, target, operand, result, lock);
        return;
    }
    for (MPI_Count i = 0; i < a->count; i++, target += map->extent)
        for (size_t k = 0; k < map->count; k++) {
            const cco_element_run *run = &map->runs[k];
            cco_element_change(e, run->length, target + run->at, operand, result, lock);
            operand += operand != NULL ? run->length * e->extent : 0;
            result += result != NULL ? run->length * e->extent : 0;
        }
}

/* The target has derived types, or the program's data do.  Where there is no memory, nothing has
 * changed. */
static int accumulate_derived(cco_shared_window *w, const cco_accumulate *a,
                              const cco_element_map *map, const cco_element *e, char *target)
{
    const size_t n = (size_t)a->count * map->elements;
    row operand = {NULL, NULL}, result = {NULL, NULL};
    int rc = MPI_SUCCESS;
    if (a->op != MPI_NO_OP)
        rc = accumulate_make_row(&operand, &a->origin, n, e->extent);
    if (rc == MPI_SUCCESS && a->fetches)
        rc = accumulate_make_row(&result, &a->result, n, e->extent);
    const bool converts = operand.copy != NULL || result.copy != NULL;
    char *packed = converts ? malloc(n * map->bytes + 1) : NULL;
    if (converts && packed == NULL)
        rc = MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS && operand.copy != NULL)
        rc = accumulate_convert(&a->origin, operand.at, n, map->basic, packed, false);
    if (rc == MPI_SUCCESS)
        change_all(w, a, map, e, target, operand.at, result.at);
    if (rc == MPI_SUCCESS && result.copy != NULL)
        rc = accumulate_convert(&a->result, result.at, n, map->basic, packed, true);
    free(packed);
    free(operand.copy);
    free(result.copy);
    return rc;
}

/* Whether the memory that `count` of a type take is in the window, from its displacement. */
static char *target_of(cco_shared_window *w, const cco_accumulate *a, const cco_element_map *map)
{
    MPI_Aint reach;
    if (__builtin_mul_overflow((MPI_Aint)(a->count - 1), map->extent, &reach))
        return NULL;
    const MPI_Aint first = map->first + (reach < 0 ? reach : 0);
    const MPI_Aint end = map->end + (reach > 0 ? reach : 0);
    return memory_at(w, a->rank, a->disp, first, end);
}

bool cco_accumulate_all(cco_shared_window *w, const cco_accumulate *a, int *rc)
{
    const cco_element_map *map = NULL;
    *rc = a->count > 0 ? cco_element_map_of(a->type, &map) : MPI_SUCCESS;
    if (*rc != MPI_SUCCESS)
        return true; /* by the MPI it would not be atomic with respect to ours */
    const cco_element *e = map != NULL && map->elements > 0 ? cco_element_of(map->basic, a->op)
                                                            : NULL;
    char *target = e != NULL ? target_of(w, a, map) : NULL;
    const bool reads = a->op != MPI_NO_OP;
    if (target == NULL)
        return false;
    const bool plain = map->runs == NULL && (!reads || same_elements(&a->origin, a)) &&
                       (!a->fetches || same_elements(&a->result, a));
    if (plain && ((reads && a->origin.at == NULL) || (a->fetches && a->result.at == NULL)))
        return false;
    const size_t bytes = (size_t)a->count * map->elements * map->bytes;
    if (!plain && ((reads && !same_bytes(&a->origin, bytes)) ||
                   (a->fetches && !same_bytes(&a->result, bytes))))
        return false;
    if (plain)
        change_all(w, a, map, e, target, reads ? a->origin.at : NULL,
                   a->fetches ? a->result.at : NULL);
    else
        *rc = accumulate_derived(w, a, map, e, target);
    move_now_and_then();
    return true;
}
