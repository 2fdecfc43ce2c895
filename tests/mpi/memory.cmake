# SPDX-License-Identifier: BSD-3-Clause
# Memory from CRESTA_Alloc_mem, and memory that the kernel copies.
cresta_test_program(memory ${call} memory.c)
foreach(ranks IN ITEMS 1 2 3)
  cresta_mpi_test(NAME memory-shm-${ranks} RANKS ${ranks} ENV CRESTA_FALLBACK=error
                  COMMAND memory shm)
endforeach()
cresta_mpi_test(NAME memory-p2p RANKS 2 COMMAND memory p2p)
foreach(ranks IN ITEMS 2 3)
  cresta_mpi_test(NAME memory-single-${ranks} RANKS ${ranks} ENV CRESTA_FALLBACK=silent
                  COMMAND memory "shm?copy=single")
endforeach()
cresta_mpi_test(NAME memory-single-named RANKS 3 ENV CRESTA_FALLBACK=silent
                COMMAND memory "shm:linear?copy=single")
foreach(distance IN ITEMS near far auto)
  cresta_mpi_test(NAME memory-copy-${distance} RANKS 2
                  ENV CRESTA_FALLBACK=error CRESTA_SHM_DISTANCE=${distance}
                  COMMAND memory "shm?copy=auto")
  cresta_mpi_test(NAME conformance-copy-${distance} RANKS 2 TIMEOUT 60
                  ENV CRESTA_FALLBACK=silent CRESTA_SHM_DISTANCE=${distance}
                  COMMAND conformance "shm?copy=auto" --sparse 31)
endforeach()
cresta_mpi_test(NAME conformance-single RANKS 3 TIMEOUT 60 ENV CRESTA_FALLBACK=silent
                COMMAND conformance "shm?copy=single" --sparse 31)
cresta_mpi_test(NAME spawn-copy-auto RANKS 1 ENV CRESTA_FALLBACK=silent
                COMMAND spawn "shm?copy=auto")
set_tests_properties(spawn-copy-auto PROPERTIES SKIP_RETURN_CODE 77)
if(NOT CRESTA_SANITIZE)
  add_library(reads SHARED reads.c) # for test_library_single.py, test_library_copy.py
  target_compile_definitions(reads PRIVATE _GNU_SOURCE)
endif()
