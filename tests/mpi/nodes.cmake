# SPDX-License-Identifier: BSD-3-Clause
# The ranks of this machine as those of several nodes (CRESTA_NODES): even, uneven, interleaved.

foreach(nodes IN ITEMS 2x2 1+3 0,1,0,1)
  string(REPLACE "," "-" name "${nodes}")
  cresta_mpi_test(NAME conformance-nodes-${name} RANKS 4 TIMEOUT 400 ENV "CRESTA_NODES=${nodes}"
                  COMMAND crestacoll-check --all --seconds 0.01 --impl hier
                          --timeout ${patience})
endforeach()

# Begun calls, over memory and messages. With MPICH fewer ranks: they hold the cores.
cresta_mpi_test(NAME conformance-nodes-begun RANKS 3 TIMEOUT 240
                ENV CRESTA_NODES=2+1 CRESTA_ASYNC=thread CRESTA_FALLBACK=error
                COMMAND conformance hier,hier:leaders --mode ${split_modes} --sparse 31)
set(shapes 2+1 0,1,0)
if(NOT CRESTA_MPI_FAMILY STREQUAL "mpich")
  list(APPEND shapes 2x2 0,1,1,0 3+2)
endif()
foreach(nodes IN LISTS shapes)
  string(REPLACE "," "-" name "${nodes}")
  set(ranks 3)
  if(nodes MATCHES "2x2|0,1,1,0")
    set(ranks 4)
  elseif(nodes STREQUAL "3+2")
    set(ranks 5)
  endif()
  cresta_mpi_test(NAME split-stress-nodes-${name} RANKS ${ranks} TIMEOUT 90
                  ENV "CRESTA_NODES=${nodes}" CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                  COMMAND split_stress --seconds 0.5 --seed 2${ranks} --hier yes)
endforeach()
cresta_mpi_test(NAME split-stress-nodes-delayed RANKS 3 TIMEOUT 90
                ENV CRESTA_NODES=2+1 CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                    CRESTA_DEBUG=check,delay=7
                COMMAND split_stress --seconds 0.5 --seed 27 --hier yes)
cresta_mpi_test(NAME async-nodes RANKS 3 TIMEOUT 400 BESIDE
                ENV CRESTA_NODES=2+1 CRESTA_ASYNC=thread CRESTA_FALLBACK=error
                COMMAND async hier -1 thread)
cresta_mpi_test(NAME conformance-preload-nodes RANKS 3 TIMEOUT 120 PRELOAD
                ENV "CRESTA_IMPL=*=hier" CRESTA_NODES=2+1 CRESTA_ASYNC=thread
                COMMAND conformance_plain hier --mode nonblocking --sparse 13)

# Model os, which has a window on each node, and messages between: under imposed nodes of any shape,
# with windows that are kept, small, and made for each call; ranks alone on a node have none.
set(ways "os" "os?via=get")
if(NOT CRESTA_MPI_FAMILY STREQUAL "mpich")
  list(APPEND ways "os?window=dynamic")
endif()
string(JOIN "," ways ${ways})
set(shapes 2x2 1+3 0,1,0,1)
set(ranks 4)
if(CRESTA_MPI_FAMILY STREQUAL "mpich")
  set(shapes 1+2 0,1,0)
  set(ranks 3)
endif()
foreach(nodes IN LISTS shapes)
  string(REPLACE "," "-" name "${nodes}")
  cresta_mpi_test(NAME conformance-os-nodes-${name} RANKS ${ranks} TIMEOUT 400
                  ENV "CRESTA_NODES=${nodes}" CRESTA_FALLBACK=error
                  COMMAND conformance ${ways} --mode blocking --sparse 31)
  cresta_mpi_test(NAME windows-nodes-${name} RANKS ${ranks} TIMEOUT 300
                  ENV "CRESTA_NODES=${nodes}" CRESTA_FALLBACK=error CRESTA_OS_WINDOW=static:1000
                  COMMAND windows "os,os?via=get" 1000)
endforeach()
if(NOT CRESTA_MPI_FAMILY STREQUAL "mpich") # see windows in CMakeLists.txt
  cresta_mpi_test(NAME conformance-os-nodes-ways RANKS 3 TIMEOUT 900
                  ENV CRESTA_NODES=2+1 CRESTA_FALLBACK=error
                  COMMAND conformance "os?access=calls,os?sync=pscw,os?sync=fence"
                          --mode blocking --sparse 61)
