# SPDX-License-Identifier: BSD-3-Clause
# The programs of crestacoll, and what a wheel takes of this build: wheel/CMakeLists.txt puts the
# builds of all MPIs together. Target wheel-parts: the preload library, and each program as a
# library that is linked to no MPI. Target wheel-free: the programs that need none, which are the
# same in all builds.

add_custom_target(wheel-parts DEPENDS crestacoll_preload)
add_custom_target(wheel-free)
add_library(cresta_entry OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/wheel/entry.c")
set_target_properties(cresta_entry PROPERTIES POSITION_INDEPENDENT_CODE ON)

# cresta_program(NAME LINKED|INSIDE|PLAIN|FREE source...): a program. LINKED to crestacoll as a
# user's is; INSIDE: it needs what the library does not export; PLAIN: linked to the MPI alone, or
# FREE of it. Gives NAME_objects, whose flags and sources are the program's, and NAME.
function(cresta_program name kind)
  set(libraries ${CRESTA_LIBRARIES_${kind}})
  set(sources ${ARGN})
  set(objects ${ARGN})
  list(FILTER sources EXCLUDE REGEX TARGET_OBJECTS)
  list(FILTER objects INCLUDE REGEX TARGET_OBJECTS)
  if(sources)
    add_library(${name}_objects OBJECT ${sources})
    set_target_properties(${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
    if(kind STREQUAL "INSIDE")
      cresta_compile(${name}_objects)
    endif()
    target_link_libraries(${name}_objects PRIVATE ${libraries})
    list(APPEND objects $<TARGET_OBJECTS:${name}_objects>)
  endif()
  if(kind STREQUAL "FREE" OR NOT CRESTA_MPI_INCLUDE)
    add_executable(${name} ${objects})
    target_link_libraries(${name} PRIVATE ${libraries})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  endif()
  if(kind STREQUAL "FREE")
    add_dependencies(wheel-free ${name})
  else()
    cresta_wheel_program(${name} ${kind} ${objects})
  endif()
endfunction()

# A program as a library, which wheel/start.c starts.
function(cresta_wheel_program name kind)
  add_library(${name}_wheel MODULE EXCLUDE_FROM_ALL $<TARGET_OBJECTS:cresta_entry> ${ARGN})
  if(NOT kind STREQUAL "PLAIN")      # its own MPI_Init goes before the MPI's
    target_sources(${name}_wheel PRIVATE ${CRESTA_OBJECTS} $<TARGET_OBJECTS:cresta_linked>)
    target_link_options(${name}_wheel PRIVATE -Wl,-Bsymbolic)
  endif()
  target_link_options(${name}_wheel PRIVATE -Wl,--as-needed -Wl,-z,lazy)
  target_link_libraries(${name}_wheel PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
  set_target_properties(${name}_wheel PROPERTIES PREFIX "" OUTPUT_NAME ${name} LINKER_LANGUAGE C
    INSTALL_RPATH "" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/wheel")
  add_dependencies(wheel-parts ${name}_wheel)
endfunction()

set(CRESTA_LIBRARIES_LINKED crestacoll::c MPI::MPI_C Threads::Threads m cresta_flags)
set(CRESTA_LIBRARIES_INSIDE crestacoll::static m)
set(CRESTA_LIBRARIES_PLAIN MPI::MPI_C)
set(CRESTA_LIBRARIES_FREE cresta_flags m)
