/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_single.c - see shm_single.h. */
#include "model/shm_single.h"

#include "comm/facts.h"
#include "comm/fallback.h"
#include "base/log.h"
#include "mpi/service.h"
#include "model/shm_copy.h"

size_t cco_shm_single_share(void)
{
    return cco_distance_share() + cco_pull_share();
}

/* Tells the others who this rank is; nobody reads before all have made their part ready. */
static bool shm_single_exchange(cco_pull *pull, MPI_Comm comm)
{
    const cco_process_id me = cco_process_me();
    return cco_service_allgather(&me, pull->peers, sizeof me, comm) == MPI_SUCCESS;
}

/* Probes every rank: what is refused for one may be allowed for another. */
static bool open_pull(cco_shm_single *single, const cco_comm *state, const cco_segment *segment)
{
    cco_pull *pull = &single->pull;
    char *memory = segment->memory + single->at;
    const bool opened = cco_pull_open(pull, memory + cco_distance_share(), segment->share,
                                      state->rank, state->size);
    cco_distance_open(memory + (size_t)state->rank * segment->share);
    if (!cco_service_all(opened, state->comm)) {
        cco_pull_close(pull);
        return false;
    }
    const bool can = shm_single_exchange(pull, state->comm) && cco_pull_probe(pull) &&
                     !cco_inject_mismatch();
    if (cco_service_all(can, state->comm))
        return true;
    cco_pull_close(pull);
    return false;
}

bool cco_shm_single_open(cco_shm_single *single, const cco_comm *state, const cco_segment *segment)
{
    if (!single->asked)
        open_pull(single, state, segment);
    single->asked = true;
    return single->pull.peers != NULL;
}

int cco_shm_single_refused(cco_comm *state)
{
    static uint32_t reported;
    const cco_fallback fallback = {NULL,
                                   "shm?copy=single",
                                   "the kernel does not let the ranks read each other's memory",
                                   "shm?copy=slots",
                                   state->rank == 0,
                                   false};
    const int rc = cco_fall_back(state, &fallback, &reported, 0);
    return rc == MPI_SUCCESS ? rc : cco_comm_refuse(state, rc);
}

enum { BITS = 20 }; /* of each figure of a distance, in one word */

static uint64_t shm_single_word_of(const cco_distance *d)
{
    return ((uint64_t)d->line << BITS | d->slots) << BITS | d->kernel;
}

static cco_distance distance_of(uint64_t word)
{
    const unsigned most = CCO_DISTANCE_MOST;
    return (cco_distance){(unsigned)(word >> 2 * BITS) & most, (unsigned)(word >> BITS) & most,
                          (unsigned)word & most};
}

/* The largest of what the ranks say, and the least; zeros if they cannot be asked. */
static void shm_single_compare(uint64_t mine, MPI_Comm comm, uint64_t *least, uint64_t *most)
{
    uint64_t words[2] = {mine, ~mine}, all[2];
    *least = *most = 0;
    if (cco_service_allreduce(words, all, 2, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS)
        return;
    *least = ~all[1];
    *most = all[0];
}

/* What this process has measured, or learned from others, last: ranks may differ. */
static uint64_t known;

static void shm_single_report(const cco_distance *d, int ranks)
{
    cco_log(CCO_LOG_INFO,
            "shm?copy=auto: %s; between ranks 0 and %d of a communicator a cache line takes %u ns,"
            " %d KiB take %u ns through a slot and %u ns by the kernel",
            cco_shm_copy_distance(d), ranks - 1, d->line, CCO_DISTANCE_BYTES >> 10, d->slots,
            d->kernel);
}

cco_distance cco_shm_single_distance(cco_shm_single *single, const cco_comm *state,
                                     cco_slot_ring *ring)
{
    if (single->measured)
        return single->distance;
    cco_pull *pull = &single->pull;
    uint64_t least, most;
    single->measured = true;
    shm_single_compare(cco_inject_mismatch() ? 0 : __atomic_load_n(&known, __ATOMIC_RELAXED),
                       state->comm, &least, &most);
    const bool again = least == 0 || least != most;
    if (again) {
        const cco_distance mine = cco_distance_measure(ring, pull,
                                                       pull->memory - cco_distance_share());
        shm_single_compare(shm_single_word_of(&mine), state->comm, &least, &most);
        __atomic_store_n(&known, most, __ATOMIC_RELAXED);
    }
    single->distance = distance_of(most);
    if (again && state->rank == 0)
        shm_single_report(&single->distance, state->size);
    return single->distance;
}

void cco_shm_single_free(cco_shm_single *single)
{
    cco_pull_close(&single->pull);
}
