/* SPDX-License-Identifier: BSD-3-Clause */
/* element.c - see element.h.  All atomic operations are sequentially consistent: accumulates of one
 * origin keep their order, and flush and unlock need nothing of ours. */
#include "window/element.h"

#include <string.h>

#include "base/pause.h"

static void element_take(cco_element_lock *lock)
{
    int tries = CCO_PAUSE_MEMORY;
    while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(&lock->held, __ATOMIC_RELAXED))
            cco_pause(&tries);
}

static void element_release(cco_element_lock *lock)
{
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

static bool element_aligned(size_t size, const void *at)
{
    return size <= 8 && (size & (size - 1)) == 0 && ((uintptr_t)at & (size - 1)) == 0;
}

/* value = value op operand, for `n` elements. */
static void element_compute(const cco_element *e, size_t n, void *value, const void *operand)
{
    if (e->kernel != NULL)
        e->kernel(value, operand, value, n);
    else
        PMPI_Reduce_local((void *)operand, value, (int)n, e->type, e->op);
}

/* Between elements may lie what is none of theirs. */
static void element_copy(const cco_element *e, size_t n, char *to, const char *from)
{
    if (e->extent == e->size) {
        memcpy(to, from, n * e->size);
        return;
    }
    for (size_t i = 0; i < n; i++, to += e->extent, from += e->extent)
        memcpy(to, from, e->size);
}

static void change_locked(const cco_element *e, size_t n, void *target, const void *operand,
                          void *result, cco_element_lock *lock)
{
    element_take(lock);
    if (result != NULL)
        element_copy(e, n, result, target);
    if (e->change == CCO_CHANGE_REPLACE)
        element_copy(e, n, target, operand);
    else if (e->change != CCO_CHANGE_NONE)
        element_compute(e, n, target, operand);
    element_release(lock);
}

/* Many at once, but others shall not wait for long. */
static void change_row(const cco_element *e, size_t n, char *target, const char *operand,
                       char *result, cco_element_lock *lock)
{
    enum { AT_ONCE = 512 };
    for (size_t done = 0; done < n; done += AT_ONCE) {
        const size_t at = done * e->extent, left = n - done;
        change_locked(e, left < AT_ONCE ? left : AT_ONCE, target + at,
                      operand != NULL ? operand + at : NULL, result != NULL ? result + at : NULL,
                      lock);
    }
}

/* Changes words of N bits.  Where nobody wants the old value, fewer instructions do. */
#define CHANGE_WORD(N)                                                                             \
    static uint##N##_t compute_##N(const cco_element *e, uint##N##_t *target, const void *operand) \
    {                                                                                              \
        uint##N##_t old = __atomic_load_n(target, __ATOMIC_RELAXED), value;                        \
        do {                                                                                       \
            value = old;                                                                           \
            element_compute(e, 1, &value, operand);                                                \
        } while (!__atomic_compare_exchange_n(target, &old, value, false, __ATOMIC_SEQ_CST,        \
                                              __ATOMIC_RELAXED));                                  \
        return old;                                                                                \
    }                                                                                              \
    static inline void change_##N(const cco_element *e, uint##N##_t *target, const void *operand,  \
                                  void *result)                                                    \
    {                                                                                              \
        uint##N##_t old = 0, by = 0;                                                               \
        if (e->change != CCO_CHANGE_NONE)                                                          \
            memcpy(&by, operand, sizeof by);                                                       \
        switch (e->change) {                                                                       \
        case CCO_CHANGE_NONE:                                                                      \
            old = __atomic_load_n(target, __ATOMIC_SEQ_CST);                                       \
            break;                                                                                 \
        case CCO_CHANGE_REPLACE:                                                                   \
            old = __atomic_exchange_n(target, by, __ATOMIC_SEQ_CST);                               \
            break;                                                                                 \
        case CCO_CHANGE_ADD:                                                                       \
            old = __atomic_fetch_add(target, by, __ATOMIC_SEQ_CST);                                \
            break;                                                                                 \
        case CCO_CHANGE_AND:                                                                       \
            old = __atomic_fetch_and(target, by, __ATOMIC_SEQ_CST);                                \
            break;                                                                                 \
        case CCO_CHANGE_OR:                                                                        \
            old = __atomic_fetch_or(target, by, __ATOMIC_SEQ_CST);                                 \
            break;                                                                                 \
        case CCO_CHANGE_XOR:                                                                       \
            old = __atomic_fetch_xor(target, by, __ATOMIC_SEQ_CST);                                \
            break;                                                                                 \
        case CCO_CHANGE_COMPUTE:                                                                   \
            old = compute_##N(e, target, &by);                                                     \
            break;                                                                                 \
        }                                                                                          \
        if (result != NULL)                                                                        \
            memcpy(result, &old, sizeof old);                                                      \
    }                                                                                              \
    static void change_row_##N(const cco_element *e, size_t n, uint##N##_t *target,                \
                               const char *operand, char *result)                                  \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            change_##N(e, target + i, operand != NULL ? operand + i * sizeof *target : NULL,       \
                       result != NULL ? result + i * sizeof *target : NULL);                       \
    }                                                                                              \
    static void compare_##N(uint##N##_t *target, const void *compare, const void *operand,         \
                            void *result)                                                          \
    {                                                                                              \
        uint##N##_t old, by;                                                                       \
        memcpy(&old, compare, sizeof old);                                                         \
        memcpy(&by, operand, sizeof by);                                                           \
        __atomic_compare_exchange_n(target, &old, by, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
        memcpy(result, &old, sizeof old);                                                          \
    }

CHANGE_WORD(8)
CHANGE_WORD(16)
CHANGE_WORD(32)
CHANGE_WORD(64)

void cco_element_change(const cco_element *e, size_t n, void *target, const void *operand,
                        void *result, cco_element_lock *lock)
{
    if (e->number || !element_aligned(e->size, target))
        change_row(e, n, target, operand, result, lock);
    else if (e->size == 8)
        change_row_64(e, n, target, operand, result);
    else if (e->size == 4)
        change_row_32(e, n, target, operand, result);
    else if (e->size == 2)
        change_row_16(e, n, target, operand, result);
    else
        change_row_8(e, n, target, operand, result);
}

static void compare_locked(size_t size, void *target, const void *compare, const void *operand,
                           void *result, cco_element_lock *lock)
{
    element_take(lock);
    const bool equal = memcmp(target, compare, size) == 0;
    memcpy(result, target, size);
    if (equal)
        memcpy(target, operand, size);
    element_release(lock);
}

void cco_element_compare(size_t size, void *target, const void *compare, const void *operand,
                         void *result, cco_element_lock *lock)
{
    if (!element_aligned(size, target))
        compare_locked(size, target, compare, operand, result, lock);
    else if (size == 8)
        compare_64(target, compare, operand, result);
    else if (size == 4)
        compare_32(target, compare, operand, result);
    else if (size == 2)
        compare_16(target, compare, operand, result);
    else
        compare_8(target, compare, operand, result);
}
