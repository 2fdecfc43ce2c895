/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h - requests that are not of messages. */
#ifndef CCO_CALLS_REQUESTS_H
#define CCO_CALLS_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/calls.h"

/* How many are open. */
extern int cco_calls_others CCO_CALLS_HIDDEN;

/* What the requests are of that a wait or a test gets, and which of them are not of messages; then,
 * after the call, which of these have ended. */
enum { CCO_CALLS_NOTED = 64 /* requests; of more in one call, only the kind is found */ };
typedef struct cco_calls_noted {
    int at;
    MPI_Request request;
    uint64_t serial;
} cco_calls_noted;
typedef struct cco_calls_waited {
    cco_calls_of of;
    int count;
    cco_calls_noted request[CCO_CALLS_NOTED];
} cco_calls_waited;
void cco_calls_look(cco_calls_waited *waited, int count, const MPI_Request *list);
void cco_calls_look_fortran(cco_calls_waited *waited, int count, const MPI_Fint *list);
void cco_calls_ended(const cco_calls_waited *waited, const MPI_Request *list);
void cco_calls_ended_fortran(const cco_calls_waited *waited, const MPI_Fint *list);

/* A request that is not of messages has been made. */
void cco_calls_begun(MPI_Request request, cco_calls_of of);

static inline bool cco_calls_others_any(void)
{
    return __builtin_expect(__atomic_load_n(&cco_calls_others, __ATOMIC_RELAXED) > 0, 0);
}

#endif
