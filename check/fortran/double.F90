! SPDX-License-Identifier: BSD-3-Clause
!> Cells with data of type DOUBLE PRECISION.
#define VALUE_TYPE double precision
#define ONE 1.0d0
#define MPI_VALUE MPI_DOUBLE_PRECISION
#define TYPE_NAME 'DOUBLE PRECISION'
module check_double
#include "typed.inc"
end module check_double
