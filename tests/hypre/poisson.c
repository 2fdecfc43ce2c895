/* SPDX-License-Identifier: BSD-3-Clause */
/* poisson.c - Poisson's equation by hypre, in plain MPI: conjugate gradients with BoomerAMG, on
 * rows that are not evenly divided; with more than two ranks the last one has none.
 *
 *     poisson      prints how often it iterated, and the square of the solution */
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 33, ROWS = SIDE * SIDE };

/* The first row of a rank. */
static HYPRE_Int first_row(int rank, int size)
{
    const int with = size > 2 ? size - 1 : size;
    return rank >= with ? ROWS : (HYPRE_Int)((long)ROWS * rank * (rank + 1) / (with * (with + 1)));
}

static void fill(HYPRE_IJMatrix matrix, HYPRE_Int first, HYPRE_Int end)
{
    for (HYPRE_Int row = first; row < end; row++) {
        HYPRE_BigInt columns[5], where = row;
        HYPRE_Complex values[5];
        HYPRE_Int n = 0;
        const HYPRE_Int x = row % SIDE, y = row / SIDE;
        const HYPRE_Int near[5] = {y > 0 ? row - SIDE : -1, x > 0 ? row - 1 : -1, row,
                                   x < SIDE - 1 ? row + 1 : -1, y < SIDE - 1 ? row + SIDE : -1};
        for (int i = 0; i < 5; i++)
            if (near[i] >= 0) {
                columns[n] = near[i];
                values[n++] = near[i] == row ? 4.0 : -1.0;
            }
        HYPRE_IJMatrixSetValues(matrix, 1, &n, &where, columns, values);
    }
    HYPRE_IJMatrixAssemble(matrix);
}

static HYPRE_IJVector vector(HYPRE_Int first, HYPRE_Int end, double value)
{
    HYPRE_IJVector v;
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, end - 1, &v);
    HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(v);
    for (HYPRE_Int row = first; row < end; row++) {
        HYPRE_BigInt where = row;
        HYPRE_IJVectorSetValues(v, 1, &where, &value);
    }
    HYPRE_IJVectorAssemble(v);
    return v;
}

static void solve(HYPRE_IJMatrix matrix, HYPRE_IJVector right, HYPRE_IJVector found, int rank)
{
    HYPRE_ParCSRMatrix a;
    HYPRE_ParVector b, x;
    HYPRE_Solver solver, amg;
    HYPRE_Int iterations;
    HYPRE_Real square;
    HYPRE_IJMatrixGetObject(matrix, (void **)&a);
    HYPRE_IJVectorGetObject(right, (void **)&b);
    HYPRE_IJVectorGetObject(found, (void **)&x);
    HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
    HYPRE_PCGSetTol(solver, 1e-9);
    HYPRE_PCGSetMaxIter(solver, 100);
    HYPRE_BoomerAMGCreate(&amg);
    HYPRE_BoomerAMGSetMaxIter(amg, 1);
    HYPRE_BoomerAMGSetTol(amg, 0.0);
    HYPRE_BoomerAMGSetPrintLevel(amg, 0);
    HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                        (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
    HYPRE_ParCSRPCGSetup(solver, a, b, x);
    HYPRE_ParCSRPCGSolve(solver, a, b, x);
    HYPRE_PCGGetNumIterations(solver, &iterations);
    HYPRE_ParVectorInnerProd(x, x, &square);
    if (rank == 0) /* to the digits that another order of sums leaves alone */
        printf("%d iterations, square of the solution %.7e\n", (int)iterations, (double)square);
    HYPRE_BoomerAMGDestroy(amg);
    HYPRE_ParCSRPCGDestroy(solver);
}

int main(int argc, char **argv)
{
    int rank, size;
    HYPRE_IJMatrix matrix;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    HYPRE_Init();
    const HYPRE_Int first = first_row(rank, size), end = first_row(rank + 1, size);
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, end - 1, first, end - 1, &matrix);
    HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(matrix);
    fill(matrix, first, end);
    HYPRE_IJVector right = vector(first, end, 1.0), found = vector(first, end, 0.0);
    solve(matrix, right, found, rank);
    HYPRE_IJMatrixDestroy(matrix);
    HYPRE_IJVectorDestroy(right);
    HYPRE_IJVectorDestroy(found);
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
