! SPDX-License-Identifier: BSD-3-Clause
! coarrays.f90 - all-to-alls of rows and columns by gets from large coarrays in random order, as the
! study has them: CrB, CrN, CsB, CsN. What N means (the gets end with the last sync all, so that the
! computation goes on meanwhile) took Cray's directive `pgas defer_sync`; gfortran has none.
!
! Images are numbered along rows, so that a row is on one host: [place in the row, row].

module psdns_coarrays
    use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int8_t, c_loc, c_ptr, c_size_t
    implicit none
    private

    integer(c_int8_t), allocatable, save :: co_sbuf(:)[:, :], co_rbuf(:)[:, :]
    integer(c_size_t), save :: bytes
    integer, save :: myrow, mycol

    interface
        !> A share of the computation of one all-to-all.
        subroutine work(row, share) bind(c, name='psdns_coarrays_work')
            import :: c_double, c_int
            integer(c_int), value :: row
            real(c_double), value :: share
        end subroutine work
    end interface

contains

    !> Allocates both, with a block of n bytes for each image of a row or a column; on all images.
    !> Not 0 without memory for them. Multiples of 64 bytes: gets from others, whose windows are the
    !> MPI's, give wrong data under MPICH 4.0 otherwise (docs/mpi-defects.md).
    function make(n, blocks, columns, sbuf, rbuf) bind(c, name='psdns_coarrays_allocate') &
            result(stat)
        integer(c_size_t), value :: n
        integer(c_int), value :: blocks, columns
        type(c_ptr), intent(out) :: sbuf, rbuf
        integer(c_int) :: stat
        integer :: here(2)
        integer(c_size_t) :: room
        room = (n * blocks / 64 + 1) * 64
        allocate (co_sbuf(room)[columns, *], co_rbuf(room)[columns, *], stat=stat)
        if (stat /= 0) return
        here = this_image(co_sbuf)
        mycol = here(1)
        myrow = here(2)
        bytes = n
        sbuf = address(co_sbuf)
        rbuf = address(co_rbuf)
    end function make

    !> The last one first: OpenCoarrays 2.10 forgets about the coarray before one that is not the
    !> last, and leaves its window open for ever, which MPI_Finalize of MPICH does not survive.
    subroutine drop() bind(c, name='psdns_coarrays_close')
        integer :: stat
        if (allocated(co_sbuf)) deallocate (co_rbuf, co_sbuf, stat=stat)
    end subroutine drop

    function address(of) result(at)
        integer(c_int8_t), intent(in), target :: of(*)
        type(c_ptr) :: at
        at = c_loc(of)
    end function address

    !> The block that the k-th image of this row (or column) has for this one.
    subroutine get(row, k)
        logical, intent(in) :: row
        integer, intent(in) :: k
        integer(c_size_t) :: i_st, i_en, j_st, j_en
        j_st = 1 + (k - 1) * bytes
        j_en = j_st + bytes - 1
        i_st = 1 + (merge(mycol, myrow, row) - 1) * bytes
        i_en = i_st + bytes - 1
        if (row) then
            co_rbuf(j_st:j_en) = co_sbuf(i_st:i_en)[k, myrow]
        else
            co_rbuf(j_st:j_en) = co_sbuf(i_st:i_en)[mycol, k]
        end if
    end subroutine get

    !> CrN; CrB, which computes after the last sync.
    subroutine random(row, n, order, overlaps) bind(c, name='psdns_coarrays_random')
        integer(c_int), value :: row, n, overlaps
        integer(c_int), intent(in) :: order(n)
        integer :: j
        sync all
        do j = 1, n
            call get(row /= 0, order(j) + 1)
        end do
        if (overlaps /= 0) call work(row, 1.0_c_double)
        sync all
        if (overlaps == 0) call work(row, 1.0_c_double)
    end subroutine random

    !> CsN, with a piece of the computation before each get; CsB, with all pieces after the last
    !> sync.
    subroutine inlined(row, n, order, overlaps) bind(c, name='psdns_coarrays_inlined')
        integer(c_int), value :: row, n, overlaps
        integer(c_int), intent(in) :: order(n)
        integer :: j
        sync all
        do j = 1, n
            if (overlaps /= 0) call work(row, 1.0_c_double / n)
            call get(row /= 0, order(j) + 1)
        end do
        sync all
        do j = 1, n
            if (overlaps == 0) call work(row, 1.0_c_double / n)
        end do
    end subroutine inlined

end module psdns_coarrays
