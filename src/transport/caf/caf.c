/* SPDX-License-Identifier: BSD-3-Clause */
/* caf.c - see caf.h. */
#include "transport/caf/caf.h"

#include <stdlib.h>
#include <string.h>

#include "call/reentry.h"
#include "base/log.h"
#include "mpi/service.h"
#include "transport/caf/signals.h"
#include "transport/caf/runtime.h"

enum {
    LOOKS = 16,       /* one of so many lets the MPI get on */
    ALONE = 64 << 10, /* bytes for a rank alone, or more if it needs them */
    MOST = 1 << 30    /* bytes of a share: OpenCoarrays counts in int */
};

/* What OpenCoarrays calls of the MPI passes us by. */
#define GUARDED(call) (cco_reentry_enter(), (void)(call), cco_reentry_leave())

static cco_caf *caf_of(cco_area *area)
{
    return (cco_caf *)area; /* its first member */
}

static int caf_put(cco_area *area, int peer, size_t at, const void *from, size_t n)
{
    const cco_caf *caf = caf_of(area);
    if (peer == area->rank)
        memmove(area->share + at, from, n);
    else
        GUARDED(caf->coarray->put(caf->peers[peer].image, caf->peers[peer].start + at, from, n));
    return MPI_SUCCESS;
}

static int caf_get(cco_area *area, int peer, size_t at, void *to, size_t n)
{
    const cco_caf *caf = caf_of(area);
    if (peer == area->rank)
        memmove(to, area->share + at, n);
    else
        GUARDED(caf->coarray->get(caf->peers[peer].image, caf->peers[peer].start + at, to, n));
    return MPI_SUCCESS;
}

/* OpenCoarrays has put and got when it returns. */
static int caf_complete(cco_area *area, int peer)
{
    (void)area, (void)peer;
    return MPI_SUCCESS;
}

/* `at` counts from the start of the coarray. */
static int tell_image(const cco_caf *caf, int image, size_t at, uint32_t word)
{
    if (caf->signals)
        return cco_signals_send(image, at, word);
    GUARDED(caf->coarray->tell(image, at, word));
    return MPI_SUCCESS;
}

static int caf_tell(cco_area *area, int peer, size_t at, uint32_t word)
{
    const cco_caf *caf = caf_of(area);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* what this rank wrote into its own share */
    if (peer != area->rank)
        return tell_image(caf, caf->peers[peer].image, caf->peers[peer].start + at, word);
    __atomic_store_n((uint32_t *)(void *)(area->share + at), word, __ATOMIC_RELEASE);
    return MPI_SUCCESS;
}

/* Where messages carry what others put and get, the MPI must be called for it to get on.  Nothing
 * in Fortran does that for all images. */
static int caf_look(cco_area *area)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return caf_of(area)->signals ? cco_signals_receive() : cco_area_progress_mpi(area, LOOKS);
}

static const cco_area_kind kind = {.name = "coarray",
                                   .put = caf_put,
                                   .get = caf_get,
                                   .complete = caf_complete,
                                   .tell = caf_tell,
                                   .look = caf_look};

/* The images of the ranks of `comm`; false if one is no rank of MPI_COMM_WORLD.  Local. */
static bool find_images(cco_caf *caf, int *ranks)
{
    MPI_Group group, world;
    const int n = caf->area.size;
    PMPI_Comm_group(caf->area.comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    int *images = ranks + n;
    bool all = PMPI_Group_translate_ranks(group, n, ranks, world, images) == MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        all = all && images[i] != MPI_UNDEFINED;
        caf->peers[i].image = images[i] + 1;
    }
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return all;
}

static bool caf_describe(cco_caf *caf, MPI_Comm comm)
{
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    *caf = (cco_caf){0};
    caf->area = (cco_area){.kind = &kind, .rank = rank, .size = size, .comm = comm};
    int *ranks = malloc(2 * (size_t)size * sizeof *ranks);
    caf->peers = calloc((size_t)size, sizeof *caf->peers);
    if (caf->peers == NULL || ranks == NULL)
        cco_fatal("no memory for coarrays");
    const bool all = find_images(caf, ranks);
    free(ranks);
    return all;
}

static const char *caf_give_up(cco_caf *caf, const char *why)
{
    free(caf->peers);
    *caf = (cco_caf){0};
    return why;
}

static size_t caf_aligned(size_t bytes)
{
    return (bytes + CCO_IMAGE_ALIGNED - 1) / CCO_IMAGE_ALIGNED * CCO_IMAGE_ALIGNED;
}

/* Nobody writes before all have come here. */
static bool caf_clear(cco_caf *caf, size_t zero)
{
    memset(caf->area.share, 0, zero < caf->area.bytes ? zero : caf->area.bytes);
    return cco_service_all(true, caf->area.comm);
}

/* The area of a rank alone. */
static const char *caf_make_own(cco_caf *caf, size_t least)
{
    caf->area.bytes = caf_aligned(least > ALONE ? least : ALONE);
    caf->area.share = caf->own = aligned_alloc(CCO_IMAGE_ALIGNED, caf->area.bytes);
    if (caf->own == NULL)
        return caf_give_up(caf, "there is no memory");
    memset(caf->own, 0, caf->area.bytes);
    return NULL;
}

