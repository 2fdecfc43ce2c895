/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.c - the collectives of OpenSHMEM: small broadcasts by shmem/small.h, all others by
 * CRESTA_x on the communicator of the team. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <crestacoll_shmem.h>

#include "base/log.h"
#include "shmem/team.h"

/* Elements of so many bytes. */
static MPI_Datatype elements_of(size_t width)
{
    return width == 8   ? MPI_UINT64_T
           : width == 4 ? MPI_UINT32_T
           : width == 2 ? MPI_UINT16_T
                        : MPI_BYTE;
}

/* `n` elements of `width` bytes, in elements of elements_of(width). */
static int collectives_count_of(size_t n, size_t width, const char *function)
{
    const size_t each = width == 8 || width == 4 || width == 2 ? 1 : width;
    if (n > INT_MAX / each)
        cco_fatal("%s: %zu elements of %zu bytes, more than an int counts", function, n, width);
    return (int)(n * each);
}

int CRESTA_Shmem_barrier(shmem_team_t team)
{
    const struct cresta_team *t = cco_team_of(team);
    return t == NULL || CRESTA_Barrier(t->comm) != MPI_SUCCESS;
}

/* In pieces that an int counts. */
static int broadcast_large(struct cresta_team *t, void *buffer, size_t bytes, int root)
{
    enum { PIECE = 1 << 30 };
    for (size_t done = 0; done < bytes; done += PIECE) {
        const size_t n = bytes - done < PIECE ? bytes - done : PIECE;
        if (CRESTA_Bcast((char *)buffer + done, (int)n, MPI_BYTE, root, t->comm) != MPI_SUCCESS)
            return 1;
    }
    return 0;
}

int CRESTA_Shmem_broadcast(shmem_team_t team, void *dest, const void *source, size_t bytes,
                           int root, int to_root)
{
    struct cresta_team *t = cco_team_of(team);
    if (t == NULL)
        return 1;
    if (root < 0 || root >= t->size)
        cco_fatal("shmem_broadcast: root %d, expected 0 to %d", root, t->size - 1);
    int rc = 0;
    if (bytes <= CCO_SMALL_BYTES && t->small.mine != NULL)
        cco_small_broadcast(&t->small, dest, source, bytes, root);
    else
        rc = broadcast_large(t, t->rank == root ? (void *)source : dest, bytes, root);
    if (to_root && t->rank == root && dest != source && bytes > 0)
        memmove(dest, source, bytes);
    return rc;
}

int CRESTA_Shmem_fcollect(shmem_team_t team, void *dest, const void *source, size_t n, size_t width)
{
    const struct cresta_team *t = cco_team_of(team);
    if (t == NULL)
        return 1;
    const MPI_Datatype type = elements_of(width);
    const int count = collectives_count_of(n, width, "shmem_fcollect");
    return CRESTA_Allgather(source, count, type, dest, count, type, t->comm) != MPI_SUCCESS;
}

int CRESTA_Shmem_collect(shmem_team_t team, void *dest, const void *source, size_t n, size_t width)
{
    const struct cresta_team *t = cco_team_of(team);
    if (t == NULL)
        return 1;
    const MPI_Datatype type = elements_of(width);
    const int mine = collectives_count_of(n, width, "shmem_collect");
    int *counts = malloc(2 * (size_t)t->size * sizeof *counts), *displs = counts + t->size;
    if (counts == NULL)
        cco_fatal("shmem_collect: no memory for the counts of %d PEs", t->size);
    int rc = CRESTA_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, t->comm);
    size_t all = 0;
    for (int i = 0; i < t->size && rc == MPI_SUCCESS; i++) {
        displs[i] = (int)all;
        all += (size_t)counts[i];
        if (all > INT_MAX)
            cco_fatal("shmem_collect: %zu elements and more, more than an int counts", all);
    }
    if (rc == MPI_SUCCESS)
        rc = CRESTA_Allgatherv(source, mine, type, dest, counts, displs, type, t->comm);
    free(counts);
    return rc != MPI_SUCCESS;
}

int CRESTA_Shmem_alltoall(shmem_team_t team, void *dest, const void *source, size_t n, size_t width)
{
    const struct cresta_team *t = cco_team_of(team);
    if (t == NULL)
        return 1;
    const MPI_Datatype type = elements_of(width);
    const int count = collectives_count_of(n, width, "shmem_alltoall");
    return CRESTA_Alltoall(source, count, type, dest, count, type, t->comm) != MPI_SUCCESS;
}

int CRESTA_Shmem_alltoalls(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst,
                           ptrdiff_t sst, size_t n, size_t width)
{
    const struct cresta_team *t = cco_team_of(team);
    if (t == NULL)
        return 1;
    if (dst < 1 || sst < 1)
        cco_fatal("shmem_alltoalls: strides %td and %td, expected 1 or more", dst, sst);
    const size_t all = n * (size_t)t->size;
    char *packed = malloc(2 * all * width + 1), *came = packed + all * width;
    if (packed == NULL)
        cco_fatal("shmem_alltoalls: no memory for %zu elements", all);
    for (size_t i = 0; i < all; i++)
        memcpy(packed + i * width, (const char *)source + i * (size_t)sst * width, width);
    const int rc = CRESTA_Shmem_alltoall(team, came, packed, n, width);
    for (size_t i = 0; i < all && rc == 0; i++)
        memcpy((char *)dest + i * (size_t)dst * width, came + i * width, width);
    free(packed);
    return rc;
}

int CRESTA_Shmem_reduce(shmem_team_t team, void *dest, const void *source, size_t n,
                        MPI_Datatype type, MPI_Op op)
{
    const struct cresta_team *t = cco_team_of(team);
    if (t == NULL)
        return 1;
    const void *from = source == dest ? MPI_IN_PLACE : source;
    return CRESTA_Allreduce(from, dest, collectives_count_of(n, 4, "shmem reduction"), type, op,
                            t->comm) != MPI_SUCCESS;
}
