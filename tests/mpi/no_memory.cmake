# SPDX-License-Identifier: BSD-3-Clause
# The k-th allocation of a call fails on one rank, for every k.
add_executable(no_memory no_memory.c)
target_link_libraries(no_memory PRIVATE crestacoll::static MPI::MPI_C Threads::Threads)
target_include_directories(no_memory PRIVATE "${PROJECT_SOURCE_DIR}/tests")
target_compile_options(no_memory PRIVATE -Wall -Wextra)
target_link_options(no_memory PRIVATE
                    "LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc")
set(impls p2p p2p:binomial shm shm:binomial os "os?via=get")
string(JOIN "," impls ${impls})
cresta_mpi_test(NAME no-memory-2 RANKS 2 ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                COMMAND no_memory ${impls})
cresta_mpi_test(NAME no-memory-nodes RANKS 3
                ENV CRESTA_NODES=2+1 CRESTA_ASYNC=thread CRESTA_FALLBACK=silent
                COMMAND no_memory "hier,hier:leaders,hier:binomial")
