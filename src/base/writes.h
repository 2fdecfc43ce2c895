/* SPDX-License-Identifier: BSD-3-Clause */
/* writes.h - copies into memory that another core reads next, by the stores that are faster there.
 *
 * An ordinary store needs the line in this core's cache.  A line that another core has read must be
 * taken from it first, and processors overlap few such requests.  A non-temporal store goes to
 * memory instead; the reader then fetches the line from there.  Which of the two is faster depends
 * on the processor, on how far the cores are, and on whether the reader has a core of its own.  So
 * both are tried while the program runs, and again from time to time.  Both kinds write the same
 * bytes, and the reader reads them in the same way: ranks need not agree. */
#ifndef CCO_WRITES_H
#define CCO_WRITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    CCO_WRITES_LEAST = 4 << 10, /* bytes of a copy that may go past the caches */
    CCO_WRITES_SIZES = 5,       /* from CCO_WRITES_LEAST on, each twice the one before */
    CCO_WRITES_PATTERNS = 8,    /* of calls, that learn at the same time */
    CCO_WRITES_BLOCKS = 6,      /* of a trial: the two kinds of stores in turn */
    CCO_WRITES_SEEN = 8,        /* copies of a block that count, after its first ones */
    CCO_WRITES_PERIOD = 128     /* lengths of a trial from one to the next */
};

/* The two kinds of stores. */
typedef enum cco_write_kind { CCO_WRITE_CACHED, CCO_WRITE_NONTEMPORAL, CCO_WRITES } cco_write_kind;

/* What others do during a copy.  Those who write as well take up all that memory can do, so that
 * non-temporal stores must be faster by more; a little more where all wait for the reader, who gets
 * the data from memory.  Not so where ranks take turns on a core and each line has one reader. */
typedef enum cco_writes_use {
    CCO_WRITES_AT_ONCE, /* several write */
    CCO_WRITES_ONE_WAY, /* they read what was written before */
    CCO_WRITES_TO_ONE,  /* one reads what was written before, and has more to do than the writer */
    CCO_WRITES_IN_TURN, /* several write, and take turns on a core; each line has one reader */
    CCO_WRITES_USES
} cco_writes_use;

/* What is known of copies of one size and pattern.  Zero to begin with. */
typedef struct cco_writes_size {
    uint8_t block;    /* of the trial; CCO_WRITES_BLOCKS: it is over */
    uint8_t faster;   /* a cco_write_kind */
    uint8_t found;    /* by the last trial, likewise */
    uint8_t counted;  /* copies that count, so far: of this block, or since the trial, */
    uint8_t slow;     /* copies in turn that took longer than they did in the trial */
    uint8_t in_vain;  /* trials in turn that found the same, as far as it matters */
    uint8_t taken;    /* times that another pattern took the place, likewise */
    uint32_t pattern; /* of the calls whose copies these were, and their use */
    uint32_t others;  /* copies of other patterns since the last of these */
    uint32_t copies;  /* since the trial began */
    uint32_t length;  /* copies of the trial */
    uint32_t watched; /* what ordinary stores took since; 0: nothing is to be compared with it */
    uint32_t longest; /* of those that count */
    uint64_t sum;     /* their ticks per KiB */
    size_t passed;    /* bytes of this block that do not count */
    uint32_t seen[CCO_WRITES][CCO_WRITES_BLOCKS / CCO_WRITES]; /* ticks per KiB of the blocks, the
                                                                  least first */
} cco_writes_size;

/* What is known of one place to write to, as a ring of slots. */
typedef struct cco_writes {
    size_t bytes; /* of that place: after so many, all of it was written by one kind of stores */
    cco_writes_size sizes[CCO_WRITES_PATTERNS][CCO_WRITES_SIZES];
} cco_writes;

/* Which stores the next copy takes. */
cco_write_kind cco_writes_next(const cco_writes_size *s);

/* Takes note of how long that copy took.  `bytes`: of the place.  `percent`: of the time of
 * non-temporal stores, above which ordinary ones are slower in the end. */
void cco_writes_note(cco_writes_size *s, size_t bytes, unsigned percent, uint64_t ticks, size_t n);

/* Copies by non-temporal stores, where the processor has them.  What is stored after it is seen
 * after it. */
void cco_copy_nontemporal(char *to, const char *from, size_t n);

/* Whether a copy of that pattern is tried and noted in this place; otherwise it takes what another
 * pattern found, until that one seems to be over. */
bool cco_writes_learns(cco_writes_size *s, uint32_t pattern);

/* Copies CCO_WRITES_LEAST bytes or more, and takes note.  `pattern`, any number: of the calls whose
 * copies these are.  Other calls write other parts of the place, or let another rank write them in
 * turn: they find its lines in other caches, and learn for themselves. */
void cco_writes_copy_large(cco_writes *w, cco_writes_use use, uint32_t pattern, char *to,
                           const char *from, size_t n);

static inline void cco_writes_copy(cco_writes *w, cco_writes_use use, uint32_t pattern, char *to,
                                   const char *from, size_t n)
{
#if defined(__x86_64__)
    if (n >= CCO_WRITES_LEAST) {
        cco_writes_copy_large(w, use, pattern, to, from, n);
        return;
    }
#endif
    (void)w, (void)use, (void)pattern;
    memcpy(to, from, n);
}

#endif
