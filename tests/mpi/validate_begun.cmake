# SPDX-License-Identifier: BSD-3-Clause
# CRESTA_VALIDATE and begun calls, whose checks are over later.

foreach(ranks IN ITEMS 2 3)
  set(summary ${CMAKE_CURRENT_BINARY_DIR}/validated-begun-${ranks}.json)
  cresta_mpi_test(NAME validated-begun-${ranks} RANKS ${ranks}
                  ENV CRESTA_VALIDATE=1:1 CRESTA_ASYNC=thread CRESTA_VALIDATE_FILES=none
                  "CRESTA_IMPL=allreduce=p2p:ring,*=p2p" WRONG_BYTES=800
                  CRESTA_VALIDATE_SUMMARY=${summary}
                  COMMAND validated_begun ${summary})
  cresta_mpi_test(NAME validate-split-${ranks} RANKS ${ranks} TIMEOUT 400
                  ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent CRESTA_VALIDATE=1:1
                  CRESTA_VALIDATE_STOP=1 CRESTA_VALIDATE_FILES=none
                  COMMAND conformance p2p,shm --mode ${split_modes} --sparse 17)
  cresta_mpi_test(NAME validate-split-stress-${ranks} RANKS ${ranks} TIMEOUT 120
                  ENV CRESTA_ASYNC=thread CRESTA_FALLBACK=silent CRESTA_VALIDATE=1:1
                  CRESTA_VALIDATE_STOP=1 CRESTA_VALIDATE_FILES=none
                  COMMAND split_stress --seconds 0.5 --seed 2${ranks})
endforeach()
cresta_mpi_test(NAME validate-preload-begun RANKS 2 TIMEOUT 200 PRELOAD
                ENV CRESTA_VALIDATE=1:1 CRESTA_VALIDATE_STOP=1 CRESTA_VALIDATE_FILES=none
                CRESTA_ASYNC=thread "CRESTA_IMPL=*=p2p,neighbor_*=p2p"
                COMMAND conformance_plain p2p --mode nonblocking --sparse 7)
cresta_mpi_test(NAME validate-split-fails RANKS 2
                ENV CRESTA_ASYNC=thread CRESTA_DEBUG=fail=2 CRESTA_VALIDATE=1:1
                COMMAND split_fails)
