! SPDX-License-Identifier: BSD-3-Clause
!> Cells with data of type REAL.
#define VALUE_TYPE real
#define ONE 1.0
#define MPI_VALUE MPI_REAL
#define TYPE_NAME 'REAL'
module check_real
#include "typed.inc"
end module check_real
