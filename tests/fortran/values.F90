! SPDX-License-Identifier: BSD-3-Clause
!> What is special about Fortran buffers: MPI_IN_PLACE, MPI_BOTTOM, LOGICAL, scalars, array
!> sections, assumed size. On one communicator after the other that the arguments name, for which
!> CRESTA_IMPL has rules.
#include "binding.inc"
program values
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_intptr_t, c_ptr
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: me, ranks, ierr, i, checks, failures, triangle
    character(16) :: name
    HANDLE(MPI_Comm) :: comm
    integer, volatile, save :: far(300)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    triangle = ranks * (ranks - 1) / 2
    failures = 0
    checks = 0
    do i = 1, command_argument_count()
        call get_command_argument(i, name)
        call everything()
    end do
    call MPI_Finalize(ierr)
    if (me == 0) write (*, '(a,i0,a)') 'values: ', checks, ' checks'
    if (failures > 0 .or. checks == 0) error stop 1

contains

    subroutine everything()
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call MPI_Comm_set_name(comm, trim(name), ierr)
        call in_place()
        call in_place_nonblocking()
#if defined(LINKED)
        call shared_memory()
        call static_windows()
#endif
        call bottom()
        call logicals()
        call scalars_and_kinds()
        call assumed_size([me, 1], 2)
        call sections()
        call reports_errors()
        call MPI_Comm_free(comm, ierr)
    end subroutine everything

    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        checks = checks + 1
        if (good) return
        failures = failures + 1
        write (*, '(a,i0,4a)') 'FAIL rank ', me, ': ', what, ' on ', trim(name)
    end subroutine check

    subroutine in_place()
        integer :: x(0:63), k, root
        x = me
        call MPI_Allreduce(MPI_IN_PLACE, x, 3, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(all(x(0:2) == triangle) .and. x(3) == me, 'allreduce in place')
        do root = 0, ranks - 1
            x = me
            if (me == root) then
                call MPI_Reduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, root, comm IERR)
                call check(x(0) == triangle, 'reduce in place')
            else
                call MPI_Reduce(x, x(1), 1, MPI_INTEGER, MPI_SUM, root, comm IERR)
            end if
            x = -1
            x(root) = root
            if (me == root) then
                call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, x, 1, MPI_INTEGER, root, comm IERR)
                call check(all(x(0:ranks - 1) == [(k, k = 0, ranks - 1)]), 'gather in place')
                call MPI_Scatter(x, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, root, comm IERR)
            else
                call MPI_Gather(me, 1, MPI_INTEGER, x, 1, MPI_INTEGER, root, comm IERR)
                call MPI_Scatter(x, 1, MPI_INTEGER, k, 1, MPI_INTEGER, root, comm IERR)
                call check(k == me, 'scatter in place at the root')
            end if
        end do
        x = -1
        x(me) = me
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, x, 1, MPI_INTEGER, comm IERR)
        call check(all(x(0:ranks - 1) == [(k, k = 0, ranks - 1)]), 'allgather in place')
        x = [(100 * me + k, k = 0, 63)]
        call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, x, 1, MPI_INTEGER, comm IERR)
        call check(all(x(0:ranks - 1) == [(100 * k + me, k = 0, ranks - 1)]), 'alltoall in place')
        x = me
        call MPI_Scan(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(x(0) == me * (me + 1) / 2, 'scan in place')
    end subroutine in_place

#if defined(LINKED)
    !> Memory that the ranks share, as the memory of an array.
    subroutine shared_memory()
        integer, parameter :: n = 20000
        type(c_ptr) :: base
        integer, pointer :: y(:)
        call CRESTA_Alloc_mem(int(n * storage_size(0) / 8, c_intptr_t), comm, base IERR)
        call c_f_pointer(base, y, [n])
        y = me
        call CRESTA_Bcast(y, n, MPI_INTEGER, ranks - 1, comm IERR)
        call check(all(y == ranks - 1), 'bcast in shared memory')
        call CRESTA_Free_mem(y IERR)
    end subroutine shared_memory

    !> Windows that are kept, and calls before, between and after.
    subroutine static_windows()
        integer :: round, y(5), z
        call CRESTA_Win_init(comm IERR)
        do round = 1, 2
            y = me
            call CRESTA_Bcast(y, 5, MPI_INTEGER, ranks - 1, comm IERR)
            call check(all(y == ranks - 1), 'bcast with static windows')
            call CRESTA_Allreduce(me, z, 1, MPI_INTEGER, MPI_SUM, comm IERR)
            call check(z == triangle, 'allreduce with static windows')
            if (round == 1) call CRESTA_Win_finalize(ierr)
        end do
    end subroutine static_windows
#endif

    subroutine in_place_nonblocking()
        integer, asynchronous :: x(0:63)
        integer :: k
        HANDLE(MPI_Request) :: request
        x = me
        call MPI_Iallreduce(MPI_IN_PLACE, x, 3, MPI_INTEGER, MPI_SUM, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(all(x(0:2) == triangle), 'iallreduce in place')
        x = -1
        x(me) = me
        call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INTEGER, x, 1, MPI_INTEGER, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(all(x(0:ranks - 1) == [(k, k = 0, ranks - 1)]), 'iallgather in place')
    end subroutine in_place_nonblocking

    !> Two places of one array, by absolute address.
    subroutine bottom()
        integer(MPI_ADDRESS_KIND) :: at(2)
        integer :: root, both(2 * ranks), k
        HANDLE(MPI_Datatype) :: type
        call MPI_Get_address(far(10), at(1), ierr)
        call MPI_Get_address(far(200), at(2), ierr)
        call MPI_Type_create_hindexed(2, [1, 1], at, MPI_INTEGER, type, ierr)
        call MPI_Type_commit(type, ierr)
        do root = 0, ranks - 1
            far = -1
            if (me == root) far(10) = 7
            if (me == root) far(200) = 8
            call MPI_Bcast(MPI_BOTTOM, 1, type, root, comm IERR)
            call check(far(10) == 7 .and. far(200) == 8 .and. far(11) == -1, 'bcast at MPI_BOTTOM')
        end do
        far(10) = me
        far(200) = -me
        call MPI_Allgather(MPI_BOTTOM, 1, type, both, 2, MPI_INTEGER, comm IERR)
        call check(all(both == [(merge(k / 2, -(k / 2), mod(k, 2) == 0), k = 0, 2 * ranks - 1)]), &
            'allgather at MPI_BOTTOM')
        call MPI_Type_free(type, ierr)
    end subroutine bottom

    subroutine logicals()
        logical :: mine(2), and(2), or(2)
        mine = [me == 0, .true.]
        call MPI_Allreduce(mine, and, 2, MPI_LOGICAL, MPI_LAND, comm IERR)
        call check((and(1) .eqv. ranks == 1) .and. and(2), 'MPI_LAND')
        mine = [me == 0, .false.]
        call MPI_Allreduce(mine, or, 2, MPI_LOGICAL, MPI_LOR, comm IERR)
        call check(or(1) .and. .not. or(2), 'MPI_LOR')
    end subroutine logicals

    subroutine scalars_and_kinds()
        double precision :: x, y
        complex :: z(2)
        character(8) :: text
        x = me + 0.5d0
        call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm IERR)
        call check(y == triangle + 0.5d0 * ranks, 'double precision scalar')
        z = cmplx(me, -me)
        call MPI_Allreduce(MPI_IN_PLACE, z, 2, MPI_COMPLEX, MPI_SUM, comm IERR)
        call check(all(z == cmplx(triangle, -triangle)), 'complex')
        text = merge('crestall', '        ', me == ranks - 1)
        call MPI_Bcast(text, 8, MPI_CHARACTER, ranks - 1, comm IERR)
        call check(text == 'crestall', 'character')
    end subroutine scalars_and_kinds

    subroutine assumed_size(given, n)
        integer, intent(in) :: n
        integer, intent(in) :: given(*)
        integer :: sums(n)
        call MPI_Allreduce(given, sums, n, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(sums(1) == triangle .and. sums(2) == ranks, 'assumed size')
        call hand_on(sums, n)
    end subroutine assumed_size

    subroutine hand_on(x, n)
        integer, intent(in) :: n
        integer, intent(inout) :: x(*)
        x(1) = merge(5, -1, me == 0)
        call MPI_Bcast(x, n, MPI_INTEGER, 0, comm IERR)
        call check(x(1) == 5, 'assumed size received')
    end subroutine hand_on

    !> Every second element, and a row of a matrix: sent and received, what lies between untouched.
    subroutine sections()
#if defined(BINDING_F08) || defined(LINKED)
        integer :: x(20), m(4, 6)
        integer, asynchronous :: y(20)
        HANDLE(MPI_Request) :: request
        x = me
        call MPI_Allreduce(MPI_IN_PLACE, x(1:20:2), 10, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(all(x(1:20:2) == triangle) .and. all(x(2:20:2) == me), 'section in place')
        m = me
        call MPI_Allreduce(m(2, :), m(3, :), 6, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(all(m(3, :) == triangle) .and. all(m(1:2, :) == me) .and. all(m(4, :) == me), &
            'rows')
        m = merge(9, me, me == 0)
        call MPI_Bcast(m(2:3, 1:6:2), 6, MPI_INTEGER, 0, comm IERR)
        call check(all(m(2:3, 1:6:2) == 9) .and. all(m(1, :) == merge(9, me, me == 0)), &
            'section of a matrix')
        x = -1
        call MPI_Bcast(x(20:1:-1), 20, MPI_INTEGER, 0, comm IERR)
        call check(all(x == -1), 'reversed')
        x = me
        call MPI_Allreduce(x(20:11:-1), y(1:10), 10, MPI_INTEGER, MPI_SUM, comm IERR)
        call check(all(y(1:10) == triangle), 'negative stride')
#if defined(LINKED) || !defined(OPENMPI4)
        y = merge(3, -1, me == 0)
        call MPI_Ibcast(y(1:20:2), 10, MPI_INTEGER, 0, comm, request IERR)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        call check(all(y(1:20:2) == 3) .and. all(y(2:20:2) == merge(3, -1, me == 0)), &
            'section in flight')
#endif
#endif
    end subroutine sections

    !> ierror is set, and an error comes back in it.
    subroutine reports_errors()
        integer :: x(2), y(2), code
        x = 1
        code = -77
        call MPI_Allreduce(x, y, 2, MPI_INTEGER, MPI_SUM, comm, code)
        call check(code == MPI_SUCCESS, 'ierror of a good call')
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
        call MPI_Bcast(x, 2, MPI_INTEGER, 99, comm, code)
        call check(code /= MPI_SUCCESS, 'ierror of a wrong root')
    end subroutine reports_errors
end program values
