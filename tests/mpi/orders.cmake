# SPDX-License-Identifier: BSD-3-Clause
# Communicators as programs have them: many, freed in unlike orders, used by threads.
cresta_test_program(orders orders.c)
foreach(model IN LISTS models)
  foreach(ranks IN ITEMS 2 3)
    cresta_mpi_test(NAME orders-${model}-${ranks} RANKS ${ranks} COMMAND orders ${model} free)
  endforeach()
endforeach()
foreach(impl IN ITEMS p2p shm os persist)
  cresta_mpi_test(NAME orders-many-${impl} RANKS 2 TIMEOUT 180 ENV CRESTA_FALLBACK=silent
                  COMMAND orders ${impl} many)
  cresta_mpi_test(NAME orders-threads-${impl} RANKS 2 ENV CRESTA_FALLBACK=silent
                  COMMAND orders ${impl} threads)
endforeach()
foreach(impl IN ITEMS "os?via=get" "os?access=calls" "os?sync=pscw" "os?sync=fence")
  string(REGEX REPLACE "[?&]" "-" name "${impl}")
  cresta_mpi_test(NAME orders-${name} RANKS 2 COMMAND orders ${impl} free)
endforeach()

# What ranks know for themselves, perturbed: memory and threads that they do not get, cores that they
# seem to lack, log levels, instruction sets, late starts.  The seeds say who disagrees in what.
set(seed 0)
foreach(impl IN ITEMS shm os p2p persist "os?via=get" "shm:ring")
  foreach(ranks IN ITEMS 2 3)
    math(EXPR seed "${seed} + 1")
    cresta_mpi_test(NAME disagree-${seed} RANKS ${ranks} TIMEOUT 120
                    ENV CRESTA_FALLBACK=silent CRESTA_DEBUG=disagree=${seed}
                    COMMAND conformance ${impl} --sparse 97)
  endforeach()
  cresta_mpi_test(NAME disagree-split-${seed} RANKS 2 TIMEOUT 120
                  ENV CRESTA_FALLBACK=silent CRESTA_DEBUG=disagree=${seed}
                  COMMAND conformance ${impl} --mode split --sparse 31)
endforeach()
