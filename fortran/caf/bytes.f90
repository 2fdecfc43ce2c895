! SPDX-License-Identifier: BSD-3-Clause
! bytes.f90 - parts of a coarray as bytes, for messages of any length.
!
! The coarray consists of atomic integers (coarray.f90), and the interfaces there say so; here the
! same memory is bytes.  Fortran has no conforming way to see a coarray as another type.  A file of
! its own, not optimised together with the other, makes it what storage association always was: an
! address, and the coarray's token.
!
! The sections are contiguous on both sides, of one kind, without overlap: OpenCoarrays makes one
! MPI_Put or MPI_Get of each, and no temporary.

subroutine cco_coarray_bytes_put(memory, image, at, from, n)
    use, intrinsic :: iso_c_binding, only: c_int, c_int8_t, c_size_t
    implicit none
    integer(c_int8_t), intent(inout) :: memory(*)[*]
    integer(c_int), intent(in) :: image
    integer(c_size_t), intent(in) :: at, n
    integer(c_int8_t), intent(in) :: from(n)
    memory(at + 1:at + n)[image] = from
end subroutine cco_coarray_bytes_put

subroutine cco_coarray_bytes_get(memory, image, at, to, n)
    use, intrinsic :: iso_c_binding, only: c_int, c_int8_t, c_size_t
    implicit none
    integer(c_int8_t), intent(in) :: memory(*)[*]
    integer(c_int), intent(in) :: image
    integer(c_size_t), intent(in) :: at, n
    integer(c_int8_t), intent(out) :: to(n)
    to = memory(at + 1:at + n)[image]
end subroutine cco_coarray_bytes_get
