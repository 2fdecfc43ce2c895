/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.h - characters as bytes (RFC 3629). */
#ifndef CCO_UTF8_H
#define CCO_UTF8_H

/* The bytes of the character at `at`; 0 if there is none before `end`: bytes that are no UTF-8,
 * halves of pairs, longer forms than need be. */
int cco_utf8_length(const char *at, const char *end);

/* Writes a character, which is at most 0x10ffff; how many bytes. */
int cco_utf8_encode(unsigned code, unsigned char bytes[4]);

#endif
