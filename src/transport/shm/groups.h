/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.h - the ranks of a large node in groups: those that share a cache, or a memory, or else
 * stand next to each other. */
#ifndef CCO_GROUPS_H
#define CCO_GROUPS_H

#include "base/core_place.h"
#include <stdbool.h>

enum {
    CCO_GROUP_RANKS = 16, /* of a group at most: its leader reads a line of each */
    CCO_GROUPS_MOST = 64, /* groups: every leader reads a line of each other */
};

/* Equal on all ranks.  Members count from 0 in the order of ranks; member 0 leads. */
typedef struct cco_groups {
    int count;           /* groups; 0: there are too many ranks for groups of groups */
    int most;            /* members of the largest */
    bool in_order;       /* a group's ranks follow one another, and so do the groups */
    int *group, *member; /* of each rank */
    int *members;        /* of each group */
} cco_groups;

/* Divides `ranks` ranks by where their cores are.  Ranks whose cores are not known, as where no
 * process is bound, are divided by their numbers.  False when memory runs out. */
bool cco_groups_make(cco_groups *groups, const cco_core_place *places, int ranks);

void cco_groups_free(cco_groups *groups);

#endif
