/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.c - see budget.h. */
#include "validate/budget.h"

#include "config/config.h"

static size_t taken;

size_t cco_budget_most(void)
{
    return cco_configured.validate_memory / 2;
}

bool cco_budget_take(size_t bytes)
{
    const size_t most = cco_budget_most();
    size_t known = __atomic_load_n(&taken, __ATOMIC_RELAXED);
    do {
        if (bytes > most || known > most - bytes)
            return false;
    } while (!__atomic_compare_exchange_n(&taken, &known, known + bytes, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return true;
}

void cco_budget_give(size_t bytes)
{
    __atomic_fetch_sub(&taken, bytes, __ATOMIC_RELAXED);
}

size_t cco_budget_taken(void)
{
    return __atomic_load_n(&taken, __ATOMIC_RELAXED);
}
