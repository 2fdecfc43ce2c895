# SPDX-License-Identifier: BSD-3-Clause
# What `make static` and `make shared` build: one kind of library, and what bin/crestacoll needs.
# What `make demo` builds: the same, and its program.

set(CRESTA_TOOLS "")
foreach(tool IN ITEMS crestacoll-bench crestacoll-overlap crestacoll-harness crestacoll-overhead
        crestacoll-atomics crestacoll-reproduce crestacoll-describe crestacoll-explain
        crestacoll-simulate crestacoll-tuning crestacoll-check crestacoll-check-fortran
        crestacoll-shmem crestacoll-threads)
  if(TARGET ${tool})
    list(APPEND CRESTA_TOOLS ${tool})
  endif()
endforeach()

foreach(kind IN ITEMS static shared)
  add_custom_target(${kind})
  add_dependencies(${kind} crestacoll_${kind} crestacoll_preload crestacoll_calls ${CRESTA_TOOLS})
  if(TARGET crestacoll_python)
    add_dependencies(${kind} crestacoll_python)
  endif()
  if(TARGET crestacoll_caf)
    add_dependencies(${kind} crestacoll_caf)
  endif()
  if(TARGET cresta_module)
    add_dependencies(${kind} cresta_module)
  endif()
endforeach()

add_custom_target(demo)
add_dependencies(demo shared)
foreach(program IN ITEMS turbulence turbulence_cresta)
  if(TARGET ${program})
    add_dependencies(demo ${program})
  endif()
endforeach()

# What `make quick` needs.
add_custom_target(quick)
add_dependencies(quick shared)
foreach(target IN ITEMS units conformance conformance-sim gives_way)
  if(TARGET ${target})
    add_dependencies(quick ${target})
  endif()
endforeach()
