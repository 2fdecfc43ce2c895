/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline_json.h - the timeline in the profile file. */
#ifndef CCO_TIMELINE_JSON_H
#define CCO_TIMELINE_JSON_H

#include <stdio.h>

#include "core/timeline_merge.h"

/* Writes the timelines as a JSON value: null if there are none. */
void cco_timeline_put(FILE *file, const cco_timelines *timelines);

#endif
