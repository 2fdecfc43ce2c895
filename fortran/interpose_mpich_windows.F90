! SPDX-License-Identifier: BSD-3-Clause
! interpose_mpich_windows.F90 - the accumulates of MPICH's mpi_f08, which reach its C layer below
! the MPI_ names, with descriptors that only the compiler can turn into those of C.  Arguments are
! named as in entries_windows.c: o origin, s result, c compare, n counts, t types, r the rank, d the
! displacement, w the window, q the request, e the error.
subroutine mpi_accumulate_f08ts(o, on, ot, r, d, n, t, op, w, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t
    implicit none
    type(*), dimension(..), intent(in) :: o
    integer, intent(in) :: on, n
    integer, intent(in) :: ot, r, t, op, w
    integer(c_intptr_t), intent(in) :: d
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, on, ot, r, d, n, t, op, w, e) bind(c, &
            name='cresta_section_accumulate')
            import :: c_intptr_t
            implicit none
            type(*), dimension(..), intent(in) :: o
            integer, intent(in) :: on, n
            integer, intent(in) :: ot, r, t, op, w
            integer(c_intptr_t), intent(in) :: d
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, on, ot, r, d, n, t, op, w, e)
end subroutine mpi_accumulate_f08ts

subroutine mpi_raccumulate_f08ts(o, on, ot, r, d, n, t, op, w, q, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t
    implicit none
    type(*), dimension(..), intent(in) :: o
    integer, intent(in) :: on, n
    integer, intent(in) :: ot, r, t, op, w
    integer(c_intptr_t), intent(in) :: d
    integer, intent(out) :: q
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, on, ot, r, d, n, t, op, w, q, e) bind(c, &
            name='cresta_section_raccumulate')
            import :: c_intptr_t
            implicit none
            type(*), dimension(..), intent(in) :: o
            integer, intent(in) :: on, n
            integer, intent(in) :: ot, r, t, op, w
            integer(c_intptr_t), intent(in) :: d
            integer, intent(out) :: q
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, on, ot, r, d, n, t, op, w, q, e)
end subroutine mpi_raccumulate_f08ts

subroutine mpi_get_accumulate_f08ts(o, on, ot, s, sn, st, r, d, n, t, op, w, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t
    implicit none
    type(*), dimension(..), intent(in) :: o
    type(*), dimension(..) :: s
    integer, intent(in) :: on, sn, n
    integer, intent(in) :: ot, st, r, t, op, w
    integer(c_intptr_t), intent(in) :: d
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, on, ot, s, sn, st, r, d, n, t, op, w, e) bind(c, &
            name='cresta_section_get_accumulate')
            import :: c_intptr_t
            implicit none
            type(*), dimension(..), intent(in) :: o
            type(*), dimension(..) :: s
            integer, intent(in) :: on, sn, n
            integer, intent(in) :: ot, st, r, t, op, w
            integer(c_intptr_t), intent(in) :: d
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, on, ot, s, sn, st, r, d, n, t, op, w, e)
end subroutine mpi_get_accumulate_f08ts

subroutine mpi_rget_accumulate_f08ts(o, on, ot, s, sn, st, r, d, n, t, op, w, q, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t
    implicit none
    type(*), dimension(..), intent(in) :: o
    type(*), dimension(..) :: s
    integer, intent(in) :: on, sn, n
    integer, intent(in) :: ot, st, r, t, op, w
    integer(c_intptr_t), intent(in) :: d
    integer, intent(out) :: q
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, on, ot, s, sn, st, r, d, n, t, op, w, q, e) bind(c, &
            name='cresta_section_rget_accumulate')
            import :: c_intptr_t
            implicit none
            type(*), dimension(..), intent(in) :: o
            type(*), dimension(..) :: s
            integer, intent(in) :: on, sn, n
            integer, intent(in) :: ot, st, r, t, op, w
            integer(c_intptr_t), intent(in) :: d
            integer, intent(out) :: q
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, on, ot, s, sn, st, r, d, n, t, op, w, q, e)
end subroutine mpi_rget_accumulate_f08ts

subroutine mpi_fetch_and_op_f08ts(o, s, t, r, d, op, w, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t
    implicit none
    type(*), dimension(..), intent(in) :: o
    type(*), dimension(..) :: s
    integer, intent(in) :: t, r, op, w
    integer(c_intptr_t), intent(in) :: d
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, s, t, r, d, op, w, e) bind(c, &
            name='cresta_section_fetch_and_op')
            import :: c_intptr_t
            implicit none
            type(*), dimension(..), intent(in) :: o
            type(*), dimension(..) :: s
            integer, intent(in) :: t, r, op, w
            integer(c_intptr_t), intent(in) :: d
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, s, t, r, d, op, w, e)
end subroutine mpi_fetch_and_op_f08ts

