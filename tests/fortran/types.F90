! SPDX-License-Identifier: BSD-3-Clause
!> Non-blocking alltoallw that is under way when it returns: rank 0 calls it when all others have.
!> The MPI may read the array of types until the end; run with MALLOC_PERTURB_, so that what is
!> freed too early is no type any more.
#include "binding.inc"
program types_kept
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer, parameter :: most = 16, rounds = 3
    integer, asynchronous :: from(most), to(most)
    integer :: me, ranks, ierr, k, round, word
    integer :: ones(most), bytes(most)
    HANDLE(MPI_Datatype) :: element, types(most)
    HANDLE(MPI_Request) :: request

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Type_contiguous(1, MPI_INTEGER, element, ierr) ! of a predefined one nothing is kept
    call MPI_Type_commit(element, ierr)
    types = element
    ones = 1
    bytes = [(4 * (k - 1), k = 1, most)]
    do round = 1, rounds
        from = [(100 * me + k, k = 1, most)]
        to = -1
        word = me
        do k = 1, merge(ranks - 1, 0, me == 0)
            call MPI_Recv(word, 1, MPI_INTEGER, k, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        end do
        call MPI_Ialltoallw(from, ones, bytes, types, to, ones, bytes, types, MPI_COMM_WORLD, &
            request IERR)
        if (me > 0) call MPI_Send(word, 1, MPI_INTEGER, 0, round, MPI_COMM_WORLD, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        if (any(to(:ranks) /= [(100 * k + me + 1, k = 0, ranks - 1)])) error stop 1
    end do
    call MPI_Type_free(element, ierr)
    call MPI_Finalize(ierr)
end program types_kept
