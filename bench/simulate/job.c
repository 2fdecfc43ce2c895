/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - see job.h. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../asked.h"
#include "calls.h"

enum { MOST_RANKS = 1 << 22, MOST_PHASES = 1 << 30, WORDS = 8 };
enum { RECORDS = 3 << 20 }; /* with what else messages need, half a gigabyte */

static const double second = 1e12, most_seconds = 1e6;

static bool seconds(const char *what, const char *text, double *to)
{
    char *end;
    *to = strtod(text, &end) * second;
    if (end == text || *end != '\0' || isnan(*to) || *to < 0)
        return asked_wrong("%s: '%s' is no time in seconds", what, text);
    if (*to > most_seconds * second)
        return asked_wrong("%s: %s is not possible, only up to 1000000 seconds", what, text);
    return true;
}

static bool read_ranks(job *j, char **words)
{
    long long ranks = 0;
    if (!asked_number("ranks", words[1], 1, MOST_RANKS, &ranks))
        return false;
    j->ranks = (int)ranks;
    return true;
}

static bool read_nodes(job *j, char **words)
{
    j->nodes = asked_nodes(words[1], j->ranks);
    return j->nodes != NULL;
}

static bool read_machine(job *j, char **words)
{
    return machine_read(&j->machine, words[1]);
}

static bool read_queues(job *j, char **words)
{
    j->queues = strcmp(words[1], "yes") == 0;
    return j->queues || strcmp(words[1], "no") == 0 || asked_wrong("queues: yes or no");
}

