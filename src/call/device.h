/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - whether programs may pass buffers in a GPU's memory, which the processor must not
 * touch.  That is a property of the process, never of a pointer: a pointer is of one rank, and must
 * not change how that rank takes part in a call. */
#ifndef CCO_DEVICE_H
#define CCO_DEVICE_H

#include <stdbool.h>

/* As CRESTA_DEVICE_MEMORY says; by itself where this MPI says that it takes such buffers, and a
 * library of a GPU is loaded into the process. */
bool cco_device_memory_here(void);

#endif
