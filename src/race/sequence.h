/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence.h - the sequence of calls on a communicator, and how many of them make one of the
 * program's steps: the period.
 *
 * Each call is a word, which says what it was and what the program did since the call before it.  A
 * program in time steps repeats a sequence of words; the length of that is its period. */
#ifndef CCO_SEQUENCE_H
#define CCO_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CCO_SEQUENCE_LONGEST = 64, /* period that is found */
    CCO_SEQUENCE_WORDS = 1024  /* that are kept: the last ones */
};

typedef struct cco_sequence {
    unsigned count; /* of all words so far */
    uint64_t words[CCO_SEQUENCE_WORDS];
} cco_sequence;

void cco_sequence_add(cco_sequence *sequence, uint64_t word);

/* True after the 16th word, the 24th, 32nd, 48th, 64th and so on: when it is time to ask for the
 * period. */
bool cco_sequence_is_due(const cco_sequence *sequence);

/* Bit p - 1 is set if the words repeat after p: nearly all of the last ones, for output and tests
 * come in between.  The least bit that all ranks have is the period that they agree on. */
uint64_t cco_sequence_periods(const cco_sequence *sequence);

/* A word from another and one more number. */
uint64_t cco_mix(uint64_t word, uint64_t more);

#endif
