# SPDX-License-Identifier: BSD-3-Clause
# The MPI of this build folder. Chosen by -DMPI_C_COMPILER=mpicc.openmpi (and
# MPI_Fortran_COMPILER), or the first one found.
# Gives MPI::MPI_C, MPI::MPI_Fortran, CRESTA_MPI_FAMILY (openmpi or mpich), cresta_mpi_test().

include(CheckCSourceCompiles)
include(CheckIncludeFile)
include(CheckLanguage)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# FindMPI looks for a launcher called mpiexec, which may belong to another MPI than mpicc.mpich
# does:
# prefer the one whose name differs from the compiler's in just that word.
function(cresta_find_launcher)
  if(MPIEXEC_EXECUTABLE OR NOT MPI_C_COMPILER)
    return()
  endif()
  find_program(compiler "${MPI_C_COMPILER}" NO_CACHE)
  get_filename_component(folder "${compiler}" DIRECTORY)
  get_filename_component(name "${compiler}" NAME)
  string(REGEX REPLACE "^mpi(i?cc|gcc)" "mpiexec" name "${name}")
  if(EXISTS "${folder}/${name}")
    set(MPIEXEC_EXECUTABLE "${folder}/${name}" CACHE FILEPATH "launcher of this MPI")
  endif()
endfunction()

