/* SPDX-License-Identifier: BSD-3-Clause */
/* reads.h - reads of another process's memory (process_vm_readv) that bring all, a part, nothing,
 * or something else, at random, within one process. */
#ifndef READS_H
#define READS_H

extern struct reads {
    int failing;                 /* of how many one fails, about; 0: none */
    long count, partial, failed; /* how many there were */
    void (*after)(void);         /* the next one, once; NULL: nothing */
} reads;

#endif
