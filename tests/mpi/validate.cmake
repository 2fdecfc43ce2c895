# SPDX-License-Identifier: BSD-3-Clause
# CRESTA_VALIDATE.

# The preload library with algorithms that are wrong in one element; the same for programs that are
# linked.
set(spoilt "algo/(alltoall/pairwise|allreduce/ring)[.]c")
set(right "$<FILTER:$<TARGET_OBJECTS:cresta_schedules>,EXCLUDE,${spoilt}>")
add_library(wrong_element OBJECT wrong_element.c)
cresta_compile(wrong_element)
add_library(wrong_preload SHARED $<TARGET_OBJECTS:wrong_element> ${right}
            $<TARGET_OBJECTS:cresta_objects> $<TARGET_OBJECTS:crestacoll_preload>
            $<TARGET_OBJECTS:cresta_kernels>)
target_link_options(wrong_preload PRIVATE -Wl,--as-needed -Wl,-z,lazy)
target_link_libraries(wrong_preload PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
set_target_properties(wrong_preload PROPERTIES LINKER_LANGUAGE C)

foreach(name IN ITEMS validated validated_begun)
  add_executable(${name} ${name}.c $<TARGET_OBJECTS:wrong_element>)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/include"
                             "${PROJECT_SOURCE_DIR}/tests")
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  target_link_libraries(${name} PRIVATE "$<TARGET_FILE:crestacoll_static>" MPI::MPI_C
                        Threads::Threads ${CMAKE_DL_LIBS} m)
  add_dependencies(${name} crestacoll_static)
endforeach()
cresta_mpi_test(NAME validated RANKS 2 ENV CRESTA_VALIDATE=1:1 CRESTA_VALIDATE_FILES=none
                "CRESTA_IMPL=allreduce=p2p:ring,*=p2p" WRONG_BYTES=800
                CRESTA_VALIDATE_SUMMARY=${CMAKE_CURRENT_BINARY_DIR}/validated.json
                COMMAND validated ${CMAKE_CURRENT_BINARY_DIR}/validated.json)

# Every kind of call is checked, and no difference is found: the first of all collectives and sizes
# on each communicator, and all others.
foreach(ranks IN ITEMS 2 3)
  cresta_mpi_test(NAME validate-conformance-${ranks} RANKS ${ranks} TIMEOUT 400
                  ENV CRESTA_VALIDATE=1:1 CRESTA_VALIDATE_STOP=1 CRESTA_VALIDATE_FILES=none
                  COMMAND conformance nonblock,p2p,shm --mode blocking --sparse 17)
endforeach()
cresta_mpi_test(NAME validate-preload RANKS 2 TIMEOUT 200 PRELOAD
                ENV CRESTA_VALIDATE=1:1 CRESTA_VALIDATE_STOP=1 CRESTA_VALIDATE_FILES=none
                "CRESTA_IMPL=*=p2p,neighbor_*=p2p"
                COMMAND conformance_plain p2p --mode blocking --sparse 17)
