# SPDX-License-Identifier: BSD-3-Clause
# Algorithms, schedules and the simulator: objects of which crestacoll-explain and the conformance
# test are made. A new file is found by itself.
file(GLOB sources CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/src/sched/*.c" "${PROJECT_SOURCE_DIR}/src/algo/*.c"
     "${PROJECT_SOURCE_DIR}/src/algo/*/*.c" "${PROJECT_SOURCE_DIR}/src/transport/sim/*.c")
add_library(cresta_schedules OBJECT ${sources} "${PROJECT_SOURCE_DIR}/src/core/collectives.c"
            "${PROJECT_SOURCE_DIR}/src/core/stencil.c"
            "${PROJECT_SOURCE_DIR}/src/core/pause.c" "${PROJECT_SOURCE_DIR}/src/core/yielding.c"
            "${PROJECT_SOURCE_DIR}/src/core/whereabouts.c"
            "${PROJECT_SOURCE_DIR}/src/core/own_lines.c"
            "${PROJECT_SOURCE_DIR}/src/core/thread_count.c")
target_include_directories(cresta_schedules PRIVATE
  "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include" ${MPI_C_INCLUDE_DIRS})
target_link_libraries(cresta_schedules PRIVATE cresta_flags)
