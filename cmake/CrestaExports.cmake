# SPDX-License-Identifier: BSD-3-Clause
# Symbol versions of libcrestacoll.so, from the list of what it exports (api/exports/). A name has
# the version CRESTACOLL_x.y in which it came; names of the MPI (MPI_Init, mpi_wait_) have none:
# tools that interpose too, and programs that know only the MPI, must find them.

# openmpi4, mpich4: for which MPI a line of the list stands; without Fortran there are fewer names.
set(numbers "")
foreach(folder IN LISTS MPI_C_INCLUDE_DIRS)
  if(EXISTS "${folder}/mpi.h")
    file(STRINGS "${folder}/mpi.h" found
         REGEX "^# *define +(OMPI_MAJOR_VERSION|MPICH_VERSION) +\"?[0-9]+")
    list(APPEND numbers ${found})
  endif()
endforeach()
string(REGEX REPLACE "^[^;]*VERSION +\"?([0-9]+).*" "\\1" major "${numbers}")
set(name "${CRESTA_MPI_FAMILY}${major}")
if(NOT CRESTA_FORTRAN)
  string(APPEND name "-c")
endif()
set(CRESTA_MPI_NAME "${name}" CACHE INTERNAL "the MPI in api/exports")

# Versions in rising order, each a node that has the one before it as its parent.
set(list "${PROJECT_SOURCE_DIR}/api/exports/libcrestacoll.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
file(STRINGS "${list}" lines REGEX "^(CRESTA|cresta)_")
set(versions "")
foreach(line IN LISTS lines)
  string(REPLACE " " ";" words "${line}")
  list(GET words 0 name)
  list(GET words 1 version)
  list(APPEND versions ${version})
  string(APPEND names_${version} "    ${name};\n")
endforeach()
list(REMOVE_DUPLICATES versions)
list(SORT versions COMPARE NATURAL)
set(text "")
set(before "")
foreach(version IN LISTS versions)
  string(APPEND text "CRESTACOLL_${version} {\n${names_${version}}}${before};\n")
  set(before " CRESTACOLL_${version}")
endforeach()
set(CRESTA_VERSION_SCRIPT "${PROJECT_BINARY_DIR}/libcrestacoll.map")
file(CONFIGURE OUTPUT "${CRESTA_VERSION_SCRIPT}" CONTENT "${text}" @ONLY)

# It names what other MPIs have, too, which some linkers do not like.
include(CheckLinkerFlag)
check_linker_flag(C "LINKER:--undefined-version" CRESTA_UNDEFINED_VERSION)
set(options "LINKER:--version-script=${CRESTA_VERSION_SCRIPT}")
if(CRESTA_UNDEFINED_VERSION)
  list(APPEND options "LINKER:--undefined-version")
endif()
target_link_options(crestacoll_shared PRIVATE ${options})
set_property(TARGET crestacoll_shared APPEND PROPERTY LINK_DEPENDS "${CRESTA_VERSION_SCRIPT}")
