/* SPDX-License-Identifier: BSD-3-Clause */
/* process_read.h - reads of another process's memory on the same node by the kernel
 * (process_vm_readv of Linux).
 *
 * Every read takes a random word along that the other process keeps at a known place: if it does
 * not come, the process number means another process by now, and nothing of the read counts. */
#ifndef CCO_PROCESS_READ_H
#define CCO_PROCESS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process, and where it keeps which word. */
typedef struct cco_process_id {
    int64_t number;
    uint64_t at, word;
} cco_process_id;

/* This process. */
cco_process_id cco_process_me(void);

/* True if the kernel lets this process read that word of another one. */
bool cco_process_readable(const cco_process_id *process);

/* Reads `n` bytes at the address `from` of the other process.  How many came; if not all, errno
 * says why. */
size_t cco_process_read(const cco_process_id *process, uint64_t from, char *to, size_t n);

#endif
