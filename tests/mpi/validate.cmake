# SPDX-License-Identifier: BSD-3-Clause
# CRESTA_VALIDATE.

# The preload library with algorithms that are wrong in one element; the same for programs that are
# linked.
set(spoilt "algo/(alltoall/pairwise|allreduce/ring)[.]c")
set(right "$<FILTER:$<TARGET_OBJECTS:cresta_objects>,EXCLUDE,${spoilt}>")
add_library(wrong_element OBJECT wrong_element.c)
cresta_compile(wrong_element)
add_library(wrong_preload SHARED $<TARGET_OBJECTS:wrong_element> ${right}
            $<TARGET_OBJECTS:crestacoll_preload> $<TARGET_OBJECTS:cresta_kernels>)
target_link_options(wrong_preload PRIVATE -Wl,--as-needed -Wl,-z,lazy)
target_link_libraries(wrong_preload PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
set_target_properties(wrong_preload PROPERTIES LINKER_LANGUAGE C)

# Every kind of call is checked, and no difference is found: the first of all collectives and sizes
# on each communicator, and all others.
foreach(ranks IN ITEMS 2 3)
  cresta_mpi_test(NAME validate-conformance-${ranks} RANKS ${ranks} TIMEOUT 400
                  ENV CRESTA_VALIDATE=1:1 CRESTA_VALIDATE_STOP=1 CRESTA_VALIDATE_FILES=
                  COMMAND conformance nonblock,p2p,shm --mode blocking --sparse 17)
endforeach()
cresta_mpi_test(NAME validate-preload RANKS 2 TIMEOUT 200 PRELOAD
                ENV CRESTA_VALIDATE=1:1 CRESTA_VALIDATE_STOP=1 CRESTA_VALIDATE_FILES=
                "CRESTA_IMPL=*=p2p,neighbor_*=p2p"
                COMMAND conformance_plain p2p --mode blocking --sparse 17)
