/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.c FILE independent|collective STEPS - each rank writes its rows of a dataset, STEPS times,
 * then reads them once, by parallel HDF5. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 512 };

int main(int argc, char *argv[])
{
    int rank, size, wrong = 0;
    static double data[ROWS][COLUMNS], back[ROWS][COLUMNS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int steps = atoi(argv[3]);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, strcmp(argv[2], "collective") == 0 ? H5FD_MPIO_COLLECTIVE
                                                                  : H5FD_MPIO_INDEPENDENT);
    const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hsize_t whole[3] = {(hsize_t)steps, (hsize_t)(size * ROWS), COLUMNS};
    const hsize_t part[3] = {1, ROWS, COLUMNS};
    const hid_t space = H5Screate_simple(3, whole, NULL), memory = H5Screate_simple(3, part, NULL);
    const hid_t set = H5Dcreate(file, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                                H5P_DEFAULT);
    for (int step = 0; step < 2 * steps; step++) {
        const hsize_t first[3] = {(hsize_t)(step % steps), (hsize_t)(rank * ROWS), 0};
        H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, part, NULL);
        for (int i = 0; i < ROWS * COLUMNS; i++)
            data[0][i] = step % steps + 1000 * rank + i;
        if (step < steps && H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, data) < 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
        if (step >= steps && H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, transfer, back) < 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
        wrong += step >= steps && memcmp(data, back, sizeof data) != 0;
    }
    H5Dclose(set);
    H5Sclose(space);
    H5Sclose(memory);
    H5Pclose(access);
    H5Pclose(transfer);
    H5Fclose(file);
    printf("%s: %d steps are wrong\n", argv[2], wrong);
    MPI_Finalize();
    return wrong != 0;
}
