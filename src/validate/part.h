/* SPDX-License-Identifier: BSD-3-Clause */
/* part.h - what one rank gives to a reproducer: its arguments and its data of before the call. */
#ifndef CCO_PART_H
#define CCO_PART_H

#include "validate/content.h"
#include "validate/check.h"

/* The part of this rank; without communication.  It is lines of text, then the data:
 *
 *   arguments LARGE SENDCOUNT RECVCOUNT IN_PLACE      in place: 0, send or recv
 *   type NAME                                         each type, a predefined one, or
 *   type derived SIZE LOWER EXTENT RUNS               one by its runs of bytes,
 *   OFFSET LENGTH                                     in the order of its data
 *   sendtype|recvtype N                               number of a type above, from 0
 *   sendcounts|senddispls|recvcounts|recvdispls|sendtypes|recvtypes COUNT NUMBERS...
 *   send|recv OFFSET LENGTH GIVEN                     memory from the buffer's address on; of that
 *   data                                              as many bytes follow, as GIVEN says
 */
void cco_part_write(cco_content *content, const cco_check *check);

#endif
