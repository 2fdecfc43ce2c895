/* SPDX-License-Identifier: BSD-3-Clause */
/* address.h - the sockets of a roll-call.
 *
 * `crestacoll run` listens, for its host by a Unix socket without a file, for other hosts by TCP.
 * Where, and a token, is in a file that only its user can read:
 *
 *     crestacoll-rollcall 1
 *     token HEX
 *     unix NAME
 *     tcp ADDRESS PORT        none, or some
 *
 * On the Unix socket the kernel says to both ends of which user the other is; on TCP they prove to
 * each other that they know the token (proof.h).
 *
 * Besides, each process listens on a Unix socket without a file, @crestacoll-rank-PID-HEX, where
 * `crestacoll hang` of the same user asks.  It finds the name in /proc/net/unix; the last part is
 * random, so that another user cannot take the name before. */
#ifndef CCO_ADDRESS_H
#define CCO_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

enum { CCO_ADDRESS_FULL = -2 };

/* Connects to the `crestacoll run` of the file, which then takes us for a rank, unless it shall
 * stop; a descriptor, or -1 and one line in `why`. */
int cco_address_connect(const char *file, bool (*stop)(void), char *why, size_t room);

/* Listens for `crestacoll hang`; -1 if that cannot be. */
int cco_address_listen(long pid);

/* Takes a caller of this user or root; -1 if it is another, CCO_ADDRESS_FULL if no descriptor is
 * left. */
int cco_address_accept(int listener);

#endif
