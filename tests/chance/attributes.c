/* SPDX-License-Identifier: BSD-3-Clause */
/* attributes.c - see attributes.h. */
#include "attributes.h"

static int keyval = MPI_KEYVAL_INVALID;
static unsigned long copied, deleted;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copied++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

void attributes_begin(void)
{
    copied = deleted = 0;
    if (has(CLASS_attributes))
        MPI_Comm_create_keyval(copy, forget, &keyval, NULL);
}

void attributes_set(MPI_Comm comm)
{
    if (has(CLASS_attributes))
        MPI_Comm_set_attr(comm, keyval, &keyval);
}

unsigned long attributes_end(void)
{
    if (has(CLASS_attributes))
        MPI_Comm_free_keyval(&keyval);
    return copied * 1000 + deleted;
}
