/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_rings.c - see shm_rings.h. */
#include "model/shm_rings.h"

#include <sys/mman.h>

#include "config/config.h"
#include "base/log.h"
#include "transport/shm/pool.h"

static const size_t slots[CCO_SHM_RINGS] = {256, (8 << 10) + CCO_SLOT_LINE,
                                            (64 << 10) + CCO_SLOT_LINE};
static const unsigned counts[CCO_SHM_RINGS] = {CCO_SLOT_RING_MOST, CCO_SLOT_RING_MOST, 8};
const size_t cco_shm_rooms[CCO_SHM_RINGS] = {256 - CCO_SLOT_HEAD,
                                             (8 << 10) + CCO_SLOT_LINE - CCO_SLOT_HEAD,
                                             (64 << 10) + CCO_SLOT_LINE - CCO_SLOT_HEAD};

static const int first_ring[CCO_SHM_PARTS + 1] = {CCO_SHM_SMALL, CCO_SHM_MIDDLE, CCO_SHM_RINGS};

cco_shm_part cco_shm_part_of(const cco_flat *plan)
{
    return plan->stages > 0 && plan->stage[0].ring < first_ring[CCO_SHM_FAR] ? CCO_SHM_NEAR
                                                                             : CCO_SHM_FAR;
}

/* The small ring has its slots abreast, so that a few calls touch few pages. */
static size_t shm_rings_share_of(int ring)
{
    return ring == CCO_SHM_SMALL ? cco_slot_ring_share_abreast(slots[ring], counts[ring])
                                 : cco_slot_ring_share(slots[ring], counts[ring]);
}

static cco_slot_ring open_ring(int ring, const cco_segment *segment, size_t before,
                               const cco_comm *state, uint64_t mark)
{
    char *memory = segment->memory + before;
    if (ring == CCO_SHM_SMALL)
        return cco_slot_ring_open_abreast(memory, slots[ring], counts[ring], state->rank,
                                          state->size, mark);
    return cco_slot_ring_open(memory, segment->share, slots[ring], counts[ring], state->rank,
                              state->size, mark);
}

/* Each rank's share of the memory has its rings one after the other; the small one has a part of
 * its own, where the shares are one piece. */
static void shm_rings_make(cco_shm_rings *r, cco_shm_part part, size_t more, const cco_comm *state,
                           const cco_watch *watch)
{
    cco_segment *segment = &r->segments[part];
    uint64_t mark = 0;
    size_t before = 0, share = 0;
    for (int i = first_ring[part]; i < first_ring[part + 1]; i++)
        share += shm_rings_share_of(i);
    r->more = share;
    share += more;
    if (!cco_pool_take(segment, share, cco_configured.shm_memory, state->comm, &mark))
        return;
    for (int i = first_ring[part]; i < first_ring[part + 1]; i++) {
        r->rings[i] = open_ring(i, segment, before, state, mark);
        r->rings[i].watch = &r->watches[part];
        r->rings[i].family = &r->family;
        before += shm_rings_share_of(i);
    }
    r->family.rings = r->rings;
    r->family.count = CCO_SHM_RINGS;
    r->watches[part] = *watch;
    r->watches[part].seats = segment->seats;
}

void cco_shm_rings_begin(cco_shm_rings *r)
{
    void *pages = mmap(NULL, CCO_SHM_RINGS * sizeof *r->rings, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        cco_fatal("no memory for slot rings");
    r->rings = pages;
}

bool cco_shm_rings_there(cco_shm_rings *r, cco_shm_part part, size_t more, const cco_comm *state,
                         const cco_watch *watch)
{
    if (!r->asked[part]) {
        r->asked[part] = true;
        shm_rings_make(r, part, more, state, watch);
    }
    return r->segments[part].memory != NULL;
}

void cco_shm_rings_leave(cco_shm_rings *r, int error)
{
    for (int i = 0; i < CCO_SHM_RINGS; i++)
        cco_slot_ring_give_up(&r->rings[i], error);
    for (int i = 0; i < CCO_SHM_PARTS; i++)
        if (r->segments[i].memory != NULL)
            cco_segment_detach(&r->segments[i], error);
}

/* Its calls are all counted below that of the slot ring with most. */
static void shm_rings_let_go(cco_shm_rings *r, cco_shm_part part)
{
    const cco_slot_ring *first = &r->rings[first_ring[part]];
    uint64_t mark = first->call;
    if (r->segments[part].memory == NULL)
        return;
    if (first->over) { /* nobody else may use it */
        cco_segment_free(&r->segments[part]);
        return;
    }
    for (int i = first_ring[part]; i < first_ring[part + 1]; i++)
        if (cco_slot_number_before(mark, r->rings[i].call))
            mark = r->rings[i].call;
    for (int i = first_ring[part]; i < first_ring[part + 1]; i++)
        cco_slot_ring_close(&r->rings[i], mark);
    r->segments[part].seats[first->rank].mpi_calls = 0;
    cco_pool_keep(&r->segments[part], mark, first->rank);
}

void cco_shm_rings_let_go(cco_shm_rings *r)
{
    for (int i = 0; i < CCO_SHM_PARTS; i++)
        shm_rings_let_go(r, (cco_shm_part)i);
    munmap(r->rings, CCO_SHM_RINGS * sizeof *r->rings);
}
