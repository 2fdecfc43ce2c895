# SPDX-License-Identifier: BSD-3-Clause
# Begun calls that the progress thread moves, or nobody: messages, and shared memory.
cresta_test_program(async ${call} begun.c async.c)
foreach(ranks IN ITEMS 2 3)
  cresta_mpi_test(NAME async-${ranks} RANKS ${ranks} TIMEOUT 400 BESIDE ENV CRESTA_ASYNC=thread
                  COMMAND async ${models_list} -1 thread)
endforeach()
cresta_mpi_test(NAME async-binomial RANKS 4 ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                COMMAND async p2p:binomial 0 thread)
cresta_mpi_test(NAME async-ring RANKS 3 ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                COMMAND async p2p:ring 1 thread)
cresta_mpi_test(NAME async-alone RANKS 1 ENV CRESTA_ASYNC=thread COMMAND async p2p -1 thread)
cresta_mpi_test(NAME async-past RANKS 2 ENV CRESTA_ASYNC=thread COMMAND async p2p -1 thread past)
cresta_test_program(past past.c)
cresta_preloaded(slow)
foreach(way IN ITEMS coll wait test)
  foreach(impl IN ITEMS p2p nonblock)
    cresta_mpi_test(NAME past-${impl}-${way} RANKS 2
                    ENV CRESTA_ASYNC=thread "CRESTA_IMPL=*=${impl}"
                    "LD_PRELOAD=$<TARGET_FILE:slow>"
                    COMMAND past ${way})
  endforeach()
endforeach()
# Through shared memory: at every thread level, with several calls in line for one stream set. It is
# the same under every MPI; with MPICH, whose ranks hold the cores while they wait, many take long.
set(memory "shm,os,os?via=get")
set(most 5)
if(CRESTA_MPI_FAMILY STREQUAL "mpich")
  set(most 3)
endif()
foreach(ranks RANGE 2 ${most})
  cresta_mpi_test(NAME async-memory-${ranks} RANKS ${ranks} TIMEOUT 400 BESIDE
                  ENV CRESTA_FALLBACK=error
                  COMMAND async ${memory} -1 memory)
endforeach()
foreach(level RANGE 0 2)         # MPI_THREAD_SINGLE to SERIALIZED, in both MPIs
  cresta_mpi_test(NAME async-memory-level-${level} RANKS 2 TIMEOUT 400 BESIDE
                  ENV CRESTA_FALLBACK=error
                  COMMAND async ${memory} ${level} memory)
endforeach()
cresta_mpi_test(NAME async-memory-multiple RANKS 3 TIMEOUT 400 BESIDE
                ENV CRESTA_FALLBACK=error
                COMMAND async ${memory} 3 thread)
cresta_mpi_test(NAME async-memory-off RANKS 3 TIMEOUT 400 BESIDE
                ENV CRESTA_ASYNC=off CRESTA_FALLBACK=silent COMMAND async ${memory} -1 none)
cresta_mpi_test(NAME async-memory-ring RANKS 3 ENV CRESTA_FALLBACK=silent
                COMMAND async "shm:ring,shm?copy=single" 0 memory)
# Where MPI_Wait is another, nobody would complete what the progress thread must not.
cresta_preloaded(tool)
cresta_mpi_test(NAME async-memory-tool RANKS 2
                ENV "LD_PRELOAD=$<TARGET_FILE:tool>" CRESTA_FALLBACK=silent
                COMMAND async shm -1 none)
cresta_preloaded(late_calls) # for test_library_online.py
cresta_mpi_test(NAME async-auto RANKS 2 COMMAND async p2p 3 thread)
cresta_mpi_test(NAME async-auto-single RANKS 2 COMMAND async p2p 1 none)
cresta_mpi_test(NAME async-auto-init RANKS 2 COMMAND async p2p -1 none)
cresta_mpi_test(NAME async-off RANKS 2 ENV CRESTA_ASYNC=off COMMAND async p2p 3 none)
