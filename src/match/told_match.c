/* SPDX-License-Identifier: BSD-3-Clause */
/* told_match.c - see told_match.h. */
#include "match/told_match.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "base/log.h"

static int lines = 20; /* about late ranks, of a process */

/* "0,2-4" of the ranks for which `is` says so. */
static void told_match_list(char *text, size_t room, const cco_match *m,
                            bool (*is)(const cco_match *m, int rank))
{
    size_t used = 0;
    const int size = m->size;
    text[0] = '\0';
    for (int r = 0, last; r < size; r = last + 1) {
        last = r;
        if (!is(m, r))
            continue;
        while (last + 1 < size && is(m, last + 1))
            last++;
        if (used + 32 > room)
            break;
        used += (size_t)snprintf(text + used, room - used, last > r ? "%s%d-%d" : "%s%d",
                                 used > 0 ? "," : "", r, last);
    }
}

static _Thread_local cco_signature wanted;

static bool has_wanted(const cco_match *m, int rank)
{
    return cco_signature_same(&m->theirs[rank], &wanted);
}

static bool is_behind(const cco_match *m, int rank)
{
    return rank > 0 && m->made[rank] < m->count;
}

static bool is_first_of_its_kind(const cco_match *m, int rank)
{
    for (int r = 0; r < rank; r++)
        if (cco_signature_same(&m->theirs[r], &m->theirs[rank]))
            return false;
    return true;
}

void cco_match_tell_all(const cco_match *m)
{
    char text[2048] = "";
    size_t used = 0;
    enum { KINDS = 8, EACH = 200 };
    for (int r = 0, kinds = 0; r < m->size && kinds < KINDS; r++) {
        char ranks[80], call[EACH - 90];
        if (!is_first_of_its_kind(m, r))
            continue;
        kinds++;
        wanted = m->theirs[r];
        told_match_list(ranks, sizeof ranks, m, has_wanted);
        cco_signature_show(&wanted, call, sizeof call);
        used += (size_t)snprintf(text + used, sizeof text - used, "\n    rank%s %s: %s",
                                 strpbrk(ranks, "-,") != NULL ? "s" : "", ranks, call);
    }
    cco_fatal("the ranks of communicator '%s' (%d ranks) do not make the same call there (call "
              "%llu):%s",
              m->name, m->size, (unsigned long long)m->count, text);
}

void cco_match_tell_begun(const cco_match *m, int rank, uint64_t number, const cco_signature *own,
                          const cco_signature *other)
{
    char here_is[128], there_is[128];
    cco_signature_show(own, here_is, sizeof here_is);
    cco_signature_show(other, there_is, sizeof there_is);
    cco_fatal("the ranks of communicator '%s' (%d ranks) do not make the same call there (call "
              "%llu):\n    rank 0: %s\n    rank %d: %s",
              m->name, m->size, (unsigned long long)number + 1, here_is, rank, there_is);
}

void cco_match_tell_late(const cco_match *m, const char *call)
{
    char ranks[200];
    if (lines-- <= 0)
        return;
    if (m->rank != 0) {
        cco_say("rank %d of communicator '%s' has waited %lu s before MPI_%s for rank 0, which has "
                "called no collective there, or waits for other ranks",
                m->rank, m->name, cco_configured.debug.match, call);
        return;
    }
    told_match_list(ranks, sizeof ranks, m, is_behind);
    cco_say("rank 0 of communicator '%s' has waited %lu s before MPI_%s, call %llu there, for rank "
            "%s",
            m->name, cco_configured.debug.match, call, (unsigned long long)m->count, ranks);
}
