/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.c - see agree.h. */
#include "tune/agree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "comm/facts.h"
#include "base/log.h"
#include "mpi/mpi_compat.h"
#include "mpi/service.h"
#include "config/settings.h"
#include "base/world.h"
#include "tune/presence.h"

/* All ranks of MPI_COMM_WORLD have met in MPI_Init; of others nobody knows that they answer. */
static void agree_late(void *what)
{
    const MPI_Comm *comm = what;
    char name[MPI_MAX_OBJECT_NAME] = "";
    int rank = 0, length;
    if (cco_configured.debug.match > 0) {
        PMPI_Comm_rank(*comm, &rank);
        PMPI_Comm_get_name(*comm, name, &length);
        cco_say("rank %d of communicator '%s' has waited %lu s in the first collective there for "
                "ranks that have not called one",
                rank, name, cco_configured.debug.match);
    } else if (!cco_in_world(*comm))
        cco_presence_report(*comm);
}

int cco_agree(MPI_Comm comm, const uint64_t *words, int count, uint64_t *least, uint64_t *most)
{
    uint64_t mine[2 * CCO_AGREED] = {0}, all[2 * CCO_AGREED] = {0};
    const unsigned long match = cco_configured.debug.match;
    const int seconds = match > 0 && match < INT_MAX ? (int)match : CCO_PATIENCE;
    const cco_patience patience = {seconds, seconds, agree_late, &comm};
    int size = 1;
    PMPI_Comm_size(comm, &size);
    memcpy(least, words, (size_t)count * sizeof *words);
    memcpy(most, words, (size_t)count * sizeof *words);
    if (size == 1) /* MPICH 4.0 must not be waited in before MPI_Init, with a session of one rank */
        return MPI_SUCCESS;
    for (int i = 0; i < count; i++) { /* the least complement is the complement of the most */
        mine[2 * i] = words[i];
        mine[2 * i + 1] = ~words[i];
    }
    const int rc = cco_service_allreduce_patiently(mine, all, 2 * count, MPI_UINT64_T, MPI_MIN,
                                                   comm, &patience);
    for (int i = 0; i < count; i++) {
        least[i] = all[2 * i];
        most[i] = ~all[2 * i + 1];
    }
    return rc;
}

/* The ranks for which `mine` holds: how many, and the first. */
static void first_of(MPI_Comm comm, bool mine, int rank, int *first, int *count)
{
    *first = mine ? rank : INT_MAX;
    *count = mine;
    cco_service_allreduce(MPI_IN_PLACE, first, 1, MPI_INT, MPI_MIN, comm);
    cco_service_allreduce(MPI_IN_PLACE, count, 1, MPI_INT, MPI_SUM, comm);
}

/* The lines of `text` that `other` lacks, on one. */
static void only_in(const char *text, const char *other, char *lines, size_t room)
{
    size_t used = 0;
    lines[0] = '\0';
    for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const size_t length = (size_t)(end + 1 - line);
        const char *same = other;
        while (same != NULL && strncmp(same, line, length) != 0)
            same = (same = strchr(same, '\n')) != NULL ? same + 1 : NULL;
        if (same == NULL && used < room)
            used += (size_t)snprintf(lines + used, room - used, "%s%.*s", used ? ", " : "",
                                     (int)length - 1, line);
    }
}

static void explain_difference(MPI_Comm comm, int rank, int size)
{
    char mine[CCO_SETTINGS_ROOM] = "", root[CCO_SETTINGS_ROOM] = "";
    char here[CCO_SETTINGS_ROOM / 3], there[CCO_SETTINGS_ROOM / 3];
    int first, count;
    cco_settings_report(mine);
    memcpy(root, mine, sizeof root);
    cco_service_bcast(root, sizeof root, comm);
    first_of(comm, strcmp(mine, root) != 0, rank, &first, &count);
    only_in(mine, root, here, sizeof here);
    only_in(root, mine, there, sizeof there);
    if (first == INT_MAX ? rank == 0 : rank == first)
        cco_fatal("the environment must be the same on all ranks, but %d of %d differ from rank 0\n"
                  "    rank %d: %s\n    rank 0: %s",
                  count, size, rank, here, there);
}

void cco_agree_explain(MPI_Comm comm)
{
    int rank, size, first, count;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    first_of(comm, cco_configured.error[0] != '\0', rank, &first, &count);
    if (count == 0)
        explain_difference(comm, rank, size);
    else if (rank == first && count == size)
        cco_fatal("%s", cco_configured.error);
    else if (rank == first)
        cco_fatal("rank %d (%d of %d ranks have an error in their environment): %s", rank, count,
                  size, cco_configured.error);
    cco_service_barrier(comm); /* the one that speaks ends the job first */
}

void cco_agree_on_job(void)
{
    enum { CONFIGURATION, ERROR, ASKED, LINKED, MENDS, MANY_THREADS, WORDS };
    const uint64_t words[WORDS] = {cco_settings_hash_environment(),
                                   cco_configured.error[0] != '\0',
                                   cco_job.wishes,
                                   cco_job.linked,
                                   cco_job.mends,
                                   cco_job.many_threads};
    uint64_t least[WORDS], most[WORDS];
    if (cco_agree(MPI_COMM_WORLD, words, WORDS, least, most) != MPI_SUCCESS)
        cco_fatal("cannot compare the environment of the ranks: the MPI's allreduce failed");
    if (least[CONFIGURATION] != most[CONFIGURATION] || most[ERROR])
        cco_agree_explain(MPI_COMM_WORLD);
    cco_job.asked = most[ASKED];
    cco_job.linked = most[LINKED];
    cco_job.mends = most[MENDS];
    if (most[ASKED] || most[LINKED] || most[MENDS])
        cco_service_begin(most[MANY_THREADS]);
}
