/* SPDX-License-Identifier: BSD-3-Clause */
/* polite.c - see polite.h. */
#include "wait/polite.h"

#include <stddef.h>

#include "config/config.h"
#include "comm/facts.h"
#include "mpi/mpi_behavior.h"
#include "base/pause.h"

unsigned cco_waits;

static void (*on_change)(void); /* set before the first call that would have to hear of it */

void cco_polite_on_change(void (*changed)(void))
{
    __atomic_store_n(&on_change, changed, __ATOMIC_SEQ_CST);
}

static void set_bit(unsigned bit, bool on)
{
    const unsigned before = cco_waits_how(), now = on ? before | bit : before & ~bit;
    if (now == before)
        return;
    __atomic_store_n(&cco_waits, now, __ATOMIC_SEQ_CST);
    void (*changed)(void) = __atomic_load_n(&on_change, __ATOMIC_SEQ_CST);
    if (changed != NULL)
        changed();
}

static void polite_set(bool polite)
{
    set_bit(CCO_WAITS_POLITELY, polite);
}

void cco_polite_note(bool noted)
{
    set_bit(CCO_WAITS_NOTED, noted);
}

/* A look at an MPI that yields by itself costs more than its own wait: examples/jacobi, 4 ranks on
 * 2 cores under Open MPI, took 1.25 times as long. */
static bool polite_pays(void)
{
    return cco_pause_crowds() && !cco_mpi_yields();
}

void cco_polite_decide(bool chosen)
{
    switch (cco_configured.wait) {
    case CCO_WAIT_POLITE:
        cco_pause_crowded(true); /* no spinning before the first yield either */
        polite_set(true);
        break;
    case CCO_WAIT_MPI:
        polite_set(false);
        break;
    case CCO_WAIT_AUTO:
        polite_set(polite_pays());
        break;
    case CCO_WAIT_UNSET:
        polite_set(chosen && polite_pays());
        break;
    }
    if (cco_configured.debug.match > 0) /* somebody has to look at what comes meanwhile */
        polite_set(true);
}

void cco_polite_begin(void)
{
    cco_polite_decide(cco_job.chosen);
}

void cco_polite_end(void)
{
    polite_set(false);
}
