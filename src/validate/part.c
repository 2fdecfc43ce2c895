/* SPDX-License-Identifier: BSD-3-Clause */
/* part.c - see part.h. */
#include "validate/part.h"

#include <stdlib.h>
#include <string.h>

#include "call/data.h"
#include "plan/bound.h"

enum { TYPES = 64, RUNS = 1 << 16 };

/* A part that is being written. */
typedef struct part {
    cco_content *content;
    const cco_check *check;
    MPI_Datatype types[TYPES];
    int count;
} part;

/* Where each byte of an element's data lies: packs memory in which each byte tells a digit of its
 * own place, once for each digit. */
static bool find_places(MPI_Datatype type, MPI_Aint low, size_t reach, size_t size, size_t *places)
{
    unsigned char *memory = malloc(reach), *packed = malloc(size);
    bool fine = memory != NULL && packed != NULL;
    memset(places, 0, size * sizeof *places);
    for (int digit = 0; fine && digit < 4; digit++) {
        for (size_t i = 0; i < reach; i++)
            memory[i] = (unsigned char)(i >> 8 * digit);
        fine = cco_type_pack((char *)packed, (char *)((uintptr_t)memory - (uintptr_t)low), 1,
                             type) == MPI_SUCCESS;
        for (size_t i = 0; fine && i < size; i++)
            places[i] |= (size_t)packed[i] << 8 * digit;
    }
    free(memory);
    free(packed);
    return fine;
}

static size_t run_from(const size_t *places, size_t i, size_t size)
{
    size_t n = 1;
    while (i + n < size && places[i + n] == places[i] + n)
        n++;
    return n;
}

static void write_runs(cco_content *content, const size_t *places, size_t size, MPI_Aint low)
{
    for (size_t i = 0; i < size; i += run_from(places, i, size))
        cco_content_print(content, "%lld %zu\n", (long long)low + (long long)places[i],
                          run_from(places, i, size));
}

