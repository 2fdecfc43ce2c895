# SPDX-License-Identifier: BSD-3-Clause
# libcrestacoll-calls.so: every call of the MPI, counted and timed, where a profile is asked for.
# It is preloaded ahead of libcrestacoll-preload.so, and like that linked to no MPI.

# What this mpi.h declares, as calls_declared.h: MPIs have other functions than their version of
# the standard says.
set(declared "${PROJECT_BINARY_DIR}/calls/calls_declared.h")
set(folders "")
foreach(folder IN LISTS MPI_C_INCLUDE_DIRS)
  list(APPEND folders "-I${folder}")
endforeach()
file(WRITE "${PROJECT_BINARY_DIR}/calls/declared.c" "#include <mpi.h>\n")
execute_process(
  COMMAND "${CMAKE_C_COMPILER}" -E -P ${folders} "${PROJECT_BINARY_DIR}/calls/declared.c"
  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^A-Za-z0-9_]MPI_[A-Za-z0-9_]+[ \n\t]*\\(" found "${text}")
list(REMOVE_DUPLICATES found)
set(lines "/* calls_declared.h - made by cmake from this MPI's mpi.h. */\n")
foreach(name IN LISTS found)
  string(REGEX REPLACE "^.MPI_([A-Za-z0-9_]+).*$" "\\1" name "${name}")
  string(APPEND lines "#define CCO_DECLARED_${name}\n")
endforeach()
file(CONFIGURE OUTPUT "${declared}" CONTENT "${lines}" @ONLY)

file(GLOB CRESTA_CALLS CONFIGURE_DEPENDS ${src}/calls/*.c ${generated}/calls/*.c)
add_library(crestacoll_calls SHARED ${CRESTA_CALLS} ${src}/mpi/request_table.c)
cresta_compile(crestacoll_calls)
target_include_directories(crestacoll_calls PRIVATE "${PROJECT_BINARY_DIR}/calls")
target_link_options(crestacoll_calls PRIVATE -Wl,--as-needed -Wl,-z,lazy)
target_link_libraries(crestacoll_calls PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(crestacoll_calls PROPERTIES
  OUTPUT_NAME crestacoll-calls EXPORT_NAME calls LINKER_LANGUAGE C)
