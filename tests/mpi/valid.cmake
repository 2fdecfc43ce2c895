# SPDX-License-Identifier: BSD-3-Clause
# Unusual but valid programs: that nothing hangs, ends or comes to something else.

# Error handlers that do not come back; below MPI_THREAD_MULTIPLE in MPICH, which has a lock then.
cresta_test_program(leaves leaves.c)
cresta_plain_program(leaves_plain leaves.c)
cresta_mpi_test(NAME leaves RANKS 2 COMMAND leaves ${models_list})
cresta_mpi_test(NAME leaves-preload RANKS 2 PRELOAD ENV "CRESTA_IMPL=${rules}"
                COMMAND leaves_plain ${models_list})
if(NOT CRESTA_MPI_FAMILY STREQUAL "mpich")
  cresta_mpi_test(NAME leaves-multiple RANKS 2 COMMAND leaves ${models_list} 3)
  cresta_mpi_test(NAME leaves-thread RANKS 2 ENV CRESTA_ASYNC=thread
                  COMMAND leaves ${models_list} 0)
  cresta_mpi_test(NAME leaves-preload-thread RANKS 2 PRELOAD
                  ENV CRESTA_ASYNC=thread "CRESTA_IMPL=${rules}"
                  COMMAND leaves_plain ${models_list})
endif()

# Errors by exceptions of C++, where there is a compiler; the project is of C and Fortran only.
find_program(CRESTA_TEST_CXX NAMES c++ g++ clang++)
if(CRESTA_TEST_CXX AND NOT CRESTA_SANITIZE)
  set(throws "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/throws")
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE includes)
  set(rpaths ${CMAKE_INSTALL_RPATH}) # the MPI may lie where the loader does not look
  list(TRANSFORM rpaths PREPEND "-Wl,-rpath,")
  add_custom_command(OUTPUT "${throws}" VERBATIM
    COMMAND "${CRESTA_TEST_CXX}" "${CMAKE_CURRENT_SOURCE_DIR}/throws.cpp" -o "${throws}" ${includes}
            "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_BINARY_DIR}/include"
            "$<TARGET_FILE:crestacoll_shared>" ${MPI_C_LIBRARIES}
            "-Wl,-rpath,$<TARGET_FILE_DIR:crestacoll_shared>" ${rpaths}
    DEPENDS throws.cpp crestacoll_shared)
  add_custom_target(throws ALL DEPENDS "${throws}")
  cresta_mpi_test(NAME throws RANKS 2 COMMAND "${throws}" ${models})
endif()

# Operations of programs below MPI_THREAD_MULTIPLE stay on their thread.
cresta_test_program(own_op own_op.c)
cresta_plain_program(own_op_plain own_op.c)
foreach(level RANGE 0 2)
  cresta_mpi_test(NAME own-op-preload-${level} RANKS 2 PRELOAD
                  ENV CRESTA_ASYNC=thread "CRESTA_IMPL=alltoall=p2p,*=nonblock"
                  COMMAND own_op_plain ${level})
  cresta_mpi_test(NAME own-op-${level} RANKS 2 ENV CRESTA_ASYNC=thread COMMAND own_op ${level})
endforeach()
cresta_mpi_test(NAME own-op-persist RANKS 2 PRELOAD
                ENV CRESTA_ASYNC=thread "CRESTA_IMPL=alltoall=p2p,*=persist" CRESTA_FALLBACK=silent
                COMMAND own_op_plain 0)

# Unusual types.
cresta_test_program(types types.c)
cresta_plain_program(types_plain types.c)
cresta_mpi_test(NAME types RANKS 3 ENV CRESTA_ASYNC=off COMMAND types ${models_list})
cresta_mpi_test(NAME types-thread RANKS 2 ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                COMMAND types ${models_list})
cresta_mpi_test(NAME types-preload RANKS 2 PRELOAD ENV "CRESTA_IMPL=${rules}"
                COMMAND types_plain ${models_list})

# Reductions of types and operations of the program, which shm does itself; p2p, too, with 3 ranks.
cresta_test_program(elements elements.c)
foreach(ranks RANGE 1 5)
  set(impls shm)
  if(ranks EQUAL 3)
    set(impls p2p,shm)
  endif()
  if(ranks LESS 4 OR NOT CRESTA_MPI_FAMILY STREQUAL "mpich")
    cresta_mpi_test(NAME elements-${ranks} RANKS ${ranks} TIMEOUT 400 ENV CRESTA_FALLBACK=error
                    COMMAND elements ${impls})
  endif()
