/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_copy.c - see shm_copy.h. */
#include "model/shm_copy.h"

#include <stdint.h>

#include "config/config.h"

/* Cores that share no cache take longer for a line: some 60 ns where they do, 115 to 250 ns where
 * not.  There the kernel's copy pays only where data that come through slots take as long, by the
 * stores that are faster (docs/lab/design-notes.md). */
enum { FAR_LINE = 100 /* ns */, FAR_KERNEL = 100 /* percent of the time through slots */ };

/* ANYWHERE: of rows where more ranks than cores take turns, so that nothing can be measured. */
typedef enum place { NOWHERE, NEAR, FAR, ANYWHERE } place;

static const struct {
    cco_coll coll;
    int ranks_min, ranks_max;
    place place;
    size_t min, max; /* bytes */
} limits[] = {
#define CCO_COPY(coll, ranks_min, ranks_max, place, min, max)                                      \
    {CCO_##coll, ranks_min, ranks_max, place, min, max},
#include "model/shm_copy.def"
    {.ranks_max = 0} /* no call: there may be no limits */
};

enum { ROWS = sizeof limits / sizeof *limits };

static place shm_copy_measured(const cco_distance *d)
{
    if (d->line == 0)
        return NOWHERE;
    return d->line >= FAR_LINE && (uint64_t)d->kernel * 100 <= (uint64_t)d->slots * FAR_KERNEL
               ? FAR
               : NEAR;
}

/* NOWHERE: nobody imposes one. */
static place shm_copy_imposed(void)
{
    const cco_shm_distance setting = cco_configured.shm_distance;
    return setting == CCO_DISTANCE_NEAR ? NEAR : setting == CCO_DISTANCE_FAR ? FAR : NOWHERE;
}

/* Whether the sizes of such calls are each rank's own affair. */
static bool shm_copy_unknown(const cco_shm_copy_call *call)
{
    return call->bytes == 0 && cco_coll_infos[call->coll].properties & CCO_COUNTS;
}

static bool in_row(int i, const cco_shm_copy_call *call)
{
    return limits[i].coll == call->coll && limits[i].ranks_min <= call->ranks &&
           call->ranks <= limits[i].ranks_max && (limits[i].place == ANYWHERE) == call->crowded &&
           (shm_copy_unknown(call) ||
            (limits[i].min <= call->bytes && call->bytes <= limits[i].max));
}

/* At any place, or at one. */
static bool shm_copy_pays(const cco_shm_copy_call *call, bool any, place place)
{
    for (int i = 0; i < ROWS; i++)
        if ((any || limits[i].place == place) && in_row(i, call))
            return true;
    return false;
}

cco_shm_copy_verdict cco_shm_copy_judge(const cco_shm_copy_call *call)
{
    const place place = call->crowded ? ANYWHERE : shm_copy_imposed();
    if (!shm_copy_pays(call, place == NOWHERE, place))
        return CCO_SHM_COPY_NO;
    return place == NOWHERE ? CCO_SHM_COPY_MEASURE : CCO_SHM_COPY_YES;
}

bool cco_shm_copy_pays(const cco_shm_copy_call *call, const cco_distance *distance)
{
    return shm_copy_pays(call, false, shm_copy_measured(distance));
}

size_t cco_shm_copy_least(const cco_shm_copy_call *call)
{
    size_t least = shm_copy_unknown(call) ? SIZE_MAX : 0;
    for (int i = 0; i < ROWS && shm_copy_unknown(call); i++)
        if (in_row(i, call) && limits[i].min < least)
            least = limits[i].min;
    return least;
}

const char *cco_shm_copy_distance(const cco_distance *distance)
{
    static const char *const names[] = {"not known", "near", "far"};
    return names[shm_copy_measured(distance)];
}
