/* SPDX-License-Identifier: BSD-3-Clause */
/* multisend_lists.c - see multisend_lists.h. */
#include "process/set_up.h"
#include "extensions/multisend_lists.h"

#include <stdlib.h>

#include "api/dispatch.h"
#include "comm/channel.h"
#include "base/log.h"
#include "mpi/service.h"
#include "comm/teardown.h"

static const char lists_key; /* its address is the key */

void cco_lists_hold(cco_lists *lists)
{
    __atomic_fetch_add(&lists->users, 1, __ATOMIC_ACQ_REL);
}

void cco_lists_drop(cco_lists *lists)
{
    if (__atomic_sub_fetch(&lists->users, 1, __ATOMIC_ACQ_REL) == 0)
        free(lists);
}

/* Requests of the MPI outlive their communicator. */
static void multisend_lists_end(void *what)
{
    cco_lists *lists = what;
    PMPI_Comm_free(&lists->comm);
    __atomic_store_n(&lists->ended, true, __ATOMIC_RELEASE);
    cco_lists_drop(lists);
}

/* What is attached is a pointer: the communicator goes in an order that all ranks know. */
static void multisend_lists_release(void *data)
{
    cco_lists **attached = data, *lists = *attached;
    free(attached);
    if (lists != NULL)
        cco_teardown(lists->number, multisend_lists_end, lists);
}

static cco_lists *multisend_lists_make(cco_comm *state, cco_lists **attached)
{
    cco_lists *lists = calloc(1, sizeof *lists);
    if (lists == NULL)
        cco_fatal("no memory for lists of ranks of communicator '%s'", state->name);
    lists->comm = cco_comm_copy(state->comm);
    if (lists->comm == MPI_COMM_NULL) {
        free(lists);
        return NULL;
    }
    lists->next = lists->users = 1;
    lists->number = cco_teardown_number(state->comm);
    *attached = lists;
    return lists;
}

cco_lists *cco_lists_of(MPI_Comm comm)
{
    cco_process_enter();
    cco_comm *state = comm != MPI_COMM_NULL ? cco_prepare(comm) : NULL;
    if (state == NULL)
        return NULL;
    cco_lists **attached = cco_comm_attached(state, &lists_key);
    if (attached == NULL)
        attached = cco_comm_attach(state, &lists_key, sizeof *attached, multisend_lists_release);
    return *attached != NULL ? *attached : multisend_lists_make(state, attached);
}

int cco_lists_why(MPI_Comm comm)
{
    int inter = 1;
    return PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ? MPI_ERR_COMM
                                                                      : MPI_ERR_INTERN;
}

static void multisend_lists_mark(cco_lists *lists, int tag)
{
    lists->used[tag / 64] |= (uint64_t)1 << tag % 64;
}

int cco_lists_take_tag(cco_lists *lists, int *tag)
{
    if (lists->next < CCO_LISTS_TAGS) {
        *tag = lists->next++;
        multisend_lists_mark(lists, *tag);
        return MPI_SUCCESS;
    }
    uint64_t used[CCO_LISTS_WORDS];
    const int rc = cco_service_allreduce(lists->used, used, CCO_LISTS_WORDS, MPI_UINT64_T, MPI_BOR,
                                         lists->comm);
    if (rc != MPI_SUCCESS)
        return rc;
    for (*tag = 1; *tag < CCO_LISTS_TAGS; ++*tag)
        if (!(used[*tag / 64] >> *tag % 64 & 1)) {
            multisend_lists_mark(lists, *tag);
            return MPI_SUCCESS;
        }
    return MPI_ERR_OTHER;
}

void cco_lists_give_tag(cco_lists *lists, int tag)
{
    lists->used[tag / 64] &= ~((uint64_t)1 << tag % 64);
}

int cco_lists_refuse(MPI_Comm comm, int error)
{
    int error_class = error;
    PMPI_Error_class(error, &error_class);
    PMPI_Comm_call_errhandler(comm != MPI_COMM_NULL ? comm : MPI_COMM_WORLD, error_class);
    return error_class;
}
