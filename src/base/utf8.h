/* SPDX-License-Identifier: BSD-3-Clause */
/* utf8.h - characters as bytes (RFC 3629). */
#ifndef CCO_UTF8_H
#define CCO_UTF8_H

/* How many bytes the character at `at` has, and its code; 0 if there is none before `end`: bytes
 * that are no UTF-8, halves of pairs, longer forms than need be.  Reads nothing behind a zero. */
int cco_utf8_decode(const char *at, const char *end, unsigned *code);

/* Writes a character, which is at most 0x10ffff; how many bytes. */
int cco_utf8_encode(unsigned code, char bytes[4]);

#endif
