# SPDX-License-Identifier: BSD-3-Clause
# libcrestacoll-caf.so: the coarrays of model caf, a plug-in that the libraries load when it is
# asked for. Needs gfortran, and OpenCoarrays for this MPI.

set(CRESTA_COARRAYS OFF)
if(NOT CRESTA_FORTRAN OR NOT CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
  message(STATUS "crestacoll: no coarrays: they take gfortran")
  return()
endif()

# Debian names the library after its MPI. One by the name of libcaf_mpi may be of any: say which, by
# -DCRESTA_CAF_LIBRARY=.
find_library(CRESTA_CAF_LIBRARY NAMES caf_${CRESTA_MPI_FAMILY}
             PATH_SUFFIXES open-coarrays/${CRESTA_MPI_FAMILY}/lib
             DOC "OpenCoarrays for this MPI")
if(CRESTA_CAF_LIBRARY)
  set(CRESTA_COARRAYS ON)
  message(STATUS "crestacoll: coarrays by ${CRESTA_CAF_LIBRARY}")
else()
  message(STATUS "crestacoll: no coarrays: no OpenCoarrays for ${CRESTA_MPI_FAMILY} "
                 "(-DCRESTA_CAF_LIBRARY=)")
  return()
endif()

add_library(crestacoll_caf MODULE "${PROJECT_SOURCE_DIR}/fortran/caf/coarray.f90"
            "${PROJECT_SOURCE_DIR}/fortran/caf/bytes.f90")
# bytes.f90 must not be optimised together with coarray.f90: see there.
target_compile_options(crestacoll_caf PRIVATE -fcoarray=lib -fno-lto -Wall -Wextra)
target_link_libraries(crestacoll_caf PRIVATE "${CRESTA_CAF_LIBRARY}")
target_link_options(crestacoll_caf PRIVATE
  "LINKER:--version-script=${PROJECT_SOURCE_DIR}/fortran/caf/exports.map")
set_target_properties(crestacoll_caf PROPERTIES
  OUTPUT_NAME crestacoll-caf LINKER_LANGUAGE Fortran POSITION_INDEPENDENT_CODE ON
  INSTALL_RPATH_USE_LINK_PATH ON Fortran_MODULE_DIRECTORY "${PROJECT_BINARY_DIR}/caf-mod"
  LINK_DEPENDS "${PROJECT_SOURCE_DIR}/fortran/caf/exports.map")
