# SPDX-License-Identifier: BSD-3-Clause
# The loops of reductions, once for each instruction set; src/reduce/kernels.c chooses when it runs.
# Gives the objects cresta_kernels, which know no MPI, and CRESTA_AVX if there is a choice.
set(loops "${PROJECT_SOURCE_DIR}/src/reduce/kernels")
set(CRESTA_AVX OFF)
set(flags -O3)               # whatever the build type: without it loops are not vectorised
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  # The same roundings everywhere: src/reduce/kernels/loops.inc says why.
  list(APPEND flags -fopenmp-simd -ffp-contract=off)
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    list(APPEND flags -Wno-pass-failed)      # no processor has vectors of long double
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    set(CRESTA_AVX ON)
  endif()
endif()

add_library(cresta_kernels OBJECT "${loops}/baseline.c")
if(CRESTA_AVX)
  target_sources(cresta_kernels PRIVATE "${loops}/avx2.c" "${loops}/avx512.c")
  set_source_files_properties("${loops}/avx2.c" PROPERTIES COMPILE_OPTIONS "-mavx2;-mtune=haswell")
  set_source_files_properties("${loops}/avx512.c" PROPERTIES COMPILE_OPTIONS
    "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mprefer-vector-width=512")
endif()
target_include_directories(cresta_kernels PRIVATE "${PROJECT_SOURCE_DIR}/src")
target_compile_options(cresta_kernels PRIVATE -Wconversion -Wno-sign-conversion ${flags})
target_link_libraries(cresta_kernels PRIVATE cresta_flags)
set_target_properties(cresta_kernels PROPERTIES POSITION_INDEPENDENT_CODE ON)
