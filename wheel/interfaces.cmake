# SPDX-License-Identifier: BSD-3-Clause
# Which binary interface an mpi.h is of, and where it is.

# cresta_interface_of(VAR wrapper): openmpi-4, openmpi-5, mpich-3, mpich-4, mpiabi; empty: another.
function(cresta_interface_of var wrapper)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/mpi.c" "#include <mpi.h>\n")
  execute_process(COMMAND "${wrapper}" -E -dM "${CMAKE_CURRENT_BINARY_DIR}/mpi.c"
                  OUTPUT_VARIABLE macros ERROR_QUIET)
  set(name "")
  if(macros MATCHES "#define OMPI_MAJOR_VERSION ([0-9]+)")
    set(name openmpi-${CMAKE_MATCH_1})
  elseif(macros MATCHES "#define MPI_ABI_VERSION ")
    set(name mpiabi)
  elseif(macros MATCHES "#define (MPICH_VERSION|I_MPI_VERSION) ")
    set(name mpich-4)
    if(macros MATCHES "#define MPI_VERSION 3")
      set(name mpich-3)
    endif()
  endif()
  set(${var} "${name}" PARENT_SCOPE)
endfunction()

# The folder of the mpi.h that a wrapper includes.
function(cresta_include_of var wrapper)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/mpi.c" "#include <mpi.h>\n")
  execute_process(COMMAND "${wrapper}" -E "${CMAKE_CURRENT_BINARY_DIR}/mpi.c"
                  OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "# [0-9]+ \"([^\"]+)/mpi\\.h\"" found "${text}")
  set(${var} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

function(cresta_interfaces_here var)
  execute_process(COMMAND "${root}/tools/mpis.sh" OUTPUT_VARIABLE lines
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" lines "${lines}")
  set(found "")
  foreach(line IN LISTS lines)
    string(REPLACE " " ";" words "${line}")
    list(GET words 1 wrapper)
    cresta_interface_of(name "${wrapper}")
    cresta_include_of(include "${wrapper}")
    if(name AND include)
      list(APPEND found "${name}=${include}")
    endif()
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "no MPI found: looked for mpicc.openmpi, mpicc.mpich and mpicc. "
                        "crestacoll needs the mpi.h of at least one to be built")
  endif()
  set(${var} "${found}" PARENT_SCOPE)
endfunction()

# cresta_headers_of(VAR interface folder): the folder to include. Two interfaces are made of headers
# that bear another name or version: mpi_abi.h is the mpi.h of the standard's interface, and that of
# MPICH 3 is the one of MPICH 4 without what came with MPI 4.
function(cresta_headers_of var name folder)
  set(made "${CMAKE_CURRENT_BINARY_DIR}/include/${name}")
  set(${var} "${folder}" PARENT_SCOPE)
  if(name STREQUAL "mpiabi" AND EXISTS "${folder}/mpi_abi.h")
    file(CONFIGURE OUTPUT "${made}/mpi.h" CONTENT
"#include \"${folder}/mpi_abi.h\"\n#include \"${CMAKE_CURRENT_SOURCE_DIR}/mpiabi.h\"\n")
    set(${var} "${made}" PARENT_SCOPE)
  elseif(name STREQUAL "mpich-3")
    # Nothing is written that is there already: all is compiled anew for it.
    file(COPY "${folder}/" DESTINATION "${made}" FILES_MATCHING PATTERN "mpi?*.h")
    configure_file("${folder}/mpi.h" "${made}/mpi_4.h" COPYONLY)
    file(CONFIGURE OUTPUT "${made}/mpi.h" CONTENT
"#include \"mpi_4.h\"
#undef MPI_VERSION
#undef MPI_SUBVERSION
#define MPI_VERSION 3
#define MPI_SUBVERSION 1
")
    set(${var} "${made}" PARENT_SCOPE)
  endif()
endfunction()
