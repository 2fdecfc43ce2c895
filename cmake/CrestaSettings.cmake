# SPDX-License-Identifier: BSD-3-Clause
# Build type, output folders and flags shared by everything in the tree.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "build type" FORCE)
endif()
# CMake's own RelWithDebInfo means -O2 and NDEBUG; a library on the path of every message earns
# -O3. No -march=native:
# the machine that builds is often not the one that runs.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3")
if(CRESTA_DEBUG_INFO)
  string(APPEND CMAKE_C_FLAGS_RELWITHDEBINFO " -g")
endif()
set(CMAKE_Fortran_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CRESTA_MODULE_DIR "${PROJECT_BINARY_DIR}/mod")
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
# What is installed has it in the build folder too, where bin and lib lie beside each other as well.
# A path of its own there, which cmake edits at the installation, would end with colons: each of
# them means the current folder, where anybody may have put a library.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
list(APPEND CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
list(REMOVE_DUPLICATES CMAKE_INSTALL_RPATH)

if(CRESTA_SANITIZE) # whatever they find ends the program, so that its test fails
  add_compile_options(-fsanitize=${CRESTA_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CRESTA_SANITIZE})
endif()

if(CRESTA_MPI_INCLUDE)       # of a wheel: no names but those that the loader needs
  add_link_options(-s)
  set(CMAKE_INSTALL_RPATH "")
endif()

# What every C file of the libraries is compiled with.
add_library(cresta_flags INTERFACE)
target_compile_definitions(cresta_flags INTERFACE _GNU_SOURCE=)
target_compile_options(cresta_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Werror=implicit-function-declaration;-fvisibility=hidden>"
  "$<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${CRESTA_WERROR}>>:-Werror>"
  -ftls-model=initial-exec)