endforeach()
cresta_mpi_test(NAME conformance-shm RANKS 3 TIMEOUT 120 ENV CRESTA_FALLBACK=error
                COMMAND conformance shm --sparse 31)
cresta_mpi_test(NAME elements-auto RANKS 2 COMMAND elements auto)
cresta_mpi_test(NAME elements-single RANKS 3 TIMEOUT 400 ENV CRESTA_FALLBACK=silent
                COMMAND elements "shm?copy=single")

# Every wait and test beside null and inactive requests.
cresta_test_program(waits waits.c)
set(tried shm,os,p2p,nonblock)
cresta_mpi_test(NAME waits RANKS 2 COMMAND waits ${tried})
cresta_mpi_test(NAME waits-thread RANKS 3 ENV CRESTA_ASYNC=thread COMMAND waits ${tried})

# A tool before and behind the library, preloaded and linked: it sees each call of the program once.
cresta_preloaded(textbook)
cresta_plain_program(told_plain told.c)
cresta_test_program(told told.c)
target_link_options(told PRIVATE -Wl,--no-as-needed)
# One that wraps all it can: tests/python/test_library_tool.py compares what it sees.
cresta_preloaded(watcher)
cresta_preloaded(watcher_chain watcher.c)
target_compile_definitions(watcher_chain PRIVATE CHAIN)
cresta_plain_program(watched_plain ${call_plain} small_call.c watched.c)
cresta_test_program(watched ${call} small_call.c watched.c)
# With the tool linked, behind the library.
cresta_test_program(watched_behind ${call} small_call.c watched.c)
target_link_options(watched_behind PRIVATE -Wl,--no-as-needed)
target_link_libraries(watched_behind PRIVATE watcher)
set(ours "$<TARGET_FILE:crestacoll_preload>")
set(theirs "$<TARGET_FILE:textbook>")
set(preloads "behind=${ours}:${theirs}" "before=${theirs}:${ours}" "linked=${theirs}"
             "twice=${ours}:${theirs}")
foreach(preload IN LISTS preloads)
  string(REGEX MATCH "^[a-z]+" name "${preload}")
  string(REGEX REPLACE "^[a-z]+=" "" value "${preload}")
  set(program told_plain)
  if(name MATCHES "linked|twice")
    set(program told)
  endif()
  foreach(level IN ITEMS "" 1)
    cresta_mpi_test(NAME tool-${name}${level} RANKS 2
                    ENV "LD_PRELOAD=${value}" "CRESTA_IMPL=*=p2p" COMMAND ${program} ${level})
    set_tests_properties(tool-${name}${level} PROPERTIES PASS_REGULAR_EXPRESSION
      "tool: 2 sends, 3 waits, 1 levels[^:]*tool: 2 sends, 3 waits, 1 levels"
      FAIL_REGULAR_EXPRESSION "crestacoll:")
  endforeach()
endforeach()

# A begun call beside null and inactive requests and persistent collectives, which MPICH 4.0 takes
# wrongly in some calls.
cresta_test_program(mixed ${call} mixed.c)
cresta_plain_program(mixed_plain ${call_plain} mixed.c)
cresta_mpi_test(NAME mixed RANKS 2 COMMAND mixed mpi,p2p,shm,os)
cresta_mpi_test(NAME mixed-thread RANKS 2 ENV CRESTA_ASYNC=thread COMMAND mixed mpi,p2p,shm,os)
cresta_mpi_test(NAME mixed-preload RANKS 2 PRELOAD ENV CRESTA_ASYNC=thread "CRESTA_IMPL=${rules}"
                COMMAND mixed_plain p2p)

# MPI_Ialltoallw on communicators with a topology, of fewer and of more ranks than neighbours.
cresta_test_program(grid grid.c)
cresta_plain_program(grid_plain grid.c)
cresta_mpi_test(NAME grid RANKS 2 COMMAND grid ${models_list})
cresta_mpi_test(NAME grid-1 RANKS 1 COMMAND grid nonblock,persist)
cresta_mpi_test(NAME grid-preload RANKS 2 PRELOAD ENV "CRESTA_IMPL=${rules}"
                COMMAND grid_plain nonblock,persist)
foreach(ranks IN ITEMS 3 5)
  cresta_mpi_test(NAME grid-${ranks} RANKS ${ranks} COMMAND grid nonblock)
endforeach()

# Blocking calls that wait politely.
include(polite.cmake)
