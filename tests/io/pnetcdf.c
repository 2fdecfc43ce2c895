/* SPDX-License-Identifier: BSD-3-Clause */
/* pnetcdf.c FILE independent|collective STEPS - each rank writes its rows of a variable, STEPS
 * times, then reads them once, by PnetCDF. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 512 };

static void check(int rc)
{
    if (rc != NC_NOERR) {
        fprintf(stderr, "pnetcdf: %s\n", ncmpi_strerror(rc));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char *argv[])
{
    int rank, size, file, dims[3], field, wrong = 0;
    static double data[ROWS * COLUMNS], back[ROWS * COLUMNS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int steps = atoi(argv[3]), together = strcmp(argv[2], "collective") == 0;
    check(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    check(ncmpi_def_dim(file, "step", steps, &dims[0]));
    check(ncmpi_def_dim(file, "row", (MPI_Offset)size * ROWS, &dims[1]));
    check(ncmpi_def_dim(file, "column", COLUMNS, &dims[2]));
    check(ncmpi_def_var(file, "field", NC_DOUBLE, 3, dims, &field));
    check(ncmpi_enddef(file));
    if (!together)
        check(ncmpi_begin_indep_data(file));
    for (int step = 0; step < 2 * steps; step++) {
        const MPI_Offset first[3] = {step % steps, (MPI_Offset)rank * ROWS, 0};
        const MPI_Offset part[3] = {1, ROWS, COLUMNS};
        for (int i = 0; i < ROWS * COLUMNS; i++)
            data[i] = step % steps + 1000 * rank + i;
        if (step < steps)
            check(together ? ncmpi_put_vara_double_all(file, field, first, part, data)
                           : ncmpi_put_vara_double(file, field, first, part, data));
        else
            check(together ? ncmpi_get_vara_double_all(file, field, first, part, back)
                           : ncmpi_get_vara_double(file, field, first, part, back));
        wrong += step >= steps && memcmp(data, back, sizeof data) != 0;
    }
    if (!together)
        check(ncmpi_end_indep_data(file));
    check(ncmpi_close(file));
    printf("%s: %d steps are wrong\n", argv[2], wrong);
    MPI_Finalize();
    return wrong != 0;
}
