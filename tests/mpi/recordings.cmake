# SPDX-License-Identifier: BSD-3-Clause
# Recordings and their replays: sequences at random, and what must be refused. The MPI's own calls,
# with which they are compared, hold the cores while they wait under MPICH: few of many ranks there.
cresta_test_program(recordings recordings.c)
set(many 4)
set(most p2p,shm,hier)
if(CRESTA_MPI_FAMILY STREQUAL "mpich")
  set(many 1)
  set(most p2p)
endif()
foreach(ranks IN ITEMS 1 2)
  cresta_mpi_test(NAME recordings-${ranks} RANKS ${ranks} ENV CRESTA_FALLBACK=silent
                  COMMAND recordings p2p,shm,hier,mpi,nonblock 12 ${ranks}00)
endforeach()
cresta_mpi_test(NAME recordings-3 RANKS 3 ENV CRESTA_FALLBACK=silent
                COMMAND recordings p2p,shm,hier ${many} 300)
foreach(ranks IN ITEMS 5 8)
  cresta_mpi_test(NAME recordings-${ranks} RANKS ${ranks} ENV CRESTA_FALLBACK=silent
                  COMMAND recordings ${most} ${many} ${ranks}00)
endforeach()
foreach(nodes IN ITEMS 2+1 0,1,0)
  string(REPLACE "," "-" name "${nodes}")
  cresta_mpi_test(NAME recordings-nodes-${name} RANKS 3
                  ENV "CRESTA_NODES=${nodes}" CRESTA_FALLBACK=silent
                  COMMAND recordings hier,hier:leaders ${many})
endforeach()
cresta_mpi_test(NAME recordings-thread RANKS 2 ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                COMMAND recordings p2p,shm 8 50)
cresta_mpi_test(NAME recordings-delayed RANKS 2
                ENV CRESTA_DEBUG=check,delay=7 CRESTA_FALLBACK=silent
                COMMAND recordings p2p,shm 8 70)
cresta_test_program(recordings_refused recordings_refused.c)
cresta_mpi_test(NAME recordings-refused RANKS 2 ENV CRESTA_FALLBACK=silent
                COMMAND recordings_refused p2p,shm,mpi)
cresta_mpi_test(NAME recordings-fails RANKS 2
                ENV CRESTA_DEBUG=fail=1 CRESTA_FALLBACK=silent
                COMMAND recordings_refused p2p,shm fails)
