/* SPDX-License-Identifier: BSD-3-Clause */
/* address.h - the sockets of a roll-call.
 *
 * `crestacoll run` listens, on its host by a Unix socket without a file, elsewhere by TCP.  Where,
 * and the token by which it knows the ranks of its job, is in a file that only its user can read:
 *
 *     crestacoll-rollcall 1
 *     token HEX
 *     unix NAME
 *     tcp ADDRESS PORT        of each interface
 *
 * Besides, each process listens on a Unix socket without a file, @crestacoll-rank-PID, where
 * `crestacoll hang` of the same user asks. */
#ifndef CCO_ADDRESS_H
#define CCO_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

enum { CCO_TOKEN = 80 };

/* Connects to who listens by what the file says, unless it shall stop; a descriptor, or -1 and one
 * line in `why`. */
int cco_address_connect(const char *file, bool (*stop)(void), char token[CCO_TOKEN], char *why,
                        size_t room);

/* Listens for `crestacoll hang`; -1 if that cannot be. */
int cco_address_listen(long pid);

/* Takes a caller, if he is of this user or root; -1 if not. */
int cco_address_accept(int listener);

#endif
