/* SPDX-License-Identifier: BSD-3-Clause */
/* refuse.h - a kernel that refuses, as in a container or on a full machine, or interrupts. */
#ifndef TESTS_REFUSE_H
#define TESTS_REFUSE_H

#include <stdbool.h>

/* From now on, for this thread (files, size, descriptors, peace: this process):
 *
 * memfd        memory without a name is not made
 * size         no file may have a size
 * pages        pages of a file are not to be had
 * files        nobody opens the files of this process, nor this process those of others
 * copy         no data from process to process
 * descriptors  no file is opened: this process has as many as it may
 * peace        a signal comes all the time
 *
 * False if the kernel does not do that here, or there is no such word. */
bool refuse(const char *what);

#endif