static void write_derived(cco_content *content, MPI_Datatype type)
{
    MPI_Aint start, extent, low, reach;
    const size_t size = (size_t)cco_type_size(type);
    size_t runs = 0;
    if (PMPI_Type_get_extent(type, &start, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(type, &low, &reach) != MPI_SUCCESS || reach > 1l << 31) {
        content->failed = true;
        return;
    }
    size_t *places = malloc((size + 1) * sizeof *places);
    if (places == NULL || (size > 0 && !find_places(type, low, (size_t)reach, size, places))) {
        content->failed = true;
        free(places);
        return;
    }
    for (size_t i = 0; i < size; i += run_from(places, i, size))
        runs++;
    content->failed = content->failed || runs > RUNS;
    cco_content_print(content, "type derived %zu %lld %lld %zu\n", size, (long long)start,
                      (long long)extent, runs);
    if (!content->failed)
        write_runs(content, places, size, low);
    free(places);
}

/* The number of a type, which is written when it is met first. */
static int part_number_of(part *p, MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0, i = 0;
    while (i < p->count && p->types[i] != type)
        i++;
    if (i < p->count || i == TYPES) {
        p->content->failed = p->content->failed || i == TYPES;
        return i;
    }
    p->types[p->count++] = type;
    if (cco_type_predefined(type)) {
        PMPI_Type_get_name(type, name, &length);
        cco_content_print(p->content, "type %s\n", name);
    } else {
        write_derived(p->content, type);
    }
    return i;
}

static void write_types(part *p, const char *name, const cco_buffer *side, MPI_Datatype one)
{
    int *numbers = malloc(((size_t)side->blocks + 1) * sizeof *numbers);
    if (numbers == NULL) {
        p->content->failed = true;
        return;
    }
    if (side->types == NULL) {
        numbers[0] = part_number_of(p, one);
        cco_content_print(p->content, "%stype %d\n", name, numbers[0]);
    } else {
        for (int i = 0; i < side->blocks; i++)
            numbers[i] = cco_buffer_absent(&p->check->call, side, i)
                             ? -1
                             : part_number_of(p, side->types[i]);
        cco_content_print(p->content, "%stypes %d", name, side->blocks);
        for (int i = 0; i < side->blocks; i++)
            cco_content_print(p->content, " %d", numbers[i]);
        cco_content_print(p->content, "\n");
    }
    free(numbers);
}

static void write_array(part *p, const char *name, const void *array, int count, bool displs)
{
    const cco_call *c = &p->check->call;
    if (array == NULL)
        return;
    cco_content_print(p->content, "%s %d", name, count);
    for (int i = 0; i < count; i++)
        cco_content_print(p->content, " %lld",
                          (long long)(displs ? (long long)cco_displ_at(c, array, i)
                                             : (long long)cco_count_at(c, array, i)));
    cco_content_print(p->content, "\n");
}

/* Memory of an end from its buffer's address on. */
static void write_place(part *p, const char *name, const cco_covered *end, const void *buffer,
                        bool given)
{
    if (end->count > 0)
        cco_content_print(p->content, "%s %lld %zu %d\n", name,
                          (long long)(end->low - (const char *)buffer),
                          (size_t)(end->high - end->low), given);
}

/* The blocks of an end, from the program's memory or a copy; between them zeros. */
static void write_data(part *p, const cco_covered *end, const cco_shadow *copy)
{
    char *to = end->count > 0 ? cco_content_add(p->content, (size_t)(end->high - end->low)) : NULL;
    for (int i = 0; to != NULL && i < end->count; i++) {
        const cco_shadow_block *b = &end->blocks[i];
        memcpy(to + (b->low - end->low), copy->memory != NULL ? cco_shadowed(copy, b->low) : b->low,
               b->span);
    }
}

static void write_arguments(part *p, const cco_buffer *in, const cco_buffer *out)
{
    const cco_check *k = p->check;
    const cco_call *c = &k->call;
    const int size = k->of->state->size;
    const bool reduces = cco_coll_infos[c->coll].properties & CCO_REDUCTION;
    cco_content_print(p->content, "arguments %d %lld %lld %s\n", c->large, (long long)c->sendcount,
                      (long long)c->recvcount,
                      !k->in_place                 ? "0"
                      : c->sendbuf == MPI_IN_PLACE ? "send"
                                                   : "recv");
    if (reduces) {
        write_types(p, "recv", &(cco_buffer){.blocks = 1}, c->recvtype);
        write_array(p, "recvcounts", c->recvcounts, size, false);
        return;
    }
    if (in->blocks > 0 && !(k->in_place && c->sendbuf == MPI_IN_PLACE)) {
        write_types(p, "send", in, c->sendtype);
        write_array(p, "sendcounts", c->sendcounts, in->blocks, false);
        write_array(p, "senddispls", c->senddispls, in->blocks, true);
    }
    if (out->blocks > 0) {
        write_types(p, "recv", out, c->recvtype);
        write_array(p, "recvcounts", c->recvcounts, out->blocks, false);
        write_array(p, "recvdispls", c->recvdispls, out->blocks, true);
    }
}

/* Blocks that lie far apart in the memory of the process would make a file of nothing. */
static bool is_writable(const cco_covered *end)
{
    enum { APART = 1 << 20, TIMES = 16 };
    return (size_t)(end->high - end->low) <= TIMES * end->bytes + APART &&
           cco_covered_is_mapped(end);
}

/* In place, what a rank gives lies in the receive buffer, and so does what the root of a bcast
 * gives. */
void cco_part_write(cco_content *content, const cco_check *k)
{
    part p = {.content = content, .check = k};
    cco_buffer in, out;
    cco_covered from, to;
    const cco_shadow none = {.memory = NULL};
    const cco_call *c = &k->call;
    const bool reduces = cco_coll_infos[c->coll].properties & CCO_REDUCTION;
    const bool root = c->coll == CCO_BCAST && k->of->state->rank == c->root;
    const bool inside = k->in_place && c->sendbuf == MPI_IN_PLACE;
    cco_bound_ends(k->of->state, c, &in, &out);
    write_arguments(&p, &in, &out);
    const bool made = cco_covered_make(&from, c, &in);
    if (!cco_covered_make(&to, c, inside && reduces ? &in : &out) || !made || !is_writable(&from) ||
        !is_writable(&to)) {
        content->failed = true;
    } else {
        if (!inside)
            write_place(&p, "send", &from, c->sendbuf, true);
        write_place(&p, "recv", &to, c->recvbuf, inside || root);
        cco_content_print(content, "data\n");
        if (!inside)
            write_data(&p, &from, &none);
        if (inside || root)
            write_data(&p, &to, root ? &none : &k->before);
    }
    cco_covered_free(&from);
    cco_covered_free(&to);
}
