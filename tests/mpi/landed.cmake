# SPDX-License-Identifier: BSD-3-Clause
# Streaming completion, over messages, memory and both, with and without a progress thread.
cresta_test_program(landed landed.c "${check}/graphs.c" "${check}/topology.c")
set(landed_impls "mpi,p2p,p2p:linear,p2p:pairwise,p2p:bruck,shm,shm?copy=single,os,hier")
foreach(ranks IN ITEMS 1 2 3)
  cresta_mpi_test(NAME landed-${ranks} RANKS ${ranks} TIMEOUT 300
                  ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                  COMMAND landed ${landed_impls})
endforeach()
cresta_mpi_test(NAME landed-delayed RANKS 3 TIMEOUT 300
                ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent CRESTA_DEBUG=check,delay=9
                COMMAND landed p2p,shm)
cresta_mpi_test(NAME landed-nodes RANKS 3 TIMEOUT 300
                ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent CRESTA_NODES=1+2
                COMMAND landed hier,hier:leaders)
cresta_mpi_test(NAME landed-off RANKS 2 TIMEOUT 300
                ENV CRESTA_ASYNC=off CRESTA_FALLBACK=silent COMMAND landed mpi,shm)
cresta_mpi_test(NAME landed-memory RANKS 2 TIMEOUT 300 ENV CRESTA_FALLBACK=silent
                COMMAND landed shm)
cresta_mpi_test(NAME landed-early RANKS 3 TIMEOUT 300
                ENV CRESTA_ASYNC=thread COMMAND landed --early p2p:linear,shm:linear,hier:linear)
cresta_test_program(landed_fails landed_fails.c)
cresta_mpi_test(NAME landed-fails RANKS 2 COMMAND landed_fails)

# Sends to lists of ranks: nothing of them depends on rules, but begins may be under way.
cresta_test_program(multisend multisend.c "${check}/graphs.c" "${check}/topology.c")
foreach(ranks IN ITEMS 1 2 3)
  cresta_mpi_test(NAME multisend-${ranks} RANKS ${ranks} TIMEOUT 300 COMMAND multisend)
endforeach()
cresta_test_program(multisend_ends multisend_ends.c)
cresta_mpi_test(NAME multisend-ends RANKS 3 COMMAND multisend_ends)
cresta_test_program(exchange_asks exchange_asks.c)
cresta_mpi_test(NAME exchange-asks RANKS 2 COMMAND exchange_asks)
cresta_test_program(exchanges exchanges.c)
cresta_mpi_test(NAME exchanges-1 RANKS 1 TIMEOUT 300 COMMAND exchanges)
cresta_mpi_test(NAME exchanges-3 RANKS 3 TIMEOUT 300 COMMAND exchanges)
cresta_mpi_test(NAME exchanges-multiple RANKS 3 TIMEOUT 300 COMMAND exchanges multiple)
cresta_mpi_test(NAME exchanges-thread RANKS 2 TIMEOUT 300 ENV CRESTA_ASYNC=thread
                COMMAND exchanges multiple)
