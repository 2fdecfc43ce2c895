! SPDX-License-Identifier: BSD-3-Clause
!> For tests/mpi/refused.c: makes the collective call of that name, by this binding. A program has
!> one REFUSED of each binding.
#include "binding.inc"
#if defined(BINDING_F08)
#  define VALUE_OF %MPI_VAL
#else
#  define VALUE_OF
#endif
subroutine REFUSED(coll, length, plainly, sendbuf, sendcount, sendtype, sendcounts, senddispls, &
                   sendtypes, recvbuf, recvcount, recvtype, recvcounts, recvdispls, recvtypes, &
                   ranks, op, root, comm, ierr) bind(c)
    use, intrinsic :: iso_c_binding, only: c_char, c_int
    USE_MPI
    implicit none
    INCLUDE_MPI
    character(kind=c_char) :: coll(*)
    integer(c_int), value :: length, plainly, sendtype, recvtype, ranks, op, comm
    ! Not by value: gfortran 12 with -fsanitize=address gives internal procedures garbage for those.
    integer(c_int) :: sendcount, recvcount, root
    integer(c_int) :: sendbuf(*), sendcounts(*), senddispls(*), sendtypes(*), recvbuf(*), &
        recvcounts(*), recvdispls(*), recvtypes(*), ierr
    HANDLE(MPI_Datatype) :: st, rt, sts(ranks), rts(ranks)
    HANDLE(MPI_Op) :: o
    HANDLE(MPI_Comm) :: c
    character(length) :: name
    integer :: i
    do i = 1, length
        name(i:i) = coll(i)
    end do
    st VALUE_OF = sendtype
    rt VALUE_OF = recvtype
    sts VALUE_OF = sendtypes(1:ranks)
    rts VALUE_OF = recvtypes(1:ranks)
    o VALUE_OF = op
    c VALUE_OF = comm
    if (plainly /= 0) then
        call make_plainly()
    else
        call make()
    end if

contains

    subroutine make_plainly()
        select case (name)
        case ('barrier')
            call PMPI_Barrier(c, ierr)
        case ('bcast')
            call PMPI_Bcast(recvbuf, recvcount, rt, root, c, ierr)
        case ('gather')
            call PMPI_Gather(sendbuf, sendcount, st, recvbuf, recvcount, rt, root, c, ierr)
        case ('gatherv')
            call PMPI_Gatherv(sendbuf, sendcount, st, recvbuf, recvcounts, recvdispls, rt, root, &
                c, ierr)
        case ('scatter')
            call PMPI_Scatter(sendbuf, sendcount, st, recvbuf, recvcount, rt, root, c, ierr)
        case ('scatterv')
            call PMPI_Scatterv(sendbuf, sendcounts, senddispls, st, recvbuf, recvcount, rt, &
                root, c, ierr)
        case ('reduce')
            call PMPI_Reduce(sendbuf, recvbuf, recvcount, rt, o, root, c, ierr)
        case ('allgather')
            call PMPI_Allgather(sendbuf, sendcount, st, recvbuf, recvcount, rt, c, ierr)
        case ('allgatherv')
            call PMPI_Allgatherv(sendbuf, sendcount, st, recvbuf, recvcounts, recvdispls, rt, c, &
                ierr)
        case ('allreduce')
            call PMPI_Allreduce(sendbuf, recvbuf, recvcount, rt, o, c, ierr)
        case ('reduce_scatter')
            call PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, rt, o, c, ierr)
        case ('reduce_scatter_block')
            call PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, rt, o, c, ierr)
        case ('alltoall')
            call PMPI_Alltoall(sendbuf, sendcount, st, recvbuf, recvcount, rt, c, ierr)
        case ('alltoallv')
            call PMPI_Alltoallv(sendbuf, sendcounts, senddispls, st, recvbuf, recvcounts, &
                recvdispls, rt, c, ierr)
        case ('alltoallw')
            call PMPI_Alltoallw(sendbuf, sendcounts, senddispls, sts, recvbuf, recvcounts, &
                recvdispls, rts, c, ierr)
        case ('scan')
            call PMPI_Scan(sendbuf, recvbuf, recvcount, rt, o, c, ierr)
        case ('exscan')
            call PMPI_Exscan(sendbuf, recvbuf, recvcount, rt, o, c, ierr)
        case default
            error stop 'no such call'
        end select
    end subroutine make_plainly

    subroutine make()
        select case (name)
        case ('barrier')
            call MPI_Barrier(c, ierr)
        case ('bcast')
            call MPI_Bcast(recvbuf, recvcount, rt, root, c, ierr)
        case ('gather')
            call MPI_Gather(sendbuf, sendcount, st, recvbuf, recvcount, rt, root, c, ierr)
        case ('gatherv')
            call MPI_Gatherv(sendbuf, sendcount, st, recvbuf, recvcounts, recvdispls, rt, root, &
                c, ierr)
        case ('scatter')
            call MPI_Scatter(sendbuf, sendcount, st, recvbuf, recvcount, rt, root, c, ierr)
        case ('scatterv')
            call MPI_Scatterv(sendbuf, sendcounts, senddispls, st, recvbuf, recvcount, rt, root, &
                c, ierr)
        case ('reduce')
            call MPI_Reduce(sendbuf, recvbuf, recvcount, rt, o, root, c, ierr)
        case ('allgather')
            call MPI_Allgather(sendbuf, sendcount, st, recvbuf, recvcount, rt, c, ierr)
        case ('allgatherv')
            call MPI_Allgatherv(sendbuf, sendcount, st, recvbuf, recvcounts, recvdispls, rt, c, &
                ierr)
        case ('allreduce')
            call MPI_Allreduce(sendbuf, recvbuf, recvcount, rt, o, c, ierr)
        case ('reduce_scatter')
            call MPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, rt, o, c, ierr)
        case ('reduce_scatter_block')
            call MPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, rt, o, c, ierr)
        case ('alltoall')
            call MPI_Alltoall(sendbuf, sendcount, st, recvbuf, recvcount, rt, c, ierr)
        case ('alltoallv')
            call MPI_Alltoallv(sendbuf, sendcounts, senddispls, st, recvbuf, recvcounts, &
                recvdispls, rt, c, ierr)
        case ('alltoallw')
            call MPI_Alltoallw(sendbuf, sendcounts, senddispls, sts, recvbuf, recvcounts, &
                recvdispls, rts, c, ierr)
        case ('scan')
            call MPI_Scan(sendbuf, recvbuf, recvcount, rt, o, c, ierr)
        case ('exscan')
            call MPI_Exscan(sendbuf, recvbuf, recvcount, rt, o, c, ierr)
        case default
            error stop 'no such call'
        end select
    end subroutine make
end subroutine REFUSED

integer(c_intptr_t) function REFUSED_PLACE() bind(c)
    use, intrinsic :: iso_c_binding, only: c_intptr_t
    USE_MPI
    implicit none
    INCLUDE_MPI
    REFUSED_PLACE = loc(MPI_IN_PLACE)
end function REFUSED_PLACE
