# SPDX-License-Identifier: BSD-3-Clause
# The installed tree: libraries, headers, module, programs, find_package and pkg-config files.
# One tree belongs to one MPI; with CRESTA_SUFFIX several share a prefix.

include(CMakePackageConfigHelpers)
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/crestacoll${CRESTA_SUFFIX}")

install(TARGETS crestacoll_static crestacoll_shared EXPORT crestacollTargets)
install(TARGETS crestacoll_preload crestacoll_calls LIBRARY DESTINATION "${CRESTA_PRELOAD_DIR}")
if(TARGET crestacoll_caf)
  install(TARGETS crestacoll_caf LIBRARY DESTINATION "${CRESTA_PRELOAD_DIR}")
endif()
if(TARGET crestacoll_python) # where bin/crestacoll and python/crestacoll/_link.py look for it
  install(TARGETS crestacoll_python LIBRARY DESTINATION "${CRESTA_PRELOAD_DIR}/python")
endif()
install(FILES include/crestacoll.h include/crestacoll_proto.h include/cresta_sp_coll.h
              include/cresta_sp_coll_proto.h include/cresta_multisend.h include/crestacoll_shmem.h
              include/crestacoll_shmem_proto.h TYPE INCLUDE)
install(FILES include/crestacoll/shmem.h
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/crestacoll")
if(CRESTA_TOOLS)
  install(TARGETS ${CRESTA_TOOLS} RUNTIME)
endif()
if(TARGET cresta_module)
  install(FILES "${CRESTA_MODULE_DIR}/crestacoll.mod" "${CRESTA_MODULE_DIR}/cresta_sp_coll.mod"
          "${CRESTA_MODULE_DIR}/cresta_multisend.mod" TYPE INCLUDE)
endif()

# find_package(crestacoll)
install(EXPORT crestacollTargets NAMESPACE crestacoll:: DESTINATION "${config_dir}")
configure_package_config_file(cmake/crestacollConfig.cmake.in crestacollConfig.cmake
  INSTALL_DESTINATION "${config_dir}" PATH_VARS CRESTA_PRELOAD_DIR)
write_basic_package_version_file(crestacollConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/crestacollConfig.cmake"
              "${PROJECT_BINARY_DIR}/crestacollConfigVersion.cmake" DESTINATION "${config_dir}")

# pkg-config crestacoll, crestacoll-fortran. They bring the MPI's flags, so that cc is as good as
# mpicc; to mpicc they say nothing new.
function(cresta_pc_flags var prefix)
  list(TRANSFORM ARGN PREPEND "${prefix}")
  list(REMOVE_DUPLICATES ARGN)
  string(JOIN " " flags ${ARGN})
  set(${var} "${flags}" PARENT_SCOPE)
endfunction()
cresta_pc_flags(CRESTA_PC_C_CFLAGS -I ${MPI_C_INCLUDE_DIRS})
cresta_pc_flags(CRESTA_PC_C_LIBS "" ${MPI_C_LIBRARIES} ${MPI_C_LINK_FLAGS})
cresta_pc_flags(CRESTA_PC_FORTRAN_CFLAGS -I ${MPI_Fortran_INCLUDE_DIRS})
cresta_pc_flags(CRESTA_PC_FORTRAN_LIBS "" ${MPI_Fortran_LIBRARIES} ${MPI_Fortran_LINK_FLAGS})

file(RELATIVE_PATH CRESTA_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" CRESTA_PC_PREFIX "${CRESTA_PC_PREFIX}")
set(names crestacoll)
if(TARGET cresta_module)
  list(APPEND names crestacoll-fortran)
endif()
foreach(name IN LISTS names)
  string(REPLACE "crestacoll" "crestacoll${CRESTA_SUFFIX}" file "${name}.pc")
  configure_file(cmake/${name}.pc.in ${file} @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
