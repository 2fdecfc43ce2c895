/* SPDX-License-Identifier: BSD-3-Clause */
/* tally.c - see tally.h. */
#include "validate/tally.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "base/json_out.h"
#include "base/log.h"
#include "mpi/mpi_compat.h"
#include "mpi/service.h"

cco_tally cco_tally_here;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What became of calls: for the summary, and as a name in its file; NULL: no word about it. */
static const struct {
    const char *name, *text;
} skips[CCO_SKIPS] = {
    [CCO_CHECKED] = {"checked", NULL},
    [CCO_SKIP_LARGE] = {"beyond_memory", "calls whose copies need more than"
                                         " CRESTA_VALIDATE_MEMORY, or more than half of it for"
                                         " a begun call"},
    [CCO_SKIP_NO_MEMORY] = {"no_memory", "no memory for copies"},
    [CCO_SKIP_HOLES] = {"holes", "gaps of the types lie where there is no memory"},
    [CCO_SKIP_DEVICE] = {"device", "buffers may lie in a GPU's memory"},
    [CCO_SKIP_SAME] = {"no_reference", "the MPI's own call is a known defect, and there is"
                                       " no other reference"},
    [CCO_SKIP_EMPTY] = {"no_data", "calls that move no data"},
    [CCO_SKIP_FAILED] = {"failed", "calls that returned an error"},
    [CCO_SKIP_WAITING] = {"waiting", "earlier begun calls took half of CRESTA_VALIDATE_MEMORY, and"
                                     " the checks of these were not over"},
    [CCO_SKIP_BEGUN] = {"begun", "begun neighbourhood collectives, and begun reductions with"
                                 " operations of the program"},
};

void cco_tally_count(uint64_t *number, uint64_t more)
{
    __atomic_fetch_add(number, more, __ATOMIC_RELAXED);
}

void cco_tally_spent(double seconds)
{
    pthread_mutex_lock(&lock);
    cco_tally_here.seconds += seconds;
    pthread_mutex_unlock(&lock);
}

void cco_tally_bytes(uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    if (bytes > cco_tally_here.most_bytes)
        cco_tally_here.most_bytes = bytes;
    pthread_mutex_unlock(&lock);
}

enum { SUMMED = 4 + CCO_SKIPS };

static bool tally_add_up(cco_tally *all)
{
    const cco_tally *mine = &cco_tally_here;
    uint64_t words[SUMMED] = {mine->calls, mine->otherwise, mine->differ, mine->unjudged};
    uint64_t sums[SUMMED] = {0};
    const double most[2] = {(double)mine->most_bytes, mine->seconds};
    double worst[2] = {0, 0};
    memcpy(&words[4], mine->skips, sizeof mine->skips);
    const MPI_Comm world = MPI_COMM_WORLD;
    if (cco_service_allreduce(words, sums, SUMMED, MPI_UINT64_T, MPI_SUM, world) != MPI_SUCCESS ||
        cco_service_allreduce(most, worst, 2, MPI_DOUBLE, MPI_MAX, world) != MPI_SUCCESS)
        return false;
    *all = (cco_tally){.calls = sums[0],
                       .otherwise = sums[1],
                       .differ = sums[2],
                       .unjudged = sums[3],
                       .most_bytes = (uint64_t)worst[0],
                       .seconds = worst[1]};
    memcpy(all->skips, &sums[4], sizeof all->skips);
    return true;
}

static unsigned long long tally_number(uint64_t n)
{
    return (unsigned long long)n;
}

static void say_skipped(const cco_tally *t)
{
    for (int i = CCO_CHECKED + 1; i < CCO_SKIPS; i++)
        if (t->skips[i] > 0)
            cco_say("validate: not checked: %llu (%s)", tally_number(t->skips[i]), skips[i].text);
}

static void tally_say(const cco_tally *t, double wall)
{
    const uint64_t checked = t->skips[CCO_CHECKED];
    if (t->calls == 0) {
        cco_say("validate: nothing to check: no collective ran by another implementation than the"
                " MPI's own call");
        return;
    }
    cco_say("validate: %llu of %llu calls by crestacoll checked, %llu differed",
            tally_number(checked), tally_number(t->calls), tally_number(t->differ));
    say_skipped(t);
    if (t->otherwise > 0)
        cco_say("validate: compared with plain messages of crestacoll: %llu (calls for which the"
                " MPI's own has a known defect)",
                tally_number(t->otherwise));
    if (t->unjudged > 0)
        cco_say("validate: cannot be judged: %llu (elements that are not equal bit by bit, where an"
                " operation of the program rounds, or the order decides about overflow or NaN)",
                tally_number(t->unjudged));
    cco_say("validate: checking took at most %.3g s on any rank, of the %.3g s of the run (%.2g"
            " %%); its copies of data took at most %.3g MiB (CRESTA_VALIDATE_MEMORY allows %.4g"
            " MiB)",
            t->seconds, wall, wall > 0 ? 100 * t->seconds / wall : 0.0,
            (double)t->most_bytes / 0x1p20, (double)cco_configured.validate_memory / 0x1p20);
}

static void put_summary(FILE *file, const cco_tally *t, double wall)
{
    fprintf(file,
            "{\"schema\": \"crestacoll-validate-1\", \"calls\": %llu, \"differ\": %llu,\n"
            " \"other_reference\": %llu, \"unjudged_elements\": %llu, \"seconds\": %.9g,"
            " \"wall_s\": %.9g,\n \"copies_bytes\": %llu",
            tally_number(t->calls), tally_number(t->differ), tally_number(t->otherwise),
            tally_number(t->unjudged), t->seconds, wall, tally_number(t->most_bytes));
    for (int i = 0; i < CCO_SKIPS; i++)
        fprintf(file, ", \"%s\": %llu", skips[i].name, tally_number(t->skips[i]));
    fprintf(file, "}\n");
}

static void write_summary(const cco_tally *t, double wall, bool spawned)
{
    cco_output output;
    const char *asked = cco_configured.validate_summary;
    if (asked == NULL)
        return;
    int error = cco_output_open(&output, asked, spawned);
    if (!error) {
        put_summary(output.file, t, wall);
        error = cco_output_close(&output);
    }
    if (error)
        cco_say("CRESTA_VALIDATE_SUMMARY: cannot write %s: %s", output.path, strerror(error));
}

void cco_tally_finish(double wall, bool spawned)
{
    int rank = 0;
    cco_tally all;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!tally_add_up(&all) || rank != 0)
        return;
    tally_say(&all, wall);
    write_summary(&all, wall, spawned);
}
