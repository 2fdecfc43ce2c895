! SPDX-License-Identifier: BSD-3-Clause
! coarray.f90 - the coarrays of the plug-in libcrestacoll-caf.so, and what C does with them
! (src/transport/caf/plugin.h).
!
! Allocatable, so that nothing is registered before MPI_Init: a coarray of fixed size would take MPI
! over when the plug-in is loaded.  It has atomic integers, so that no word is seen half written;
! bytes.f90 moves everything else.  Images count from 1; places are bytes from the start of the
! coarray.

module cco_coarray
    use, intrinsic :: iso_c_binding, only: c_int, c_int8_t, c_int32_t, c_loc, c_null_ptr, c_ptr, &
                                           c_size_t
    use, intrinsic :: iso_fortran_env, only: atomic_int_kind
    implicit none
    private

    integer(c_size_t), parameter :: word = storage_size(0_atomic_int_kind) / 8

    integer(atomic_int_kind), allocatable, target, save :: kept(:)[:]     ! for the whole run
    integer(atomic_int_kind), allocatable, target, save :: passing(:)[:]  ! for one call

    interface
        subroutine cco_coarray_bytes_put(memory, image, at, from, n)
            import :: atomic_int_kind, c_int, c_int8_t, c_size_t
            integer(atomic_int_kind), intent(inout) :: memory(*)[*]
            integer(c_int), intent(in) :: image
            integer(c_size_t), intent(in) :: at, n
            integer(c_int8_t), intent(in) :: from(n)
        end subroutine cco_coarray_bytes_put

        subroutine cco_coarray_bytes_get(memory, image, at, to, n)
            import :: atomic_int_kind, c_int, c_int8_t, c_size_t
            integer(atomic_int_kind), intent(in) :: memory(*)[*]
            integer(c_int), intent(in) :: image
            integer(c_size_t), intent(in) :: at, n
            integer(c_int8_t), intent(out) :: to(n)
        end subroutine cco_coarray_bytes_get
    end interface

contains

    !> Allocates the coarray that is kept; on all images. Where it is here; NULL if there is no
    !> memory for it.
    function cco_coarray_keep(bytes) bind(c) result(at)
        integer(c_size_t), value :: bytes
        type(c_ptr) :: at
        integer :: stat
        at = c_null_ptr
        allocate (kept(bytes / word)[*], stat=stat)
        if (stat == 0) at = c_loc(kept)
    end function cco_coarray_keep

    !> The coarray of a call, which cco_coarray_drop deallocates; on all images.
    function cco_coarray_pass(bytes) bind(c) result(at)
        integer(c_size_t), value :: bytes
        type(c_ptr) :: at
        integer :: stat
        at = c_null_ptr
        allocate (passing(bytes / word)[*], stat=stat)
        if (stat == 0) at = c_loc(passing)
    end function cco_coarray_pass

    subroutine cco_coarray_drop() bind(c)
        integer :: stat
        if (allocated(passing)) deallocate (passing, stat=stat)
    end subroutine cco_coarray_drop

    subroutine cco_coarray_kept_put(image, at, from, n) bind(c)
        integer(c_int), value :: image
        integer(c_size_t), value :: at, n
        integer(c_int8_t), intent(in) :: from(n)
        call cco_coarray_bytes_put(kept, image, at, from, n)
    end subroutine cco_coarray_kept_put

    subroutine cco_coarray_kept_get(image, at, to, n) bind(c)
        integer(c_int), value :: image
        integer(c_size_t), value :: at, n
        integer(c_int8_t), intent(out) :: to(n)
        call cco_coarray_bytes_get(kept, image, at, to, n)
    end subroutine cco_coarray_kept_get

    subroutine cco_coarray_kept_tell(image, at, value) bind(c)
        integer(c_int), value :: image
        integer(c_size_t), value :: at
        integer(c_int32_t), value :: value
        call atomic_define(kept(at / word + 1)[image], int(value, atomic_int_kind))
    end subroutine cco_coarray_kept_tell

    subroutine cco_coarray_passing_put(image, at, from, n) bind(c)
        integer(c_int), value :: image
        integer(c_size_t), value :: at, n
        integer(c_int8_t), intent(in) :: from(n)
        call cco_coarray_bytes_put(passing, image, at, from, n)
    end subroutine cco_coarray_passing_put

    subroutine cco_coarray_passing_get(image, at, to, n) bind(c)
        integer(c_int), value :: image
        integer(c_size_t), value :: at, n
        integer(c_int8_t), intent(out) :: to(n)
        call cco_coarray_bytes_get(passing, image, at, to, n)
    end subroutine cco_coarray_passing_get

    subroutine cco_coarray_passing_tell(image, at, value) bind(c)
        integer(c_int), value :: image
        integer(c_size_t), value :: at
        integer(c_int32_t), value :: value
        call atomic_define(passing(at / word + 1)[image], int(value, atomic_int_kind))
    end subroutine cco_coarray_passing_tell

end module cco_coarray
