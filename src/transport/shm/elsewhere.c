/* SPDX-License-Identifier: BSD-3-Clause */
/* elsewhere.c - see elsewhere.h. */
#include "transport/shm/elsewhere.h"

#include "transport/shm/lost.h"

/* Words of the line of a rank, after the number that it has released. */
enum { POSTED = 1, STAMP = 2 };

static uint64_t *line_of(const cco_slot_ring *b, int rank)
{
    return (uint64_t *)(void *)(b->memory + (size_t)rank * b->share);
}

/* Says in which call this rank waits.  Who reads in between finds no number. */
static void elsewhere_post(const cco_slot_ring *b)
{
    uint64_t *line = line_of(b, b->rank);
    if (line[POSTED] == b->call && line[STAMP] == b->stamp)
        return;
    __atomic_store_n(&line[POSTED], 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&line[STAMP], b->stamp, __ATOMIC_SEQ_CST);
    __atomic_store_n(&line[POSTED], b->call, __ATOMIC_SEQ_CST);
}

void cco_elsewhere_forget(const cco_slot_ring *b)
{
    __atomic_store_n(&line_of(b, b->rank)[POSTED], 0, __ATOMIC_SEQ_CST);
}

/* In which call a rank waits, or waited last; 0: that is not known just now. */
static uint64_t posted_by(const cco_slot_ring *b, int rank, uint64_t *stamp)
{
    const uint64_t *line = line_of(b, rank);
    const uint64_t number = __atomic_load_n(&line[POSTED], __ATOMIC_SEQ_CST);
    *stamp = __atomic_load_n(&line[STAMP], __ATOMIC_SEQ_CST);
    return __atomic_load_n(&line[POSTED], __ATOMIC_SEQ_CST) == number ? number : 0;
}

/* The word in a slot of `rank` that has a piece of a call; 0 if there is none. */
static uint64_t elsewhere_word_of(const cco_slot_ring *b, int rank, uint64_t call)
{
    for (unsigned i = 0; i < (b->pair ? 2 : 1) * b->slots; i++) {
        const char *line = (const char *)line_of(b, i < b->slots ? rank : 1 - rank);
        const uint64_t *slot = (const uint64_t *)(const void *)(line + CCO_SLOT_LINE +
                                                                i % b->slots * b->slot);
        if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) >> CCO_SLOT_PIECE_BITS ==
            call >> CCO_SLOT_PIECE_BITS)
            return cco_stamp_alone(slot[1]);
    }
    return 0;
}

/* Whether `rank` has come to a call on a ring that this rank has not come to, or, on the ring where
 * it waits, has ended its call or makes another one. */
static bool is_away(const cco_slot_ring *b, int rank, bool waits, uint64_t *there)
{
    const uint64_t next = b->call + ((uint64_t)1 << CCO_SLOT_PIECE_BITS);
    const uint64_t left = __atomic_load_n(line_of(b, rank), __ATOMIC_ACQUIRE);
    const uint64_t posted = posted_by(b, rank, there);
    if (posted != 0 &&
        ((int64_t)(posted - next) >= 0 || (waits && posted == b->call && *there != b->stamp)))
        return true;
    *there = 0;
    return (int64_t)(left - (waits ? b->call + CCO_SLOT_PIECE_LAST : next)) >= 0; /* they wrap */
}

/* Whether `rank` is in a call of the MPI that this rank has not made. */
static bool is_in_mpi(const cco_slot_ring *b, int rank)
{
    const cco_watch *watch = b->family->rings->watch;
    const cco_peer_state *seats = watch != NULL ? watch->seats : NULL;
    return seats != NULL && (int32_t)(__atomic_load_n(&seats[rank].mpi_calls, __ATOMIC_ACQUIRE) -
                                      seats[b->rank].mpi_calls) > 0;
}

/* The ring to which it has come; the first, for a call of the MPI. */
static const cco_slot_ring *elsewhere_away(const cco_slot_ring *b, int rank, uint64_t *there)
{
    const cco_slot_family *family = b->family;
    *there = 0;
    if (is_in_mpi(b, rank))
        return family->rings;
    for (int i = 0; i < family->count; i++) {
        const cco_slot_ring *ring = &family->rings[i];
        if (ring->memory != NULL && is_away(ring, rank, ring == b, there))
            return ring;
    }
    return NULL;
}

bool cco_elsewhere(const cco_slot_ring *b, int rank, int tries)
{
    uint64_t there;
    if (b->family == NULL || !cco_watch_is_time(tries))
        return false;
    elsewhere_post(b);
    return elsewhere_away(b, rank, &there) != NULL;
}

static int elsewhere_tell(const cco_slot_ring *b, int rank, uint64_t here, uint64_t there)
{
    return cco_unlike_note(b->family != NULL ? &b->family->unlike : NULL, cco_lost_seat(b, rank),
                           here, there);
}

void cco_elsewhere_give_up(const cco_slot_ring *b, int rank)
{
    uint64_t there = 0;
    const cco_slot_ring *ring = elsewhere_away(b, rank, &there);
    cco_unlike *unlike = &b->family->unlike;
    const bool in_mpi = !unlike->met && is_in_mpi(b, rank);
    if (ring != NULL && there == 0)
        there = elsewhere_word_of(
            ring, rank, ring->call + (ring != b ? (uint64_t)1 << CCO_SLOT_PIECE_BITS : 0));
    const int error = elsewhere_tell(b, rank, b->stamp, there);
    unlike->in_mpi |= in_mpi;
    cco_watch_fail(b->watch, error, -1);
}

void cco_elsewhere_note(cco_slot_ring *b, int rank, uint64_t here, uint64_t there)
{
    if (b->over) /* the slots are this rank's alone, and hold nothing */
        return;
    const int error = elsewhere_tell(b, rank, here, there);
    b->strangers |= (uint64_t)1 << rank;
    b->error = b->error == MPI_SUCCESS ? error : b->error;
}

int cco_elsewhere_end(cco_slot_ring *b, int rc)
{
    rc = rc == MPI_SUCCESS ? b->error : rc;
    b->error = b->over ? b->error : MPI_SUCCESS;
    b->strangers = 0;
    return rc;
}
