# SPDX-License-Identifier: BSD-3-Clause
# Algorithms and schedules: objects of which crestacoll-explain and the conformance test are made,
# and which are in the libraries too. A new file is found by itself.
file(GLOB CRESTA_SCHEDULES CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/src/sched/*.c" "${PROJECT_SOURCE_DIR}/src/algo/*.c"
     "${PROJECT_SOURCE_DIR}/src/algo/*/*.c")
foreach(name IN ITEMS base/own_lines base/pause base/thread_count base/yielding call/collectives
        comm/stencil hang/whereabouts)
  list(APPEND CRESTA_SCHEDULES "${PROJECT_SOURCE_DIR}/src/${name}.c")
endforeach()
add_library(cresta_schedules OBJECT ${CRESTA_SCHEDULES})
cresta_compile(cresta_schedules)

# The simulator, which runs the schedules of all ranks in one process: for these, not for libraries.
file(GLOB CRESTA_SIMULATOR CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/simulator/*.c")
add_library(cresta_simulator OBJECT EXCLUDE_FROM_ALL ${CRESTA_SIMULATOR})
cresta_compile(cresta_simulator)
target_include_directories(cresta_simulator PRIVATE "${PROJECT_SOURCE_DIR}")
