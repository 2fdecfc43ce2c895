/* SPDX-License-Identifier: BSD-3-Clause */
/* test_unlike.c - what is said of calls that do not match: both ranks, both calls, the error. Needs
 * no running MPI. */
#include <string.h>
#include <unistd.h>

#include "call/unlike.h"
#include "testing/testing.h"

static char said[1024];

static void tell(const char *name, int rank, int size, const cco_unlike *unlike)
{
    FILE *file = tmpfile();
    const int errors = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    cco_unlike_tell(name, rank, size, unlike);
    fflush(stderr);
    dup2(errors, STDERR_FILENO);
    close(errors);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
}

static void says(const char *expected)
{
    CHECK(strstr(said, expected) != NULL, "'%s' is not in '%s'", expected, said);
}

int main(void)
{
    cco_unlike u = {.met = true,
                    .rank = 0,
                    .here = cco_stamp(CCO_BCAST, 0, 8),
                    .there = cco_stamp(CCO_BCAST, 0, 16)};
    tell("row", 3, 4, &u);
    says("the ranks of communicator 'row' (4 ranks) do not make the same call there "
         "(MPI_ERR_TRUNCATE):\n"
         "    rank 3: MPI_Bcast, root 0, takes 8 bytes\n"
         "    rank 0: MPI_Bcast, root 0, gives 16 bytes\n");
    u.rank = 1;
    u.here = cco_stamp(CCO_ALLREDUCE, 0, 1);
    u.there = cco_stamp(CCO_BARRIER, 0, 0);
    tell("row", 0, 4, &u);
    says("(MPI_ERR_OTHER):\n    rank 0: MPI_Allreduce, 1 byte\n    rank 1: MPI_Barrier\n");
    u = (cco_unlike){.met = true,
                     .here = cco_stamp(CCO_ALLGATHER, 0, 8),
                     .there = cco_stamp(CCO_ALLGATHER, 0, 4)};
    tell("self", 0, 1, &u);
    says("a rank of communicator 'self' (1 rank) gives itself other bytes than it takes "
         "(MPI_ERR_TRUNCATE):\n    rank 0: MPI_Allgather, takes 8 bytes\n"
         "    rank 0: MPI_Allgather, gives 4 bytes\n");
    return testing_end("test_unlike");
}