subroutine mpi_compare_and_swap_f08ts(o, c, s, t, r, d, w, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t
    implicit none
    type(*), dimension(..), intent(in) :: o, c
    type(*), dimension(..) :: s
    integer, intent(in) :: t, r, w
    integer(c_intptr_t), intent(in) :: d
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, c, s, t, r, d, w, e) bind(c, &
            name='cresta_section_compare_and_swap')
            import :: c_intptr_t
            implicit none
            type(*), dimension(..), intent(in) :: o, c
            type(*), dimension(..) :: s
            integer, intent(in) :: t, r, w
            integer(c_intptr_t), intent(in) :: d
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, c, s, t, r, d, w, e)
end subroutine mpi_compare_and_swap_f08ts

#if defined(CRESTA_HAVE_LARGE_COUNT)
subroutine mpi_accumulate_f08ts_large(o, on, ot, r, d, n, t, op, w, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t, c_count => c_int64_t
    implicit none
    type(*), dimension(..), intent(in) :: o
    integer(c_count), intent(in) :: on, n
    integer, intent(in) :: ot, r, t, op, w
    integer(c_intptr_t), intent(in) :: d
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, on, ot, r, d, n, t, op, w, e) bind(c, &
            name='cresta_section_accumulate_large')
            import :: c_intptr_t, c_count
            implicit none
            type(*), dimension(..), intent(in) :: o
            integer(c_count), intent(in) :: on, n
            integer, intent(in) :: ot, r, t, op, w
            integer(c_intptr_t), intent(in) :: d
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, on, ot, r, d, n, t, op, w, e)
end subroutine mpi_accumulate_f08ts_large

subroutine mpi_raccumulate_f08ts_large(o, on, ot, r, d, n, t, op, w, q, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t, c_count => c_int64_t
    implicit none
    type(*), dimension(..), intent(in) :: o
    integer(c_count), intent(in) :: on, n
    integer, intent(in) :: ot, r, t, op, w
    integer(c_intptr_t), intent(in) :: d
    integer, intent(out) :: q
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, on, ot, r, d, n, t, op, w, q, e) bind(c, &
            name='cresta_section_raccumulate_large')
            import :: c_intptr_t, c_count
            implicit none
            type(*), dimension(..), intent(in) :: o
            integer(c_count), intent(in) :: on, n
            integer, intent(in) :: ot, r, t, op, w
            integer(c_intptr_t), intent(in) :: d
            integer, intent(out) :: q
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, on, ot, r, d, n, t, op, w, q, e)
end subroutine mpi_raccumulate_f08ts_large

subroutine mpi_get_accumulate_f08ts_large(o, on, ot, s, sn, st, r, d, n, t, op, w, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t, c_count => c_int64_t
    implicit none
    type(*), dimension(..), intent(in) :: o
    type(*), dimension(..) :: s
    integer(c_count), intent(in) :: on, sn, n
    integer, intent(in) :: ot, st, r, t, op, w
    integer(c_intptr_t), intent(in) :: d
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, on, ot, s, sn, st, r, d, n, t, op, w, e) bind(c, &
            name='cresta_section_get_accumulate_large')
            import :: c_intptr_t, c_count
            implicit none
            type(*), dimension(..), intent(in) :: o
            type(*), dimension(..) :: s
            integer(c_count), intent(in) :: on, sn, n
            integer, intent(in) :: ot, st, r, t, op, w
            integer(c_intptr_t), intent(in) :: d
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, on, ot, s, sn, st, r, d, n, t, op, w, e)
end subroutine mpi_get_accumulate_f08ts_large

subroutine mpi_rget_accumulate_f08ts_large(o, on, ot, s, sn, st, r, d, n, t, op, w, q, e)
    use, intrinsic :: iso_c_binding, only: c_intptr_t, c_count => c_int64_t
    implicit none
    type(*), dimension(..), intent(in) :: o
    type(*), dimension(..) :: s
    integer(c_count), intent(in) :: on, sn, n
    integer, intent(in) :: ot, st, r, t, op, w
    integer(c_intptr_t), intent(in) :: d
    integer, intent(out) :: q
    integer, optional, intent(out) :: e
    interface
        subroutine entry(o, on, ot, s, sn, st, r, d, n, t, op, w, q, e) bind(c, &
            name='cresta_section_rget_accumulate_large')
            import :: c_intptr_t, c_count
            implicit none
            type(*), dimension(..), intent(in) :: o
            type(*), dimension(..) :: s
            integer(c_count), intent(in) :: on, sn, n
            integer, intent(in) :: ot, st, r, t, op, w
            integer(c_intptr_t), intent(in) :: d
            integer, intent(out) :: q
            integer, optional, intent(out) :: e
        end subroutine entry
    end interface
    call entry(o, on, ot, s, sn, st, r, d, n, t, op, w, q, e)
end subroutine mpi_rget_accumulate_f08ts_large
#endif
