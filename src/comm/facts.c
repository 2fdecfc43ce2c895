/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.c - see facts.h. */
#include "comm/facts.h"

#include <time.h>

#include "config/config.h"
#include "call/device.h"
#include "base/log.h"
#include "base/node_key.h"
#include "mpi/mpi_compat.h"

enum { REFUSED = 5 /* one in so many requests */ };

cco_job_facts cco_job;

static struct {
    int progress, crowded, begins;
} mine;
static uint64_t who; /* tells the ranks of a job apart */

void cco_fact_progress(cco_progress_level progress)
{
    __atomic_store_n(&mine.progress, (int)progress, __ATOMIC_RELAXED);
}

void cco_fact_crowded(bool crowded)
{
    __atomic_store_n(&mine.crowded, crowded, __ATOMIC_RELAXED);
}

void cco_fact_begins(void)
{
    if (!__atomic_load_n(&mine.begins, __ATOMIC_RELAXED))
        __atomic_store_n(&mine.begins, true, __ATOMIC_RELAXED);
}

/* splitmix64 (G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number generators,
 * OOPSLA 2014), from the seed and the process. */
static uint64_t next_number(void)
{
    static uint64_t state;
    const uint64_t from = cco_configured.debug.disagree * 0x9e3779b97f4a7c15u + who;
    uint64_t z = from * 0xd1342543de82ef95u +
                 __atomic_add_fetch(&state, 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

unsigned cco_disagreement(unsigned n)
{
    return cco_configured.debug.disagree != 0 ? (unsigned)(next_number() % n) : 0;
}

bool cco_inject_mismatch(void)
{
    return cco_disagreement(REFUSED) == 1;
}

/* Some ranks come late, or say more than others. */
void cco_facts_begin(void)
{
    int rank;
    cco_config *c = &cco_configured;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    who = (uint64_t)rank + 1;
    nanosleep(&(struct timespec){.tv_nsec = (long)cco_disagreement(30) * 1000 * 1000}, NULL);
    c->log = (cco_log_level)(((unsigned)c->log + cco_disagreement(3)) % 3);
    cco_job.wishes = cco_job.wishes || c->log >= CCO_LOG_INFO;
}

/* Perturbed, a rank says less than it could, or the contrary of what is so. */
void cco_facts_mine(uint64_t words[CCO_FACT_WORDS])
{
    const bool turned = cco_inject_mismatch();
    const int progress = __atomic_load_n(&mine.progress, __ATOMIC_RELAXED);
    words[0] = cco_inject_mismatch() ? CCO_PROGRESS_NONE : (uint64_t)progress;
    words[1] = (uint64_t)__atomic_load_n(&mine.crowded, __ATOMIC_RELAXED) ^ turned;
    words[2] = !CCO_PRELOADED;
    words[3] = (uint64_t)__atomic_load_n(&mine.begins, __ATOMIC_RELAXED);
    words[4] = cco_device_memory_here();
    words[5] = cco_inject_mismatch() ? 0 : cco_node_key();
}

void cco_facts_agreed(cco_facts *facts, const uint64_t *least, const uint64_t *most)
{
    *facts = (cco_facts){.progress = (cco_progress_level)least[0],
                         .crowded = most[1] != 0,
                         .linked = least[2] != 0,
                         .preloaded = most[2] == 0,
                         .begins = most[3] != 0,
                         .device = most[4] != 0,
                         .one_node = least[5] == most[5] && least[5] != 0};
}
