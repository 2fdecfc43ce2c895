/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c - see device.h. */
#include "core/device.h"

#include <dlfcn.h>
#include <stddef.h>

#include "core/config.h"

/* What MPIs say of themselves, and a function that the library of the device has. */
static const struct {
    const char *mpi, *library;
} devices[] = {{"MPIX_Query_cuda_support", "cuInit"},
               {"MPIX_Query_hip_support", "hipInit"},
               {"MPIX_Query_rocm_support", "hipInit"},
               {"MPIX_Query_ze_support", "zeInit"}};

static bool supports(const char *name)
{
    int (*query)(void);
    *(void **)&query = dlsym(RTLD_DEFAULT, name);
    return query != NULL && query() == 1;
}

bool cco_device_memory_here(void)
{
    if (cco_configured.device_memory != CCO_DEVICE_AUTO)
        return cco_configured.device_memory == CCO_DEVICE_YES;
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (dlsym(RTLD_DEFAULT, devices[i].library) != NULL && supports(devices[i].mpi))
            return true;
    return false;
}
