# SPDX-License-Identifier: BSD-3-Clause
# More ranks than take part in one flat call of shm. Most of the time goes into their start.
cresta_test_program(many many.c)
cresta_mpi_test(NAME many-66 RANKS 66 ENV CRESTA_FALLBACK=error COMMAND many)
