# SPDX-License-Identifier: BSD-3-Clause
# Programs for tests/python/test_library_off.py, and for others of what a process is loaded with.
cresta_plain_program(off off.c)
cresta_test_program(off_linked off.c)
target_compile_definitions(off_linked PRIVATE LINKED)
target_link_libraries(off PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(off_linked PRIVATE ${CMAKE_DL_LIBS})
