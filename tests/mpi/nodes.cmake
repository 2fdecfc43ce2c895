# SPDX-License-Identifier: BSD-3-Clause
# The ranks of this machine as those of several nodes (CRESTA_NODES): even, uneven, interleaved.

foreach(nodes IN ITEMS 2x2 1+3 0,1,0,1)
  string(REPLACE "," "-" name "${nodes}")
  cresta_mpi_test(NAME conformance-nodes-${name} RANKS 4 TIMEOUT 400 ENV "CRESTA_NODES=${nodes}"
                  COMMAND crestacoll-check --all --seconds 0.01 --impl hier)
endforeach()

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
# Two for hier: the nodes and a channel, and whether all nodes have streams. Nodes meet by messages.
foreach(nodes_and_ranks IN ITEMS "2x2;4" "1+3;4" "3+5;8")
  list(GET nodes_and_ranks 0 nodes)
  list(GET nodes_and_ranks 1 ranks)
  cresta_mpi_test(NAME set-up-hier-${nodes} RANKS ${ranks}
                  ENV "CRESTA_IMPL=*=hier" CRESTA_NODES=${nodes}
                  COMMAND set_up 3 0)
endforeach()
