/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange_asks.c - a long wait of an exchange asks about few of its messages at a time, however
 * many they are; where a send in the middle cannot start since a process has failed, those before
 * it are given up.  Two ranks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include <cresta_multisend.h>
#include <cresta_sp_coll.h>
#include <crestacoll.h>

#include "testing/testing.h"

#if defined(MPIX_ERR_PROC_FAILED)
enum { HAS_CLASS = 1, FAILED = MPIX_ERR_PROC_FAILED };
#else
enum { HAS_CLASS = 0, FAILED = MPI_ERR_OTHER };
#endif

enum { MESSAGES = 1000, A_LOOK = 16, BESIDE = 16, BAD = 2, SENDS = 4 };

static int rank, asked, cancelled;
static int sends_until_bad = -1; /* negative: none is */

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* The library's calls come here. */
int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    static int (*real)(MPI_Request, int *, MPI_Status *);
    if (real == NULL)
        find("PMPI_Request_get_status", &real);
    asked++;
    return real(request, flag, status);
}

int PMPI_Issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    static int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    if (real == NULL)
        find("PMPI_Issend", &real);
    return sends_until_bad-- == 0 ? FAILED : real(buffer, count, type, to, tag, comm, request);
}

int PMPI_Cancel(MPI_Request *request)
{
    static int (*real)(MPI_Request *);
    if (real == NULL)
        find("PMPI_Cancel", &real);
    cancelled++;
    return real(request);
}

/* Rank 1 comes when rank 0 has looked around.  What the MPI's progress asks comes beside. */
static void try_many(void)
{
    static int counts[MESSAGES], displs[MESSAGES], to[MESSAGES];
    int came = -1, elements = -1, none, most = 0;
    MPI_Request request;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < MESSAGES; i++)
        counts[i] = to[i] = 1;
    CRESTA_Exchange(&rank, counts, displs, MPI_INT, 0, to, &none, &none, comm);
    if (rank == 1)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int rc = CRESTA_Exchange_begin(&rank, counts, displs, MPI_INT, rank == 0 ? MESSAGES : 0, to,
                                   &came, &elements, comm, &request);
    CHECK(rc == MPI_SUCCESS, "begin: %d", rc);
    while (rank == 0 && most < A_LOOK) {
        asked = 0;
        CRESTA_Progress();
        most = asked > most ? asked : most;
    }
    CHECK(most <= A_LOOK + BESIDE, "a look asks about %d of %d messages", most, MESSAGES);
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(rc == MPI_SUCCESS && came == (rank == 1 ? MESSAGES : 0), "%d: %d messages", rc, came);
    MPI_Comm_free(&comm);
}

/* Each rank with itself. */
static void try_bad_send(void)
{
    const int counts[SENDS] = {1, 1, 1, 1}, displs[SENDS] = {0}, to[SENDS] = {0};
    int came, elements, class = MPI_SUCCESS;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CRESTA_Exchange(&rank, counts, displs, MPI_INT, SENDS, to, &came, &elements, comm);
    CHECK(came == SENDS, "%d messages", came);
    sends_until_bad = BAD;
    cancelled = 0;
    const int rc = CRESTA_Exchange(&rank, counts, displs, MPI_INT, SENDS, to, &came, &elements,
                                   comm);
    MPI_Error_class(rc, &class);
    CHECK(class == FAILED, "class %d", class);
    CHECK(cancelled == (HAS_CLASS ? BAD : 0), "%d sends are given up", cancelled);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    testing_watchdog(60);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    testing_rank = rank;
    try_many();
    try_bad_send();
    MPI_Finalize();
    return testing_end("exchange_asks");
}
