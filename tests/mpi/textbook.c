/* SPDX-License-Identifier: BSD-3-Clause */
/* textbook.c - a profiling tool as in textbooks: its state is made in MPI_Init, used in other calls
 * and told in MPI_Finalize; each call of the program must come here once, none of crestacoll's. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SENDS, WAITS, LEVELS, KINDS };
static long *count;

static void make(void)
{
    if (count != NULL)
        abort(); /* twice */
    count = calloc(KINDS, sizeof *count);
}

int MPI_Init(int *argc, char ***argv)
{
    const int rc = PMPI_Init(argc, argv);
    make();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int rc = PMPI_Init_thread(argc, argv, required, provided);
    make();
    return rc;
}

int MPI_Send(const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count[SENDS]++;
    return PMPI_Send(buffer, n, type, to, tag, comm);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status *statuses)
{
    count[WAITS]++;
    return PMPI_Waitall(n, requests, statuses);
}

int MPI_Pcontrol(const int level, ...)
{
    count[LEVELS]++;
    return PMPI_Pcontrol(level);
}

int MPI_Finalize(void)
{
    printf("tool: %ld sends, %ld waits, %ld levels\n", count[SENDS], count[WAITS], count[LEVELS]);
    fflush(stdout);
    return PMPI_Finalize();
}