/* A slice has padding, a word for each rank, the share. */
static void caf_settle(cco_caf *caf, const cco_images *images, size_t block, size_t head)
{
    const size_t at = (size_t)caf->slice.first * block;
    for (int i = 0; i < caf->area.size; i++) {
        struct cco_caf_peer *peer = &caf->peers[i];
        peer->start = at + images->pads[peer->image - 1] + head;
    }
    caf->coarray = &images->plugin->kept;
    caf->signals = CCO_SIGNALS_PAY;
    caf->area.share = images->kept + caf->peers[caf->area.rank].start;
    caf->area.bytes = (size_t)caf->slice.blocks * block - CCO_IMAGE_ALIGNED - head;
    if (caf->area.bytes > MOST)
        caf->area.bytes = MOST;
    caf->left = (uint32_t *)(void *)(caf->area.share - head);
    memset(caf->left, 0, head);
}

static int blocks_for(size_t bytes, size_t block)
{
    const size_t blocks = (bytes + block - 1) / block;
    return blocks < CCO_BLOCKS ? (int)blocks : CCO_BLOCKS + 1;
}

const char *cco_caf_keep(cco_caf *caf, size_t least, size_t most, size_t zero, MPI_Comm comm)
{
    const cco_images *images = cco_runtime_images();
    const bool ready = caf_describe(caf, comm) && images != NULL && images->kept != NULL;
    if (caf->area.size == 1)
        return caf_make_own(caf, least);
    const size_t head = caf_aligned((size_t)caf->area.size * sizeof *caf->left);
    const size_t over = head + CCO_IMAGE_ALIGNED, block = ready ? images->bytes / CCO_BLOCKS : 1;
    const int few = blocks_for(least + over, block);
    const int many = blocks_for(most + over, block);
    caf->slice = cco_slice_take(few, many, ready, comm);
    if (caf->slice.blocks == 0)
        return caf_give_up(caf, images == NULL         ? cco_runtime_why()
                                : images->kept == NULL ? "no coarray is kept"
                                : !ready               ? "it has ranks of another job"
                                                       : "no part of the coarray is free");
    caf_settle(caf, images, block, head);
    if (!caf_clear(caf, zero)) {
        cco_caf_free(caf);
        return "the MPI failed";
    }
    return NULL;
}

/* Every image gives where its share begins. */
static bool share_starts(cco_caf *caf, const char *base)
{
    const int n = caf->area.size;
    unsigned char *pads = calloc((size_t)n, 1), mine = base != NULL ? cco_runtime_pad(base) : 255;
    if (pads == NULL)
        cco_fatal("no memory for coarrays");
    bool all = cco_service_allgather(&mine, pads, 1, caf->area.comm) == MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        all = all && pads[i] < CCO_IMAGE_ALIGNED;
        caf->peers[i].start = pads[i];
    }
    free(pads);
    return all;
}

/* Images allocate in the same order, so that two threads must not do it at once: with
 * MPI_THREAD_MULTIPLE there may be another in a call on another communicator of all ranks. */
static bool caf_alone(MPI_Comm comm)
{
    int level = MPI_THREAD_SINGLE, size = 0, ranks = 0;
    PMPI_Query_thread(&level);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Comm_size(comm, &ranks);
    return level < MPI_THREAD_MULTIPLE && ranks == size;
}

const char *cco_caf_make(cco_caf *caf, size_t bytes, size_t zero, MPI_Comm comm)
{
    const cco_images *images = cco_runtime_images();
    const size_t all = caf_aligned(bytes) + CCO_IMAGE_ALIGNED;
    const bool could = caf_describe(caf, comm) && images != NULL && caf_alone(comm);
    if (caf->area.size == 1)
        return caf_make_own(caf, bytes);
    if (!cco_service_all(could && cco_runtime_has_room(all), comm))
        return caf_give_up(caf, images == NULL ? cco_runtime_why()
                                : !could
                                    ? "a coarray for each call takes all ranks of MPI_COMM_WORLD"
                                      " (and no MPI_THREAD_MULTIPLE)"
                                    : "there is no room for a coarray");
    char *base;
    GUARDED(base = images->plugin->pass(all));
    if (!share_starts(caf, base)) {
        GUARDED(images->plugin->drop());
        return caf_give_up(caf, "there is no memory for a coarray");
    }
    caf->coarray = &images->plugin->passing;
    caf->area.share = base + caf->peers[caf->area.rank].start;
    caf->area.bytes = bytes;
    caf_clear(caf, zero);
    return NULL;
}

/* The last that this rank writes there, by the way of what it told before and must not overtake. */
static void caf_leave(cco_caf *caf)
{
    const int me = caf->area.rank, n = caf->area.size;
    const size_t before = (size_t)(caf->area.share - (char *)&caf->left[me]);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* what it wrote into its own share */
    for (int i = 1; i < n; i++) {
        const struct cco_caf_peer *peer = &caf->peers[(me + i) % n];
        tell_image(caf, peer->image, peer->start - before, 1);
    }
    __atomic_store_n(&caf->left[me], 1, __ATOMIC_RELEASE);
    cco_slice_leave(caf->slice, caf->left, n);
}

void cco_caf_free(cco_caf *caf)
{
    const cco_images *images = cco_runtime_images();
    if (caf->peers == NULL)
        return;
    if (caf->own != NULL)
        free(caf->own);
    else if (images != NULL && caf->slice.blocks > 0)
        caf_leave(caf);
    else if (images != NULL)
        GUARDED(images->plugin->drop());
    caf_give_up(caf, NULL);
}

const char *cco_caf_begin(MPI_Comm comm)
{
    return cco_runtime_begin(comm);
}

void cco_caf_end(void)
{
    cco_runtime_end();
}
