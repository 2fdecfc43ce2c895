! SPDX-License-Identifier: BSD-3-Clause
! pencils.F90 - who owns which part of the box: the 2-D pencil decomposition.
!
! Process (r, c) of the R x C grid has three views of the box; in each, one direction is complete:
!   x pencil, physical:  u(nx, y part c of C, z part r of R)
!   y pencil, half way:  b(ny, kx part c of C, z part r of R)     x <-> y transpose inside "row"
!   z pencil, spectral:  s(nz, kx part c of C, ky part r of R)    y <-> z transpose inside "col"
module pencils
    use kinds, only: i64, give_up
    use mpi
    use collectives, only: group, blocks, make_group
    implicit none
    private
    public :: pencil_grid, part, make_pencils, wave_number, highest_mode

    !> Indices first..last (from 1) of a direction that is cut into parts.
    type :: part
        integer :: first = 1
        integer :: last = 0
        integer :: n = 0
    end type part

    type :: pencil_grid
        integer :: n(3) = 0             !< grid points in x, y, z
        integer :: mx = 0               !< x modes 0 .. mx-1 that are carried
        type(group) :: row, col
        type(part) :: x, y, z           !< mine: kx (y and z pencils), y (x pencils), z (x and y)
        type(part) :: ky                !< mine: ky (z pencils)
        type(part), allocatable :: x_of(:), y_of(:)      !< of every rank of the row
        type(part), allocatable :: ky_of(:), z_of(:)     !< of every rank of the column
        type(blocks) :: x_to_y, y_to_x, y_to_z, z_to_y
    end type pencil_grid

contains

    !> Set up the decomposition of a grid of n points on procs(1) x procs(2) processes.
    function make_pencils(n, procs) result(g)
        integer, intent(in) :: n(3), procs(2)
        type(pencil_grid) :: g
        integer :: rank, ierror

        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
        g%n = n
        ! A real line of nx points has nx/2+1 modes. For even nx the last one is never carried:
        ! dealiasing would remove it, and without it the blocks of the transposes are equal.
        g%mx = (n(1) + 1)/2
        if (procs(2) > min(g%mx, n(2)) .or. procs(1) > min(n(2), n(3))) call give_up( &
            '--procs: too many processes for this grid: RxC needs R <= NY, R <= NZ, C <= NY ' // &
            'and C <= (NX+1)/2')

        if (product(int(n, i64))/product(procs) > 1000000000_i64) &
            call give_up('--grid: more than 10^9 points per rank; give it more ranks')

        g%row = make_group(rank/procs(2), mod(rank, procs(2)), 'row')
        g%col = make_group(mod(rank, procs(2)), rank/procs(2), 'col')
        g%x_of = cut(g%mx, procs(2))
        g%y_of = cut(n(2), procs(2))
        g%ky_of = cut(n(2), procs(1))
        g%z_of = cut(n(3), procs(1))
        g%x = g%x_of(g%row%rank + 1)
        g%y = g%y_of(g%row%rank + 1)
        g%ky = g%ky_of(g%col%rank + 1)
        g%z = g%z_of(g%col%rank + 1)

        g%x_to_y = make_blocks(g%x_of%n*g%y%n*g%z%n, g%x%n*g%y_of%n*g%z%n)
        g%y_to_x = reverse(g%x_to_y)
        g%y_to_z = make_blocks(g%ky_of%n*g%x%n*g%z%n, g%ky%n*g%x%n*g%z_of%n)
        g%z_to_y = reverse(g%y_to_z)
        ! Equal must mean equal on all ranks of the group, so it is asked of the cuts.
        g%x_to_y%equal = mod(g%mx, procs(2)) == 0 .and. mod(n(2), procs(2)) == 0
        g%y_to_z%equal = mod(n(2), procs(1)) == 0 .and. mod(n(3), procs(1)) == 0
        g%y_to_x%equal = g%x_to_y%equal
        g%z_to_y%equal = g%y_to_z%equal
    end function make_pencils

    !> The signed wave number of index i (from 1) in a direction of n points.
    elemental function wave_number(i, n) result(k)
        integer, intent(in) :: i, n
        integer :: k

        k = merge(i - 1, i - 1 - n, i - 1 <= n/2)
    end function wave_number

    !> The highest wave number that dealiasing keeps: a product of two kept modes folds back to
    !> at least n - 2k, which must be above k (the 2/3 rule).
    elemental function highest_mode(n) result(k)
        integer, intent(in) :: n
        integer :: k

        k = (n - 1)/3
    end function highest_mode

    !> Cut 1..n into parts that differ by at most one; the longer ones come first.
    pure function cut(n, parts) result(p)
        integer, intent(in) :: n, parts
        type(part) :: p(parts)
        integer :: i, next

        next = 1
        do i = 1, parts
            p(i)%n = n/parts + merge(1, 0, i <= mod(n, parts))
            p(i)%first = next
            p(i)%last = next + p(i)%n - 1
            next = next + p(i)%n
        end do
    end function cut

    pure function make_blocks(send_count, recv_count) result(b)
        integer, intent(in) :: send_count(:), recv_count(:)
        type(blocks) :: b
        integer :: i

        allocate (b%send_count, source=send_count)
        allocate (b%recv_count, source=recv_count)
        allocate (b%send_start, source=[(sum(send_count(:i - 1)), i = 1, size(send_count))])
        allocate (b%recv_start, source=[(sum(recv_count(:i - 1)), i = 1, size(recv_count))])
    end function make_blocks

    pure function reverse(b) result(r)
        type(blocks), intent(in) :: b
        type(blocks) :: r

        r = make_blocks(b%recv_count, b%send_count)
    end function reverse

end module pencils