/* From 0 to 1, neither included. */
static double chance(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u; /* S. Vigna's splitmix64 */
    uint64_t z = (*state ^ *state >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / (double)((uint64_t)1 << 53);
}

static double skew_of(const char *kind, double size, uint64_t *state)
{
    const double x = chance(state);
    if (strcmp(kind, "uniform") == 0)
        return x * size;
    if (strcmp(kind, "exponential") == 0)
        return -log(x) * size;
    return sqrt(-2 * log(x)) * cos(2 * acos(-1.0) * chance(state)) * size;
}

static bool read_skew(job *j, char **words)
{
    long long seed = 0;
    double size = 0, least = HUGE_VAL;
    const char *kind = words[1];
    if (strcmp(kind, "none") == 0)
        return true;
    if (strcmp(kind, "uniform") != 0 && strcmp(kind, "exponential") != 0 &&
        strcmp(kind, "normal") != 0)
        return asked_wrong("skew: '%s' is not none, uniform, exponential or normal", kind);
    if (!seconds("skew", words[2], &size) || !asked_number("seed", words[3], 0, 1LL << 62, &seed))
        return false;
    uint64_t state = (uint64_t)seed;
    j->start = malloc((size_t)j->ranks * sizeof *j->start);
    if (j->start == NULL)
        return asked_wrong("no memory");
    for (int r = 0; r < j->ranks; r++) {
        j->start[r] = skew_of(kind, size, &state);
        least = j->start[r] < least ? j->start[r] : least;
    }
    for (int r = 0; r < j->ranks; r++) /* nobody begins before 0 */
        j->start[r] -= least;
    return true;
}

static bool add_phase(job *j)
{
    const size_t room = (size_t)j->count + 1;
    phase *phases = realloc(j->phases, room * sizeof *phases);
    j->phases = phases != NULL ? phases : j->phases;
    job_call *calls = realloc(j->calls, room * sizeof *calls);
    j->calls = calls != NULL ? calls : j->calls;
    if (phases == NULL || calls == NULL)
        return asked_wrong("no memory");
    j->phases[j->count] = (phase){.size = 0};
    j->calls[j->count++] = (job_call){.algo = NULL};
    return true;
}

/* Whether there is such a topology, a call will see. */
static bool read_topology(job *j, char **words)
{
    snprintf(j->topology, sizeof j->topology, "%s", words[1]);
    return true;
}

static bool read_compute(job *j, char **words)
{
    return add_phase(j) && seconds("compute", words[1], &j->phases[j->count - 1].compute);
}

static bool read_algorithm(job_call *c, char *text)
{
    c->by_nodes = strcmp(text, "node_preset") == 0;
    if (c->by_nodes || strcmp(text, "preset") == 0)
        return true;
    return asked_algorithm(c->coll, true, text, &c->algo, c->params);
}

static bool read_call(job *j, char **words)
{
    long long bytes = 0, size = 0, stride = 0, root = 0;
    if (!add_phase(j))
        return false;
    phase *f = &j->phases[j->count - 1];
    job_call *c = &j->calls[j->count - 1];
    if (!asked_collective(words[1], j->topology[0] != '\0', &c->coll) ||
        !asked_number("bytes", words[2], 0, 1LL << 40, &bytes) || !read_algorithm(c, words[3]) ||
        !asked_number("size of communicators", words[4], 1, j->ranks, &size) ||
        !asked_number("stride of communicators", words[5], 1, j->ranks, &stride) ||
        !asked_number("root", words[6], 0, size - 1, &root))
        return false;
    if (j->ranks % (size * stride) != 0)
        return asked_wrong("communicators of %lld ranks with stride %lld do not divide %d ranks",
                           size, stride, j->ranks);
    c->bytes = (size_t)bytes;
    c->root = (int)root;
    f->size = (int)size;
    f->stride = (int)stride;
    return calls_make(j, f, c);
}

static bool read_overlap(job *j, char **words)
{
    phase *f = j->count > 0 ? &j->phases[j->count - 1] : NULL;
    if (f == NULL || f->size == 0)
        return asked_wrong("overlap: no call before it");
    f->alone = strcmp(words[2], "none") == 0;
    return (f->alone || strcmp(words[2], "thread") == 0 ||
            asked_wrong("overlap: '%s' is not thread or none", words[2])) &&
           seconds("overlap", words[1], &f->overlap);
}

static bool read_repeat(job *j, char **words)
{
    long long times = 0;
    if (!asked_number("repeat", words[1], 1, 1 << 20, &times))
        return false;
    j->times = (int)times;
    return true;
}

static bool read_records(job *j, char **words)
{
    long long records = 0;
    if (!asked_number("records", words[1], 0, RECORDS, &records))
        return false;
    j->records = (size_t)records;
    return true;
}

static bool read_trace(job *j, char **words)
{
    char *end;
    j->trace = strtod(words[1], &end);
    return (end != words[1] && *end == '\0' && isfinite(j->trace) && j->trace > 0) ||
           asked_wrong("trace: '%s' is no bandwidth", words[1]);
}

static const struct {
    const char *name;
    int words;
    bool often; /* there may be several of them */
    bool (*read)(job *j, char **words);
} kinds[] = {
    {"ranks", 2, false, read_ranks},       {"nodes", 2, false, read_nodes},
    {"machine", 2, false, read_machine},   {"queues", 2, false, read_queues},
    {"skew", 4, false, read_skew},         {"compute", 2, true, read_compute},
    {"call", 7, true, read_call},          {"overlap", 3, true, read_overlap},
    {"repeat", 2, false, read_repeat},     {"trace", 2, false, read_trace},
    {"topology", 2, false, read_topology}, {"records", 2, false, read_records},
};
enum { RANKS, NODES, MACHINE }; /* of these, those that come first */

/* Reads a line of a kind; `seen` has a bit for each kind that was there. */
static bool read_kind(job *j, size_t kind, char **words, unsigned *seen)
{
    const unsigned bit = 1u << kind, before = kind < MACHINE ? bit - 1 : (1u << MACHINE) - 1;
    if ((*seen & before) != before)
        return asked_wrong("%s: ranks and nodes come first", words[0]);
    if ((*seen & bit) != 0 && !kinds[kind].often)
        return asked_wrong("%s: twice", words[0]);
    *seen |= bit;
    return kinds[kind].read(j, words);
}

static bool read_line(job *j, char *line, unsigned *seen)
{
    char *words[WORDS] = {NULL}, *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " \n", &rest); word != NULL && count < WORDS;
         word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    for (size_t i = 0; count > 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, words[0]) == 0 && kinds[i].words == count)
            return read_kind(j, i, words, seen);
    return count == 0 || asked_wrong("no line '%s' of %d words", words[0], count);
}

bool job_read(job *j, FILE *from)
{
    *j = (job){.times = 1, .queues = true, .records = RECORDS};
    char *line = NULL;
    size_t room = 0;
    unsigned seen = 0;
    bool fine = true;
    while (fine && getline(&line, &room, from) >= 0)
        fine = read_line(j, line, &seen);
    free(line);
    if (!fine)
        return false;
    if (!feof(from))
        return asked_wrong("no memory");
    if ((seen & 1u << MACHINE) == 0)
        return asked_wrong("no machine");
    if (j->count == 0)
        return asked_wrong("nothing to simulate");
    if ((long long)j->count * j->times > MOST_PHASES)
        return asked_wrong("more than %d calls and computations", (int)MOST_PHASES);
    return true;
}

void job_free(job *j)
{
    for (int i = 0; i < j->count; i++) {
        free(j->calls[i].program);
        free(j->calls[i].sort);
    }
    free(j->calls);
    free(j->phases);
    free(j->start);
    cco_node_map_drop(j->nodes);
    programs_free(&j->programs);
}