# cresta_header_defines(VAR MACRO): does crestacoll.h, which includes mpi.h, define MACRO?
function(cresta_header_defines var macro)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
  set(CMAKE_REQUIRED_INCLUDES "${PROJECT_SOURCE_DIR}/include")
  set(CMAKE_REQUIRED_QUIET ON)
  check_c_source_compiles("
    #include <crestacoll.h>
    #ifndef ${macro}
    #error no
    #endif
    int main(void) { return 0; }" ${var})
endfunction()

function(cresta_find_family)
  cresta_header_defines(CRESTA_MPI_IS_OPENMPI OPEN_MPI)
  cresta_header_defines(CRESTA_MPI_IS_MPICH MPICH_VERSION)
  cresta_header_defines(CRESTA_MPI_IS_INTEL I_MPI_VERSION)
  cresta_header_defines(CRESTA_MPI_IS_ABI MPI_ABI_VERSION)
  if(CRESTA_MPI_IS_OPENMPI)
    set(family openmpi)
  elseif(CRESTA_MPI_IS_MPICH OR CRESTA_MPI_IS_INTEL)
    set(family mpich)        # Intel MPI and MVAPICH share MPICH's binary interface
  elseif(CRESTA_MPI_IS_ABI)
    set(family abi)          # the binary interface of the standard (MPI-5.0, chapter 20)
  else()
    message(FATAL_ERROR "crestacoll knows Open MPI, MPICH (and what descends from it) and the "
                        "MPI ABI; the mpi.h of ${MPI_C_COMPILER}${CRESTA_MPI_INCLUDE} is neither")
  endif()
  set(CRESTA_MPI_FAMILY ${family} PARENT_SCOPE)
endfunction()

# Fortran takes part if asked for, if there is a compiler, and if this MPI has bindings for it.
macro(cresta_find_fortran)
  if(CRESTA_FORTRAN)
    check_language(Fortran)
    if(CMAKE_Fortran_COMPILER)
      enable_language(Fortran)
      find_package(MPI QUIET COMPONENTS Fortran)
    endif()
    if(NOT MPI_Fortran_FOUND)
      message(STATUS "crestacoll: no Fortran for this MPI; building for C only")
      set(CRESTA_FORTRAN OFF)
    endif()
  endif()
endmacro()

# What a wheel takes is linked to no MPI, and needs its mpi.h only; of Fortran, a compiler that
# knows array descriptors, for the symbols of MPICH's mpi_f08.
macro(cresta_take_headers)
  set(MPI_C_INCLUDE_DIRS "${CRESTA_MPI_INCLUDE}")
  foreach(language IN ITEMS C Fortran)
    add_library(MPI::MPI_${language} INTERFACE IMPORTED)
    target_include_directories(MPI::MPI_${language} INTERFACE "${CRESTA_MPI_INCLUDE}")
  endforeach()
  cresta_find_family()
  set(CRESTA_FORTRAN OFF)
  check_language(Fortran)
  if(CRESTA_MPI_FAMILY STREQUAL "mpich" AND CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
  endif()
endmacro()

# The header of gfortran, if the C compiler has none: alone, since the folder has headers of
# another compiler.
function(cresta_take_descriptors)
  check_include_file(ISO_Fortran_binding.h CRESTA_HAVE_DESCRIPTORS)
  if(NOT CRESTA_HAVE_DESCRIPTORS)
    find_program(CRESTA_GCC NAMES gfortran gcc REQUIRED)
    execute_process(COMMAND "${CRESTA_GCC}" -print-file-name=include/ISO_Fortran_binding.h
                    OUTPUT_VARIABLE header OUTPUT_STRIP_TRAILING_WHITESPACE)
    configure_file("${header}" "${PROJECT_BINARY_DIR}/descriptors/ISO_Fortran_binding.h" COPYONLY)
    target_include_directories(cresta_flags SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/descriptors")
  endif()
endfunction()

if(CRESTA_MPI_INCLUDE)
  cresta_take_headers()
  cresta_take_descriptors()
else()
  cresta_find_launcher()
  find_package(MPI REQUIRED COMPONENTS C)
  cresta_find_family()
  cresta_find_fortran()
endif()
message(STATUS "crestacoll: ${CRESTA_MPI_FAMILY} (${MPI_C_COMPILER}), "
               "launcher ${MPIEXEC_EXECUTABLE}, Fortran ${CRESTA_FORTRAN}")

# Debian's CI containers run as root, and have fewer cores than tests have ranks. Ranks of Open MPI
# give way by themselves only where they are more than the cores; here others run beside.
set(CRESTA_TEST_ENV "")
set(CRESTA_LAUNCH "${MPIEXEC_EXECUTABLE}")
if(CRESTA_MPI_FAMILY STREQUAL "openmpi")
  list(APPEND CRESTA_LAUNCH --oversubscribe)
  set(CRESTA_TEST_ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
                      PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
                      OMPI_MCA_mpi_yield_when_idle=1)
endif()
if(CRESTA_SANITIZE) # the MPIs themselves keep memory until exit; the preload library comes first
  list(APPEND CRESTA_TEST_ENV ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0)
endif()

# cresta_mpi_test(NAME n RANKS r COMMAND target args...
#                 [ENV A=1 ...] [TIMEOUT s] [LABELS l ...] [PRELOAD] [BESIDE])
# runs a target (or a program) on r ranks of this MPI. It passes when it exits with 0. PRELOAD:
# under the preload library, in the ranks only. TIMEOUT: of what computes for more than a second or
# two, several times what it takes; it counts for its ranks, two at most, of the jobs of ctest
# (tools/check.py). Others are over when the MPI has launched them, which is to wait most of the
# time, and count for one. So do those with a TIMEOUT that wait for other ranks or for time to pass,
# BESIDE. All get six times as long, more than their own watchdog (tests/testing/testing.h): the
# machine may have other load. Ranks give their cores away while they wait (tests/mpi/gives_way.c),
# except where ENV preloads something else.
function(cresta_mpi_test)
  cmake_parse_arguments(T "PRELOAD;BESIDE" "NAME;RANKS;TIMEOUT" "COMMAND;ENV;LABELS" ${ARGN})
  list(POP_FRONT T_COMMAND program)
  if(TARGET ${program})
    set(program "$<TARGET_FILE:${program}>")
  endif()
  set(cores ${T_RANKS})
  if(cores GREATER 2)
    set(cores 2)
  endif()
  if(T_BESIDE OR NOT T_TIMEOUT)
    set(cores 1)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  math(EXPR T_TIMEOUT "6 * ${T_TIMEOUT}")
  set(preload "")
  if(T_PRELOAD)
    list(APPEND preload "$<TARGET_FILE:crestacoll_preload>")
  endif()
  if(NOT T_ENV MATCHES "LD_PRELOAD=")
    list(APPEND preload "$<TARGET_FILE:gives_way>")
  endif()
  string(JOIN ":" preload ${preload})
  if(preload AND CRESTA_MPI_FAMILY STREQUAL "openmpi")
    set(preload -x "LD_PRELOAD=${preload}")
  elseif(preload)
    set(preload -genv LD_PRELOAD "${preload}")
  endif()
  add_test(NAME ${T_NAME} COMMAND ${CRESTA_LAUNCH} ${preload} -n ${T_RANKS} ${program} ${T_COMMAND})
  set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${T_TIMEOUT} PROCESSORS ${cores}
    ENVIRONMENT "${CRESTA_TEST_ENV};${T_ENV}" LABELS "mpi;${T_LABELS}")
endfunction()

# What is built knows where its MPI is, if the loader does not.
foreach(library IN LISTS MPI_C_LIBRARIES MPI_Fortran_LIBRARIES)
  get_filename_component(folder "${library}" DIRECTORY)
  if(IS_ABSOLUTE "${folder}" AND NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    list(APPEND CMAKE_INSTALL_RPATH "${folder}")
  endif()
endforeach()
list(REMOVE_DUPLICATES CMAKE_INSTALL_RPATH)
