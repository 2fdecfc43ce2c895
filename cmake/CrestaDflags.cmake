# SPDX-License-Identifier: BSD-3-Clause
# CRESTA_DFLAGS, the flags of the original library, become the built-in choice CRESTA_DEFAULT_IMPL
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

set(CRESTA_DEFAULT_IMPL "")
if(CRESTA_DFLAGS)
  find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
  cresta_dflags(CRESTA_DEFAULT_IMPL)
  if(CRESTA_DEFAULT_IMPL)
    target_compile_definitions(cresta_flags INTERFACE
      "CCO_DEFAULT_IMPL=\"${CRESTA_DEFAULT_IMPL}\"")
  endif()
  cresta_dflags(definitions --definitions)
  string(REPLACE "\n" ";" definitions "${definitions}")
  list(TRANSFORM definitions REPLACE "^([^=]+)=(.*)$" "\\1=\"\\2\"")
  target_compile_definitions(cresta_flags INTERFACE ${definitions})
  if(" ${CRESTA_DFLAGS} " MATCHES " -D_PROTECTED_BUFFER ")
    target_compile_definitions(cresta_flags INTERFACE CCO_PROTECTED_BUFFER)
  endif()
  message(STATUS "crestacoll: built-in choice ${CRESTA_DEFAULT_IMPL} ${definitions}")
endif()
