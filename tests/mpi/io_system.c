/* SPDX-License-Identifier: BSD-3-Clause */
/* io_system.c FILE - writes and reads by MPI-IO of all kinds of calls, whose bytes the system is
 * asked to move: tests/python/test_library_io.py compares both. */
#include <mpi.h>
#include <stdio.h>

enum { BLOCK = 5000, STEPS = 20 };

int main(int argc, char *argv[])
{
    static char buf[BLOCK];
    int rank, size;
    MPI_File file;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    for (int i = 0; i < STEPS; i++) {
        const MPI_Offset at = (MPI_Offset)(i * size + rank) * BLOCK;
        if (i % 4 == 0)
            MPI_File_write_at(file, at, buf, BLOCK, MPI_CHAR, MPI_STATUS_IGNORE);
        else if (i % 4 == 1)
            MPI_File_write_at_all(file, at, buf, BLOCK, MPI_CHAR, MPI_STATUS_IGNORE);
        else if (i % 4 == 2) {
            MPI_File_iwrite_at(file, at, buf, BLOCK, MPI_CHAR, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_File_write_at_all_begin(file, at, buf, BLOCK, MPI_CHAR);
            MPI_File_write_at_all_end(file, buf, MPI_STATUS_IGNORE);
        }
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < STEPS; i++) { /* the last ones end in front of the end of a block */
        const MPI_Offset at = (MPI_Offset)(i * size + rank) * BLOCK + 100;
        if (i % 2)
            MPI_File_read_at_all(file, at, buf, BLOCK, MPI_CHAR, MPI_STATUS_IGNORE);
        else
            MPI_File_read_at(file, at, buf, BLOCK, MPI_CHAR, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
