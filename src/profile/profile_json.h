/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_json.h - a profile as a file. */
#ifndef CCO_PROFILE_JSON_H
#define CCO_PROFILE_JSON_H

#include <stdio.h>

#include "base/json_out.h"
#include "profile/profile.h"
#include "profile/timeline_merge.h"

/* Writes the JSON file CRESTA_PROFILE.  A world that another has `spawned` writes one of its own
 * beside it.  `origin`: what it is of, a JSON object, or NULL.  `output` gets its name; returns 0,
 * or an errno value. */
int cco_profile_write(cco_output *output, bool spawned, const cco_rows *rows,
                      const cco_member_sets *members, const cco_timelines *timelines, int ranks,
                      double wall_s, const char *origin);

/* Writes a profile to a file that is open: `members` and `timelines` may be empty; `origin`
 * as above. */
void cco_profile_put(FILE *file, const cco_rows *rows, const cco_member_sets *members,
                     const cco_timelines *timelines, int ranks, double wall_s, const char *origin);

/* Writes the rows of this rank alone, while the program runs, as the member `records` of an object
 * of its own (src/profile/snapshot.h).  Returns 0, or an errno value. */
int cco_profile_write_so_far(const char *path, const cco_rows *rows, int ranks, double wall_s);

#endif
