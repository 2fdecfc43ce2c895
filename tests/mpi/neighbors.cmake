# SPDX-License-Identifier: BSD-3-Clause
# Neighbourhood collectives by our own algorithms, which are right on every topology.
cresta_test_program(neighbors neighbors.c "${check}/graphs.c" "${check}/topology.c")
foreach(ranks IN ITEMS 1 2 3) # algorithms with 5: conformance-algorithms-5
  cresta_mpi_test(NAME neighbors-${ranks} RANKS ${ranks} TIMEOUT 300 ENV CRESTA_FALLBACK=silent
                  COMMAND neighbors "p2p,p2p:linear,shm,hier,os")
endforeach()
cresta_mpi_test(NAME neighbors-thread RANKS 3 TIMEOUT 300
                COMMAND neighbors p2p,shm,os,hier,hier:leaders
                ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent CRESTA_NODES=2x2)
set(ranks 3)
if(CRESTA_MPI_FAMILY STREQUAL "openmpi")
  set(ranks 4)
endif()
cresta_mpi_test(NAME neighbors-stencil RANKS ${ranks} ENV CRESTA_FALLBACK=error
                COMMAND neighbors p2p,shm,hier stencil)
cresta_test_program(near_inside near_inside.c)
cresta_mpi_test(NAME near-inside RANKS 3 COMMAND near_inside
                ENV CRESTA_NODES=2+1 CRESTA_SHM_MEMORY=1 CRESTA_FALLBACK=silent)
cresta_test_program(nearby nearby.c) # for tests/python
cresta_test_program(near_reduce near_reduce.c "${check}/graphs.c" "${check}/topology.c")
foreach(ranks IN ITEMS 1 2 3)
  cresta_mpi_test(NAME near-reduce-${ranks} RANKS ${ranks} TIMEOUT 300
                  COMMAND near_reduce "none,mpi,nonblock,p2p,p2p:linear,shm,hier,os"
                  ENV CRESTA_FALLBACK=silent)
endforeach()
cresta_mpi_test(NAME near-reduce-nodes RANKS 3 TIMEOUT 300
                COMMAND near_reduce hier,hier:leaders
                ENV CRESTA_FALLBACK=silent CRESTA_NODES=2+1)
cresta_mpi_test(NAME near-reduce-thread RANKS 3 TIMEOUT 300
                COMMAND near_reduce p2p,shm,os,hier,hier:leaders
                ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent CRESTA_NODES=2x2)
