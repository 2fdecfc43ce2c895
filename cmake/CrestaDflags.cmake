# SPDX-License-Identifier: BSD-3-Clause
# CRESTA_DFLAGS, the flags of the original library, become the built-in choice CCO_DEFAULT_IMPL
# (a spec), where models keep their memory if no variable says it (CCO_DEFAULT_x), and whether send
# buffers of begins are protected (CCO_PROTECTED_BUFFER).

# cresta_dflags(VAR option...): what tools/dflags.py makes of them.
function(cresta_dflags var)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/dflags.py" ${ARGN}
            --mpicc "${MPI_C_COMPILER}" -- "${CRESTA_DFLAGS}"
    OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE why RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${why}")
  endif()
  set(${var} "${text}" PARENT_SCOPE)
endfunction()

# The files that read it: another choice compiles no others. tools/check_rooms.py keeps this true.
set(CRESTA_BUILT_IN src/config/config.c src/config/settings.c src/tune/choose.c bench/describe.c)
list(TRANSFORM CRESTA_BUILT_IN PREPEND "${PROJECT_SOURCE_DIR}/")

# CRESTA_CHOICE: definitions for these files. A property of a file holds in one folder only, so that
# bench/ sets it, too.
set(CRESTA_CHOICE "")
if(CRESTA_DFLAGS)
  find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
  cresta_dflags(default_impl)
  if(default_impl)
    list(APPEND CRESTA_CHOICE "CCO_DEFAULT_IMPL=\"${default_impl}\"")
  endif()
  cresta_dflags(definitions --definitions)
  string(REPLACE "\n" ";" definitions "${definitions}")
  list(TRANSFORM definitions REPLACE "^([^=]+)=(.*)$" "\\1=\"\\2\"")
  list(APPEND CRESTA_CHOICE ${definitions})
  if(" ${CRESTA_DFLAGS} " MATCHES " -D_PROTECTED_BUFFER ")
    list(APPEND CRESTA_CHOICE CCO_PROTECTED_BUFFER)
  endif()
  message(STATUS "crestacoll: built-in choice ${CRESTA_CHOICE}")
  set_property(SOURCE ${CRESTA_BUILT_IN} APPEND PROPERTY COMPILE_DEFINITIONS ${CRESTA_CHOICE})
endif()
