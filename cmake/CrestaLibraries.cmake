# SPDX-License-Identifier: BSD-3-Clause
# The libraries. A new file in one of the folders below is found by itself; nothing lists it.
#
#   crestacoll_static, crestacoll_shared   libcrestacoll: linked; CRESTA_x and a small interposer
#   of MPI_Init
#   crestacoll_preload                     libcrestacoll-preload.so: the same and every collective
#   MPI_x
#   crestacoll::c                          what a C program links to
#   crestacoll::fortran                    the same, and module crestacoll

set(src "${PROJECT_SOURCE_DIR}/src")
set(for "${PROJECT_SOURCE_DIR}/fortran")
set(generated "${PROJECT_SOURCE_DIR}/generated")

file(GLOB CRESTA_COUNTED CONFIGURE_DEPENDS
     ${src}/base/*.c ${src}/config/*.c ${src}/mpi/*.c ${src}/call/*.c ${src}/comm/*.c
     ${src}/wait/*.c ${src}/reduce/*.c ${src}/profile/*.c ${src}/hang/*.c
     ${src}/io/*.c ${src}/sched/*.c ${src}/algo/*.c ${src}/algo/*/*.c ${src}/transport/*/*.c
     ${src}/native/*.c ${src}/plan/*.c ${src}/model/*.c ${src}/progress/*.c ${src}/tune/*.c
     ${src}/record/*.c ${src}/race/*.c ${src}/validate/*.c ${src}/rollcall/*.c ${src}/match/*.c
     ${src}/observe/*.c ${generated}/native/*.c
     ${src}/shmem/*.c ${src}/window/*.c)
file(GLOB CRESTA_ENTRIES CONFIGURE_DEPENDS
     ${src}/process/*.c ${src}/split/*.c ${src}/extensions/*.c
     ${src}/api/*.c ${generated}/api/*.c ${src}/interpose/init.c ${src}/interpose/wait.c
     ${src}/interpose/blocking.c ${src}/interpose/comms.c ${src}/interpose/io.c
     ${src}/interpose/windows.c
     ${for}/entries_*.c ${generated}/fortran/entries_*.c ${for}/handles.c
     ${for}/section.c)
file(GLOB CRESTA_WRAPPERS CONFIGURE_DEPENDS ${src}/interpose/*.c ${generated}/interpose/*.c)
list(REMOVE_ITEM CRESTA_WRAPPERS "${src}/interpose/init.c" "${src}/interpose/wait.c"
     "${src}/interpose/blocking.c" "${src}/interpose/comms.c" "${src}/interpose/io.c"
     "${src}/interpose/windows.c")

# Sizes are counted with size_t and MPI_Count there (style rule 19); entry points take the int of
# the MPI interface.
set_source_files_properties(${CRESTA_COUNTED} PROPERTIES
  COMPILE_OPTIONS "-Wconversion;-Wno-sign-conversion")
if(CRESTA_AVX)
  set_property(SOURCE ${src}/reduce/kernels.c APPEND PROPERTY COMPILE_DEFINITIONS CRESTA_AVX)
endif()

# What is loaded may be in another folder than libcrestacoll, which finds it all the same.
file(RELATIVE_PATH loaded "/${CMAKE_INSTALL_LIBDIR}" "/${CRESTA_PRELOAD_DIR}")
if(loaded)
  set_property(SOURCE ${src}/transport/caf/plugin.c APPEND PROPERTY COMPILE_DEFINITIONS
               "CRESTA_PLUGIN_DIR=\"${loaded}/\"")
endif()

# Fortran programs reach their MPI by different symbols in each family: interpose_openmpi* and
# interpose_mpich* are of one.
if(CRESTA_FORTRAN OR CRESTA_MPI_INCLUDE)
  file(GLOB wrappers CONFIGURE_DEPENDS ${for}/interpose_*.F90
       ${generated}/fortran/interpose_*.c ${generated}/fortran/interpose_*.F90)
  foreach(other IN ITEMS openmpi mpich)
    if(NOT other STREQUAL CRESTA_MPI_FAMILY)
      list(FILTER wrappers EXCLUDE REGEX "/interpose_${other}[^/]*$")
    endif()
  endforeach()
  if(NOT CMAKE_Fortran_COMPILER)
    list(FILTER wrappers EXCLUDE REGEX "[.]F90$")
  endif()
  list(APPEND CRESTA_WRAPPERS ${wrappers})
  # The Fortran preprocessor cannot read crestacoll.h, which knows what this MPI has.
  foreach(macro IN ITEMS CRESTA_HAVE_PERSISTENT CRESTA_HAVE_LARGE_COUNT)
    cresta_header_defines(${macro}_DEFINED ${macro})
    if(${macro}_DEFINED)
      set_property(SOURCE ${wrappers} APPEND PROPERTY COMPILE_DEFINITIONS ${macro}=1)
    endif()
  endforeach()
endif()

function(cresta_compile target)
  target_include_directories(${target} PRIVATE
    "${src}" "${for}" "${PROJECT_SOURCE_DIR}/include" ${MPI_C_INCLUDE_DIRS})
  target_include_directories(${target} SYSTEM PRIVATE "${PROJECT_SOURCE_DIR}/third_party/jsmn")
  target_compile_definitions(${target} PRIVATE ${MPI_C_COMPILE_DEFINITIONS})
  target_link_libraries(${target} PRIVATE cresta_flags)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# What differs between the libraries, by CRESTA_PRELOAD (tools/check_rooms.py keeps the list true);
# the objects of all other files are of both.
set(CRESTA_DIFFERING ${src}/process/process.c ${src}/process/progress.c
    ${src}/split/split.c ${src}/comm/facts.c ${src}/base/next.c)
include(CrestaSchedules)     # algorithms, for tools and tests too; and the simulator
set(CRESTA_COMMON ${CRESTA_COUNTED} ${CRESTA_ENTRIES})
list(REMOVE_ITEM CRESTA_COMMON ${CRESTA_DIFFERING} ${CRESTA_SCHEDULES})
set(CRESTA_OBJECTS $<TARGET_OBJECTS:cresta_objects> $<TARGET_OBJECTS:cresta_schedules>
    $<TARGET_OBJECTS:cresta_kernels>)

# --- libcrestacoll ----------------------------------------------------------------------
add_library(cresta_objects OBJECT ${CRESTA_COMMON})
cresta_compile(cresta_objects)
add_library(cresta_linked OBJECT ${CRESTA_DIFFERING})
cresta_compile(cresta_linked)

foreach(kind IN ITEMS static shared)
  string(TOUPPER ${kind} KIND)
  add_library(crestacoll_${kind} ${KIND} ${CRESTA_OBJECTS}
              $<TARGET_OBJECTS:cresta_linked>)
  target_link_libraries(crestacoll_${kind}
    PUBLIC MPI::MPI_C PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
  target_include_directories(crestacoll_${kind} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  set_target_properties(crestacoll_${kind} PROPERTIES
    OUTPUT_NAME "crestacoll${CRESTA_SUFFIX}" EXPORT_NAME ${kind} LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION 0)
endforeach()
# MPI_Init has to be ours, but CMake puts libraries in an order of its own, often behind the MPI's.
# Options come before all of them; --undefined takes the interposer out of the archive there.
target_link_options(crestacoll_shared INTERFACE
  "LINKER:--push-state,--no-as-needed" "$<TARGET_FILE:$<TARGET_NAME:crestacoll_shared>>"
  "LINKER:--pop-state")
target_link_options(crestacoll_static INTERFACE
  "LINKER:--undefined=MPI_Init,--undefined=mpi_init_f08_"
  "LINKER:--undefined=MPI_Wait,--undefined=mpi_wait_f08_,--undefined=MPI_Recv"
  "LINKER:--undefined=MPI_File_open,--undefined=mpi_file_open_f08_"
  "LINKER:--undefined=MPI_Accumulate,--undefined=MPI_Comm_free,--undefined=mpi_comm_free_f08_"
  "$<TARGET_FILE:$<TARGET_NAME:crestacoll_static>>")
add_library(crestacoll::c ALIAS crestacoll_shared)
add_library(crestacoll::static ALIAS crestacoll_static)
add_library(crestacoll::shared ALIAS crestacoll_shared)

# --- libcrestacoll-preload.so -----------------------------------------------------------
# Not linked to libmpi: it takes the one of the process, and must do no harm in a process that has
# none (mpiexec, a shell), hence lazy binding.
add_library(crestacoll_preload SHARED ${CRESTA_DIFFERING} ${CRESTA_WRAPPERS}
            ${CRESTA_OBJECTS})
cresta_compile(crestacoll_preload)
target_compile_definitions(crestacoll_preload PRIVATE CRESTA_PRELOAD)
target_link_options(crestacoll_preload PRIVATE -Wl,--as-needed -Wl,-z,lazy)
target_link_libraries(crestacoll_preload PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
set_target_properties(crestacoll_preload PROPERTIES
  OUTPUT_NAME crestacoll-preload EXPORT_NAME preload LINKER_LANGUAGE C)

if(CRESTA_FORTRAN)
  target_include_directories(crestacoll_preload PRIVATE
    "$<$<COMPILE_LANGUAGE:Fortran>:${MPI_Fortran_INCLUDE_DIRS}>")
  set_target_properties(crestacoll_preload PROPERTIES
    Fortran_MODULE_DIRECTORY "${PROJECT_BINARY_DIR}/preload-mod")
endif()

# --- modules crestacoll, cresta_sp_coll, cresta_multisend ------------------------------------
file(GLOB CRESTA_MODULES CONFIGURE_DEPENDS ${generated}/fortran/*.f90)
if(CRESTA_FORTRAN AND CRESTA_MODULES AND NOT CRESTA_MPI_INCLUDE)
  # Interfaces only: no program needs its objects.
  add_library(cresta_module OBJECT ${CRESTA_MODULES})
  target_link_libraries(cresta_module PRIVATE MPI::MPI_Fortran)
  set_target_properties(cresta_module PROPERTIES
    Fortran_MODULE_DIRECTORY "${CRESTA_MODULE_DIR}")

  add_library(crestacoll_fortran INTERFACE)
  target_link_libraries(crestacoll_fortran INTERFACE crestacoll_shared MPI::MPI_Fortran)
  target_include_directories(crestacoll_fortran INTERFACE "$<BUILD_INTERFACE:${CRESTA_MODULE_DIR}>")
  add_dependencies(crestacoll_fortran cresta_module)
  add_library(crestacoll::fortran ALIAS crestacoll_fortran)
endif()
