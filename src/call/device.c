/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c - see device.h. */
#include "call/device.h"

#include <dlfcn.h>
#include <stddef.h>

#include "config/config.h"

/* What MPIs say of themselves, and a function that the library of the device has. */
static const struct {
    const char *mpi, *library;
} devices[] = {{"MPIX_Query_cuda_support", "cuInit"},
               {"MPIX_Query_hip_support", "hipInit"},
               {"MPIX_Query_rocm_support", "hipInit"},
               {"MPIX_Query_ze_support", "zeInit"}};

/* Whether the MPI says that of itself, which stays as it is.  A name that nobody has is looked for
 * in all libraries, for each communicator; so it is looked for once. */
static bool device_supports(int device)
{
    enum { UNKNOWN, NO, YES };
    static int known[sizeof devices / sizeof devices[0]];
    int answer = __atomic_load_n(&known[device], __ATOMIC_RELAXED);
    if (answer == UNKNOWN) {
        int (*query)(void);
        *(void **)&query = dlsym(RTLD_DEFAULT, devices[device].mpi);
        answer = query != NULL && query() == 1 ? YES : NO;
        __atomic_store_n(&known[device], answer, __ATOMIC_RELAXED);
    }
    return answer == YES;
}

bool cco_device_memory_here(void)
{
    if (cco_configured.device_memory != CCO_DEVICE_AUTO)
        return cco_configured.device_memory == CCO_DEVICE_YES;
    for (int i = 0; i < (int)(sizeof devices / sizeof devices[0]); i++)
        if (device_supports(i) && dlsym(RTLD_DEFAULT, devices[i].library) != NULL)
            return true;
    return false;
}
