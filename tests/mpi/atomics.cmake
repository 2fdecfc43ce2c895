# SPDX-License-Identifier: BSD-3-Clause
# Accumulates, in plain MPI: preloaded and linked.  Ranks of Open MPI hold no cores: three, too.
foreach(program IN ITEMS atomics atomics_values)
  cresta_plain_program(${program} ${program}.c)
  add_executable(${program}_linked ${program}.c)
  target_link_libraries(${program}_linked PRIVATE crestacoll::c MPI::MPI_C Threads::Threads)
  target_include_directories(${program}_linked PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  cresta_mpi_test(NAME ${program} RANKS 2 TIMEOUT 300 PRELOAD ENV CRESTA_ATOMICS=on
                  COMMAND ${program})
  cresta_mpi_test(NAME ${program}-linked RANKS 2 TIMEOUT 300 ENV CRESTA_ATOMICS=on
                  COMMAND ${program}_linked)
endforeach()
if(CRESTA_MPI_FAMILY STREQUAL "openmpi")
  cresta_mpi_test(NAME atomics-3 RANKS 3 TIMEOUT 300 PRELOAD ENV CRESTA_ATOMICS=on
                  COMMAND atomics 10)
endif()
cresta_mpi_test(NAME disagree-atomics RANKS 2 TIMEOUT 300 PRELOAD
                ENV CRESTA_ATOMICS=on CRESTA_DEBUG=disagree=5
                COMMAND atomics_values 100 5 4)

# Datatypes of targets, and accumulates without memory, below the interface of the MPI.
add_executable(atomics_types atomics_types.c)
target_link_libraries(atomics_types PRIVATE crestacoll::static MPI::MPI_C Threads::Threads)
target_include_directories(atomics_types PRIVATE "${PROJECT_SOURCE_DIR}/src"
                           "${PROJECT_SOURCE_DIR}/tests")
target_compile_options(atomics_types PRIVATE -Wall -Wextra)
target_link_options(atomics_types PRIVATE "LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc")
cresta_mpi_test(NAME atomics-types RANKS 1 COMMAND atomics_types)

# Threads on communicators of their own: no lock in a blocking call, and no cache line that both
# write.
cresta_test_program(no_locks no_locks.c)
target_compile_definitions(no_locks PRIVATE _GNU_SOURCE)
cresta_mpi_test(NAME no-locks RANKS 2 TIMEOUT 300 COMMAND no_locks shm)
cresta_test_program(shared_lines shared_lines.c)
target_compile_definitions(shared_lines PRIVATE _GNU_SOURCE)
cresta_mpi_test(NAME shared-lines RANKS 2 TIMEOUT 300 COMMAND shared_lines shm,os)
