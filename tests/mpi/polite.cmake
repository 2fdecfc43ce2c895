# SPDX-License-Identifier: BSD-3-Clause
# What CRESTA_WAIT makes polite, linked and preloaded, against the MPI's own calls.
cresta_test_program(polite polite.c polite_requests.c)
cresta_plain_program(polite_plain polite.c polite_requests.c)
foreach(level IN ITEMS single multiple)
  set(argument "")
  if(level STREQUAL "multiple")
    set(argument multiple)
  endif()
  cresta_mpi_test(NAME polite-${level} RANKS 2 TIMEOUT 60 BESIDE ENV CRESTA_WAIT=polite
                  COMMAND polite ${argument})
  cresta_mpi_test(NAME polite-preload-${level} RANKS 2 TIMEOUT 60 BESIDE PRELOAD
                  ENV CRESTA_WAIT=polite COMMAND polite_plain ${argument})
endforeach()

# More ranks than most machines of developers have cores: the library asks how the MPI waits.
cresta_test_program(level_kept level_kept.c)
cresta_mpi_test(NAME level-kept RANKS 4 ENV CRESTA_WAIT=auto COMMAND level_kept)
