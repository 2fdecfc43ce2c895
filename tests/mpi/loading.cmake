# SPDX-License-Identifier: BSD-3-Clause
# Programs for tests/python/test_library_off.py, and for others of what a process is loaded with.
cresta_plain_program(off off.c)
cresta_test_program(off_linked off.c)
target_compile_definitions(off_linked PRIVATE LINKED)
target_link_libraries(off PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(off_linked PRIVATE ${CMAKE_DL_LIBS})
cresta_plain_program(own_init own_init.c)
cresta_test_program(own_init_linked own_init.c)
target_compile_definitions(own_init_linked PRIVATE LINKED)

add_executable(opened opened.c)     # not linked to the MPI
target_include_directories(opened PRIVATE ${MPI_C_INCLUDE_DIRS})
target_link_libraries(opened PRIVATE ${CMAKE_DL_LIBS})
