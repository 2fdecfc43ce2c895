# SPDX-License-Identifier: BSD-3-Clause
# Communicators as programs have them: many, freed in unlike orders, used by threads.
cresta_test_program(orders orders.c)
set(windows "os?via=get,os?access=calls,os?sync=pscw,os?sync=fence")
cresta_mpi_test(NAME orders-2 RANKS 2 COMMAND orders "${models_list},${windows}" free)
cresta_mpi_test(NAME orders-3 RANKS 3 COMMAND orders ${models_list} free)
cresta_mpi_test(NAME orders-many RANKS 2 TIMEOUT 900 ENV CRESTA_FALLBACK=silent
                COMMAND orders p2p,shm,os,persist many)
cresta_mpi_test(NAME orders-threads RANKS 2 ENV CRESTA_FALLBACK=silent
                COMMAND orders p2p,shm,os,persist threads)

cresta_test_program(held held.c)
cresta_mpi_test(NAME held RANKS 2 ENV CRESTA_ASYNC=thread COMMAND held)
cresta_mpi_test(NAME held-not RANKS 2 COMMAND held)

cresta_test_program(unused unused.c)
foreach(ranks IN ITEMS 2 3)
  cresta_mpi_test(NAME unused-${ranks} RANKS ${ranks} ENV CRESTA_IMPL=*=shm COMMAND unused)
endforeach()

# What ranks know for themselves, perturbed: memory and threads that they do not get, cores that
# they seem to lack, log levels, instruction sets, late starts.  Seeds say who disagrees in what;
# `make nightly` has others, an implementation each.
set(seed 0)
foreach(impls IN ITEMS "shm,os?via=get,p2p" "os,shm:ring,persist")
  foreach(ranks IN ITEMS 2 3)
    math(EXPR seed "${seed} + 1")
    cresta_mpi_test(NAME disagree-${seed} RANKS ${ranks}
                    ENV CRESTA_FALLBACK=silent CRESTA_DEBUG=disagree=${seed}
                    COMMAND conformance ${impls} --sparse 97)
  endforeach()
  cresta_mpi_test(NAME disagree-split-${seed} RANKS 2
                  ENV CRESTA_FALLBACK=silent CRESTA_DEBUG=disagree=${seed}
                  COMMAND conformance ${impls} --mode split --sparse 31)
endforeach()

# Ranks of one machine with unlike views of it, on one core: those of another world, and those that
# MPICH takes for another node's.
string(JOIN " " launch ${CRESTA_LAUNCH})
foreach(model IN ITEMS p2p shm os)
  add_test(NAME crowds-spawn-${model} COMMAND bash -c
    "command -v taskset >/dev/null || { echo 'skipped: no taskset'; exit 77; }; \
     taskset -c $(taskset -cp $$ | grep -o '[0-9]*$') ${launch} -n 1 $<TARGET_FILE:spawn> ${model}")
  list(APPEND crowds crowds-spawn-${model})
endforeach()
if(CRESTA_MPI_FAMILY STREQUAL "mpich" AND NOT CRESTA_MPI_IS_INTEL)
  add_test(NAME crowds-cliques COMMAND bash -c
    "command -v taskset >/dev/null || { echo 'skipped: no taskset'; exit 77; }; \
     MPIR_CVAR_NUM_CLIQUES=2 taskset -c $(taskset -cp $$ | grep -o '[0-9]*$') \
     ${launch} -n 3 $<TARGET_FILE:orders> shm pieces")
  list(APPEND crowds crowds-cliques)
endif()
set_tests_properties(${crowds} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS mpi PROCESSORS 2
  ENVIRONMENT "${CRESTA_TEST_ENV};CRESTA_FALLBACK=silent")

cresta_test_program(pool pool.c)
set(most 4)
if(CRESTA_MPI_FAMILY STREQUAL "mpich")
  set(most 3) # shared memory is the same under every MPI
endif()
foreach(ranks RANGE 2 ${most})
  cresta_mpi_test(NAME pool-${ranks} RANKS ${ranks} COMMAND pool)
endforeach()
foreach(what IN ITEMS copy peace)
  cresta_mpi_test(NAME limits-no-${what} RANKS 3 COMMAND limits refused ${what} before)
endforeach()
set(full ${CRESTA_LAUNCH})
if(CRESTA_MPI_FAMILY STREQUAL "openmpi")
  list(APPEND full --mca btl tcp,self --mca btl_tcp_if_include lo)
elseif(CRESTA_MPI_IS_INTEL)
  list(APPEND full -genv I_MPI_FABRICS ofi -genv FI_PROVIDER tcp)
endif()
string(JOIN " " full ${full} -n 3 $<TARGET_FILE:limits> full)
add_test(NAME limits-full COMMAND bash -c
  "unshare -m true || { echo 'skipped: no name space of mounts (not root?)'; exit 77; }; \
   unshare -m bash -c 'mount -t tmpfs -o size=32m tmpfs /dev/shm && exec ${full}'")
set_tests_properties(limits-full PROPERTIES TIMEOUT 300 LABELS mpi ENVIRONMENT
  "${CRESTA_TEST_ENV}" PROCESSORS 2)
set_tests_properties(limits-full limits-no-copy limits-no-peace PROPERTIES SKIP_RETURN_CODE 77)
