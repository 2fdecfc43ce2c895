# SPDX-License-Identifier: BSD-3-Clause
# CRESTA_DFLAGS, the flags of the original library, become the built-in choice CRESTA_DEFAULT_IMPL
# (a spec), and CCO_PROTECTED_BUFFER.

set(CRESTA_DEFAULT_IMPL "")
if(CRESTA_DFLAGS)
  find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/dflags.py"
            --mpicc "${MPI_C_COMPILER}" -- "${CRESTA_DFLAGS}"
    OUTPUT_VARIABLE CRESTA_DEFAULT_IMPL OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE why RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${why}")
  endif()
  target_compile_definitions(cresta_flags INTERFACE
    "CCO_DEFAULT_IMPL=\"${CRESTA_DEFAULT_IMPL}\"")
  if(" ${CRESTA_DFLAGS} " MATCHES " -D_PROTECTED_BUFFER ")
    target_compile_definitions(cresta_flags INTERFACE CCO_PROTECTED_BUFFER)
  endif()
  message(STATUS "crestacoll: built-in choice ${CRESTA_DEFAULT_IMPL}")
endif()
