# SPDX-License-Identifier: BSD-3-Clause
# Recordings and their replays: sequences by chance, and what must be refused.
cresta_test_program(recordings recordings.c)
foreach(ranks IN ITEMS 1 2 3 5 8)
  set(impls p2p,shm,hier,mpi,nonblock)
  set(number 12)
  if(ranks GREATER 2)
    set(impls p2p,shm,hier) # the MPI's own calls hold the cores while they wait
    set(number 4)
  endif()
  cresta_mpi_test(NAME recordings-${ranks} RANKS ${ranks} ENV CRESTA_FALLBACK=silent
                  COMMAND recordings ${impls} ${number} ${ranks}00)
endforeach()
foreach(nodes IN ITEMS 2+1 0,1,0)
  string(REPLACE "," "-" name "${nodes}")
  cresta_mpi_test(NAME recordings-nodes-${name} RANKS 3
                  ENV "CRESTA_NODES=${nodes}" CRESTA_FALLBACK=silent
                  COMMAND recordings hier,hier:leaders 8)
endforeach()
cresta_mpi_test(NAME recordings-thread RANKS 2 ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                COMMAND recordings p2p,shm 8 50)
cresta_mpi_test(NAME recordings-delayed RANKS 3
                ENV CRESTA_DEBUG=check,delay=7 CRESTA_FALLBACK=silent
                COMMAND recordings p2p,shm 8 70)
cresta_test_program(recordings_refused recordings_refused.c)
cresta_mpi_test(NAME recordings-refused RANKS 2 ENV CRESTA_FALLBACK=silent
                COMMAND recordings_refused p2p,shm,mpi)
