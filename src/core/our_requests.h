/* SPDX-License-Identifier: BSD-3-Clause */
/* our_requests.h - the number of requests of the program that concern the library: of operations of
 * ours (progress/operation_pool.h), and those for which something is kept (api/request_data.h),
 * from the begin to the end of the request.  Waits and tests of a program without any read no more
 * than this. */
#ifndef CCO_OUR_REQUESTS_H
#define CCO_OUR_REQUESTS_H

#include <stdbool.h>

extern int cco_our_requests; /* use the functions */

static inline bool cco_our_requests_any(void)
{
    return __atomic_load_n(&cco_our_requests, __ATOMIC_ACQUIRE) > 0;
}

static inline void cco_our_requests_add(int change)
{
    __atomic_fetch_add(&cco_our_requests, change, __ATOMIC_RELEASE);
}

#endif
