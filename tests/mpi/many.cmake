# SPDX-License-Identifier: BSD-3-Clause
# More ranks than take part in one flat call of shm. Most of the time goes into their start, where
# MPICH's hold the cores.
cresta_test_program(many many.c)
if(NOT CRESTA_MPI_FAMILY STREQUAL "mpich")
  cresta_mpi_test(NAME many-66 RANKS 66 ENV CRESTA_FALLBACK=error COMMAND many)
endif()
