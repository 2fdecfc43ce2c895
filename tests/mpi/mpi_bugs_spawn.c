/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_spawn.c - the faults of the MPI itself that concern spawned processes and
 * sessions. */
#include "mpi_bugs_spawn.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

static void merge_and_use(MPI_Comm with, int high)
{
    int one = 1, sum;
    MPI_Comm all;
    MPI_Intercomm_merge(with, high, &all);
    for (int i = 0; i < 200; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&with);
}

/* Spawns two processes three times: they merge, reduce and disconnect. All on one core. */
int three_spawns(void)
{
    MPI_Comm with;
    char self[PATH_MAX], *arguments[] = {"three_spawns", NULL};
    MPI_Comm_get_parent(&with);
    if (with != MPI_COMM_NULL) {
        merge_and_use(with, 1);
        return 0;
    }
    for (int i = 0; realpath("/proc/self/exe", self) && i < 3; i++) {
        MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &with,
                       MPI_ERRCODES_IGNORE);
        merge_and_use(with, 0);
    }
    return 0;
}

void session_first_begin(void)
{
#if MPI_VERSION >= 4
    const char *rank = getenv("PMI_RANK");
    MPI_Session session;
    MPI_Group group;
    MPI_Comm self;
    if (rank == NULL || atoi(rank) != 0)
        return;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "self", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &self);
    MPI_Comm_free(&self);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
#endif
}

/* Does MPI_Init return? */
int session_first(void)
{
    int one = 1, sum = 0, ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum != ranks;
}
