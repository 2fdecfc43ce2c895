/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bugs_spawn.c - the faults of the MPI itself that concern spawned processes. */
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
