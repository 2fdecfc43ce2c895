! SPDX-License-Identifier: BSD-3-Clause
!> Cells with data of type INTEGER.
#define VALUE_TYPE integer
#define ONE 1
#define MPI_VALUE MPI_INTEGER
#define TYPE_NAME 'INTEGER'
module check_integer
#include "typed.inc"
end module check_integer
