/* SPDX-License-Identifier: BSD-3-Clause */
/* fragment.c - see fragment.h. */
#include "transport/stream/fragment.h"

#include <stdlib.h>
#include <string.h>

#include "call/data.h"
#include "base/own_lines.h"
#include "transport/stream/line.h"

void *cco_fragments_open(void *shared, int messages)
{
    cco_fragments *p = cco_own_lines(sizeof *p + (size_t)messages * sizeof p->list[0]);
    if (p != NULL)
        p->shared = shared;
    return p;
}

void cco_fragments_stamp(void *fragments, uint64_t stamp)
{
    ((cco_fragments *)fragments)->call = stamp;
}

static void fragment_say(cco_area *area, size_t at, uint64_t word)
{
    char *line = area->share + (size_t)area->rank * CCO_LINE;
    __atomic_store_n((uint64_t *)(void *)(line + at), word, __ATOMIC_RELEASE);
}

void cco_fragments_begin(cco_fragments *p, cco_area *area, uint64_t number)
{
    p->count = p->done = p->first = p->last = 0;
    p->area = area;
    p->number = 2 * number;
    p->call = cco_stamp_alone(p->call) + number % (1u << CCO_STAMP_COLL_AT);
    p->head = cco_stamp_messages(p->call);
    if (area == NULL)
        return;
    fragment_say(area, CCO_LINE_STAMP,
                 p->call); /* first: who sees the number sees this call, or a later */
    fragment_say(area, CCO_LINE_NUMBER, p->number);
}

void cco_fragments_end(void *fragments)
{
    const cco_fragments *p = fragments;
    fragment_say(p->area, CCO_LINE_NUMBER, p->number + 1);
}

/* What a peer says; 0 if that cannot be read. */
static uint64_t fragment_said(cco_area *area, int peer, size_t at)
{
    uint64_t word = 0;
    if (area->shares != NULL)
        return __atomic_load_n(cco_line_own(area, peer, at), __ATOMIC_ACQUIRE);
    return area->kind->get(area, peer, (size_t)peer * CCO_LINE + at, &word, sizeof word) ||
                   area->kind->complete(area, peer)
               ? 0
               : word;
}

bool cco_fragments_passed(const cco_fragments *p, int peer, uint64_t *there)
{
    const int64_t ahead = (int64_t)(fragment_said(p->area, peer, CCO_LINE_NUMBER) - p->number);
    *there = ahead >= 0 ? fragment_said(p->area, peer, CCO_LINE_STAMP) : 0;
    return ahead > 0 || (ahead == 0 && *there != p->call);
}

static bool has_bytes(uint64_t stamp)
{
    return stamp >> CCO_STAMP_BYTES_AT > 0;
}

/* Bytes of messages are known where those of the call are not in the head, too. */
int cco_fragment_differs(const cco_fragments *p, const cco_fragment *one, uint64_t head, int rank,
                         cco_unlike *unlike)
{
    return has_bytes(p->call) ? cco_unlike_note(unlike, rank, p->call, head | CCO_STAMP_UNSIZED)
                              : cco_unlike_note(unlike, rank, one->head, head);
}

int cco_fragments_elsewhere(const cco_fragments *p, uint64_t there, int rank, cco_unlike *unlike)
{
    const uint64_t here = p->call;
    return cco_unlike_note(unlike, rank, has_bytes(here) ? here : here | CCO_STAMP_UNSIZED,
                           has_bytes(there) ? there : there | CCO_STAMP_UNSIZED);
}

int cco_fragment_take(cco_fragments *p, cco_fragment *one, const char *slot, size_t most,
                      cco_unlike *unlike)
{
    const size_t n = cco_fragment_part(one, most);
    uint64_t head;
    memcpy(&head, slot, sizeof head);
    if (!one->headed && head != one->head)
        return cco_fragment_differs(p, one, head, one->peer, unlike);
    one->headed = true;
    memcpy(one->at, slot + CCO_FRAGMENT_HEAD, n);
    cco_fragment_advance(one, n);
    return cco_fragment_check(p, one);
}

int cco_fragment_pack(cco_fragment *one)
{
    one->at = one->packed = malloc(one->left > 0 ? one->left : 1);
    if (one->packed == NULL)
        return MPI_ERR_NO_MEM;
    return one->sends
               ? cco_type_pack(one->packed, one->data.at, one->data.count, one->data.layout->type)
               : MPI_SUCCESS;
}

int cco_fragments_over(void *fragments, int number, bool *over)
{
    const cco_fragments *p = fragments;
    *over = p->list[number].peer < 0;
    return MPI_SUCCESS;
}

int cco_fragment_check(cco_fragments *p, cco_fragment *one)
{
    int rc = MPI_SUCCESS;
    if (one->left > 0)
        return rc;
    if (one->packed != NULL && !one->sends)
        rc = cco_type_unpack(one->data.at, one->data.count, one->data.layout->type, one->packed);
    free(one->packed);
    one->packed = NULL;
    one->peer = -1;
    p->done++;
    return rc;
}

void cco_fragments_drop(void *fragments)
{
    cco_fragments *p = fragments;
    for (int i = 0; i < p->count; i++) {
        free(p->list[i].packed);
        p->list[i].packed = NULL;
    }
    p->count = p->done = p->first = p->last = 0;
}

bool cco_turns_make(cco_turns *turns, int ranks)
{
    *turns = (cco_turns){cco_own_lines(2 * (size_t)ranks * sizeof *turns->seen), 0};
    return turns->seen != NULL;
}

void cco_turns_free(cco_turns *turns)
{
    free(turns->seen);
    *turns = (cco_turns){0};
}

bool cco_turns_has(cco_turns *turns, const cco_fragment *one, bool sends)
{
    if (one->peer < 0 || one->sends != sends)
        return false;
    unsigned *seen = &turns->seen[2 * one->peer + sends];
    const bool first = *seen != turns->pass;
    *seen = turns->pass;
    return first;
}
