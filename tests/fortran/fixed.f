C SPDX-License-Identifier: BSD-3-Clause
C Fixed form and mpif.h, as codes of the nineties are; run under the preload library.
      PROGRAM FIXED
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER ME, RANKS, IERR, X(4), Y(4), I
      LOGICAL L, M
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, ME, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, RANKS, IERR)
      DO 10 I = 1, 4
         X(I) = ME + I
   10 CONTINUE
      CALL MPI_ALLREDUCE(X, Y, 4, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, IERR)
      DO 20 I = 1, 4
         IF (Y(I) .NE. RANKS*(RANKS-1)/2 + I*RANKS) STOP 1
   20 CONTINUE
      CALL MPI_ALLREDUCE(MPI_IN_PLACE, X, 4, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, IERR)
      IF (X(4) .NE. Y(4)) STOP 2
      L = ME .EQ. 0
      CALL MPI_ALLREDUCE(L, M, 1, MPI_LOGICAL, MPI_LOR,
     &                   MPI_COMM_WORLD, IERR)
      IF (.NOT. M) STOP 3
      CALL MPI_BARRIER(MPI_COMM_WORLD, IERR)
      CALL MPI_FINALIZE(IERR)
      END