endif()
cresta_mpi_test(NAME conformance-os-nodes-begun RANKS 3 TIMEOUT 240
                ENV CRESTA_NODES=2+1 CRESTA_ASYNC=thread CRESTA_FALLBACK=error
                COMMAND conformance "os,os?via=get" --mode ${split_modes} --sparse 31)
cresta_mpi_test(NAME nodes-os-orders RANKS 3 ENV CRESTA_NODES=2+1 COMMAND orders os free)
cresta_mpi_test(NAME nodes-os-errors RANKS 3 ENV CRESTA_NODES=2+1 CRESTA_ASYNC=thread
                COMMAND errors os)

# What a set-up costs: where all ranks are on one node, nobody asks for nodes.
cresta_test_program(set_up set_up.c)
target_link_libraries(set_up PRIVATE ${CMAKE_DL_LIBS})
target_compile_definitions(set_up PRIVATE _GNU_SOURCE)
set(asks "allreduce{nodes=3-inf}=nonblock,*=mpi")
cresta_mpi_test(NAME set-up-one-node RANKS 4 ENV "CRESTA_IMPL=${asks}" COMMAND set_up 1 0)
cresta_mpi_test(NAME set-up-asks RANKS 4 ENV "CRESTA_IMPL=${asks}" CRESTA_NODES=2x2
                COMMAND set_up 2 0)
cresta_mpi_test(NAME set-up-profile RANKS 4
                ENV CRESTA_PROFILE=/dev/null CRESTA_PROFILE_WAIT=0 CRESTA_NODES=2x2
                COMMAND set_up 2 0)
# Two for hier: the nodes and a channel, and whether all nodes have streams; and two of those of a
# node: where its memory is, and whether all have it.
foreach(nodes_and_ranks IN ITEMS "2x2;4" "1+3;4" "3+5;8")
  list(GET nodes_and_ranks 0 nodes)
  list(GET nodes_and_ranks 1 ranks)
  cresta_mpi_test(NAME set-up-hier-${nodes} RANKS ${ranks}
                  ENV "CRESTA_IMPL=*=hier" CRESTA_NODES=${nodes}
                  COMMAND set_up 5 0)
endforeach()

# More communicators than have room in shared memory.
cresta_test_program(nodes_many nodes_many.c)
set(shape 2x2)
set(number 1000)
set(ranks 4)
if(CRESTA_MPI_FAMILY STREQUAL "mpich")
  set(shape 2+1)
  set(number 100)
  set(ranks 3)
endif()
cresta_mpi_test(NAME nodes-many RANKS ${ranks} TIMEOUT 400
                ENV CRESTA_NODES=${shape} CRESTA_FALLBACK=silent CRESTA_ASYNC=thread
                COMMAND nodes_many ${number} 8388608)

# What programs do besides, over memory and messages: sizes about those of rings, wrong arguments,
# threads, communicators freed in unlike orders, worlds that meet.
cresta_test_program(nodes_sizes nodes_sizes.c)
set(nodes CRESTA_NODES=2+1 CRESTA_ASYNC=thread)
cresta_mpi_test(NAME nodes-sizes RANKS 3 TIMEOUT 400 ENV ${nodes} CRESTA_FALLBACK=silent
                COMMAND nodes_sizes hier,hier:leaders,hier:linear)
cresta_mpi_test(NAME nodes-errors RANKS 3 ENV ${nodes} COMMAND errors hier)
cresta_mpi_test(NAME nodes-threads RANKS 3 TIMEOUT 600 ENV CRESTA_NODES=2+1
                COMMAND threads hier,hier:leaders)
cresta_mpi_test(NAME nodes-orders RANKS 3 ENV CRESTA_NODES=2+1 COMMAND orders hier free)
cresta_mpi_test(NAME nodes-orders-threads RANKS 3 ENV ${nodes} CRESTA_FALLBACK=silent
                COMMAND orders hier threads)
cresta_mpi_test(NAME nodes-spawn RANKS 1 ENV CRESTA_NODES=0,1 COMMAND spawn hier)
set_tests_properties(nodes-spawn PROPERTIES SKIP_RETURN_CODE 77)
