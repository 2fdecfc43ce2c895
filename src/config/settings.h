/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - what must be equal on all ranks, as text: compared and shown from one table. */
#ifndef CCO_SETTINGS_H
#define CCO_SETTINGS_H

#include <stdint.h>

/* Characters of that text.  Ranks send it to each other when they differ, perhaps in the version
 * of the library: so this number and the form of the text, NAME=VALUE in a line, stay. */
enum { CCO_SETTINGS_ROOM = 6144 };

/* Writes it to text[CCO_SETTINGS_ROOM].  A long value shows its start and its hash. */
void cco_settings_report(char *text);

/* The environment of it as one number: what ranks compare before rank 0 reads a tuning file. */
uint64_t cco_settings_hash_environment(void);

/* All of it. */
uint64_t cco_settings_hash(void);

#endif
