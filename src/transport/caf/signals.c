/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c - see signals.h. */
#include "transport/caf/signals.h"

#include <stdbool.h>

#include "base/pause.h"
#include "mpi/service.h"

typedef struct note {
    uint64_t at;
    uint64_t word; /* or LAST */
} note;

enum { TAG = 1 };
static const uint64_t LAST = UINT64_MAX; /* its sender tells nothing more */

static MPI_Comm comm = MPI_COMM_NULL;
static char *base;
static note next; /* to come */
static MPI_Request coming = MPI_REQUEST_NULL;
static int claimed; /* by a thread, `next` and `coming` */
static int tellers; /* that have not told LAST */

static int signals_expect(void)
{
    return PMPI_Irecv(&next, (int)sizeof next, MPI_BYTE, MPI_ANY_SOURCE, TAG, comm, &coming);
}

int cco_signals_begin(MPI_Comm images, char *memory)
{
    int rc = cco_service_copy(images, &comm);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_size(comm, &tellers);
    tellers--; /* this rank tells itself nothing */
    base = memory;
    return tellers > 0 ? signals_expect() : MPI_SUCCESS;
}

static int signals_send(int rank, note n)
{
    return PMPI_Send(&n, (int)sizeof n, MPI_BYTE, rank, TAG, comm);
}

int cco_signals_send(int image, size_t at, uint32_t word)
{
    return signals_send(image - 1, (note){at, word});
}

static void signals_take(void)
{
    if (next.word == LAST)
        tellers--;
    else
        __atomic_store_n((uint32_t *)(void *)(base + next.at), (uint32_t)next.word,
                         __ATOMIC_RELEASE);
}

/* One after the other: a message that finds none waiting takes longer. */
static int signals_take_all(void)
{
    int rc = MPI_SUCCESS, here;
    while (tellers > 0 && rc == MPI_SUCCESS) {
        rc = PMPI_Test(&coming, &here, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS || !here)
            break;
        signals_take();
        if (tellers > 0)
            rc = signals_expect();
    }
    return rc;
}

int cco_signals_receive(void)
{
    if (__atomic_exchange_n(&claimed, 1, __ATOMIC_ACQUIRE))
        return MPI_SUCCESS;
    const int rc = signals_take_all();
    __atomic_store_n(&claimed, 0, __ATOMIC_RELEASE);
    return rc;
}

void cco_signals_end(void)
{
    int rank, size, tries = 0;
    if (comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int i = 1; i < size; i++)
        signals_send((rank + i) % size, (note){0, LAST});
    while (cco_signals_receive() == MPI_SUCCESS && tellers > 0)
        cco_pause(&tries);
    PMPI_Comm_free(&comm);
}
