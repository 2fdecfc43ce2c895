# SPDX-License-Identifier: BSD-3-Clause
# Sums whose bits do not depend on the implementation, nor on the order of ranks.
cresta_test_program(reproducible reproducible.c)
cresta_plain_program(reproducible_plain reproducible.c)
cresta_mpi_test(NAME reproducible RANKS 3 ENV CRESTA_REPRODUCIBLE=1
                COMMAND reproducible mpi,nonblock,persist,p2p,shm,os)
cresta_mpi_test(NAME reproducible-preload RANKS 2 PRELOAD
                ENV CRESTA_REPRODUCIBLE=1 "CRESTA_IMPL=${rules}"
                COMMAND reproducible_plain mpi,persist,p2p,shm)
if(TARGET crestacoll_caf)
  cresta_mpi_test(NAME reproducible-caf RANKS 2
                  ENV CRESTA_REPRODUCIBLE=1 CRESTA_FALLBACK=error
                  COMMAND reproducible mpi,caf)
endif()
if(CRESTA_MPI_FAMILY STREQUAL "openmpi")
  cresta_mpi_test(NAME reproducible-orders RANKS 4 ENV CRESTA_REPRODUCIBLE=1 TIMEOUT 200
                  COMMAND reproducible mpi,p2p,shm)
  cresta_mpi_test(NAME reproducible-nodes RANKS 5 ENV CRESTA_REPRODUCIBLE=1 CRESTA_NODES=2+3
                  COMMAND reproducible mpi,hier)
endif()
