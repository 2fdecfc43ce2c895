/* SPDX-License-Identifier: BSD-3-Clause */
/* poisson.c - Poisson's equation on a grid by PETSc, in plain MPI: its ghost points are exchanged
 * by neighbourhood collectives if its option says so (-sf_type neighbor).
 *
 *     poisson [options of PETSc]     prints the error of the solution, and how often it iterated */
#include <petscdmda.h>
#include <petscksp.h>

enum { COLUMNS = 24, ROWS = 19 };

static PetscErrorCode fill(DM grid, Mat matrix)
{
    PetscInt x, y, columns, rows;
    PetscFunctionBeginUser;
    PetscCall(DMDAGetCorners(grid, &x, &y, NULL, &columns, &rows, NULL));
    for (PetscInt j = y; j < y + rows; j++)
        for (PetscInt i = x; i < x + columns; i++) {
            const MatStencil row = {.i = i, .j = j};
            MatStencil with[5] = {row};
            PetscScalar values[5] = {4};
            PetscInt n = 1;
            for (int side = 0; side < 4; side++) {
                MatStencil to = row;
                to.i += side == 0 ? -1 : side == 1;
                to.j += side == 2 ? -1 : side == 3;
                if (to.i < 0 || to.i >= COLUMNS || to.j < 0 || to.j >= ROWS)
                    continue;
                with[n] = to;
                values[n++] = -1;
            }
            PetscCall(MatSetValuesStencil(matrix, 1, &row, n, with, values, INSERT_VALUES));
        }
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(DM grid, Mat matrix)
{
    Vec exact, right, found;
    KSP solver;
    PetscReal error;
    PetscInt iterations;
    PetscFunctionBeginUser;
    PetscCall(DMCreateGlobalVector(grid, &exact));
    PetscCall(VecDuplicate(exact, &right));
    PetscCall(VecDuplicate(exact, &found));
    PetscCall(VecSet(exact, 1));
    PetscCall(MatMult(matrix, exact, right));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetOperators(solver, matrix, matrix));
    PetscCall(KSPSetFromOptions(solver));
    PetscCall(KSPSolve(solver, right, found));
    PetscCall(KSPGetIterationNumber(solver, &iterations));
    PetscCall(VecAXPY(found, -1, exact));
    PetscCall(VecNorm(found, NORM_2, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error %.12e after %d iterations\n", (double)error,
                          (int)iterations));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&exact));
    PetscCall(VecDestroy(&right));
    PetscCall(VecDestroy(&found));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    DM grid;
    Mat matrix;
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                           COLUMNS, ROWS, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &grid));
    PetscCall(DMSetUp(grid));
    PetscCall(DMCreateMatrix(grid, &matrix));
    PetscCall(fill(grid, matrix));
    PetscCall(solve(grid, matrix));
    PetscCall(MatDestroy(&matrix));
    PetscCall(DMDestroy(&grid));
    PetscCall(PetscFinalize());
    return 0;
}
