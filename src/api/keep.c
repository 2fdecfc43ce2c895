/* SPDX-License-Identifier: BSD-3-Clause */
/* keep.c - copies of the arrays of a call (MPI 4.0, section 6.12: the program must not change them
 * before the end; here it may). */
#include <stdlib.h>
#include <string.h>

#include "api/given.h"
#include "api/kept.h"
#include "core/config.h"
#include "native/defects.h"
#include "native/empty.h"

enum { ARRAYS = 6 };

int cco_given_to(const cco_call *call, cco_given *given)
{
    int inter = 0;
    int rc = PMPI_Comm_test_inter(call->comm, &inter);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_rank(call->comm, &given->rank);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_size(call->comm, &given->group);
    given->inter = inter;
    given->peers = given->group;
    return rc == MPI_SUCCESS && inter ? PMPI_Comm_remote_size(call->comm, &given->peers) : rc;
}

bool cco_given_root(const cco_call *call, const cco_given *given)
{
    return given->inter ? call->root == MPI_ROOT : call->root == given->rank;
}

/* An array of a call: where the call points to it, how large it is. */
typedef struct array {
    const void **from;
    size_t bytes;
} array;

static size_t round_up(size_t bytes)
{
    return (bytes + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
}

/* The arrays that a call has, those that mean nothing on this rank left out. */
static int list_arrays(cco_call *c, const cco_given *given, array list[ARRAYS])
{
    const size_t n = (size_t)(c->coll == CCO_REDUCE_SCATTER ? given->group : given->peers);
    const size_t counts = n * (c->large ? sizeof(MPI_Count) : sizeof(int));
    const size_t displs = n * (c->large ? sizeof(MPI_Aint) : sizeof(int));
    const bool rooted = cco_coll_infos[c->coll].properties & CCO_ROOTED;
    const bool sent = c->sendbuf != MPI_IN_PLACE || c->coll == CCO_SCATTERV;
    const array all[ARRAYS] = {
        {&c->sendcounts, sent ? counts : 0},
        {&c->senddispls, sent ? displs : 0},
        {(const void **)&c->sendtypes, sent ? n * sizeof *c->sendtypes : 0},
        {&c->recvcounts, counts},
        {&c->recvdispls, displs},
        {(const void **)&c->recvtypes, n * sizeof *c->recvtypes},
    };
    int found = 0;
    for (int i = 0; i < ARRAYS && (!rooted || cco_given_root(c, given)); i++)
        if (*all[i].from != NULL && all[i].bytes > 0)
            list[found++] = all[i];
    return found;
}

/* Room for the arrays, and the arrays in it. */
static cco_kept *keep_arrays(cco_call *c, const cco_given *given)
{
    array list[ARRAYS];
    const int count = list_arrays(c, given, list);
    size_t room = 0;
    for (int i = 0; i < count; i++)
        room += round_up(list[i].bytes);
    cco_kept *kept = malloc(sizeof *kept + room);
    if (kept == NULL)
        return NULL;
    *kept = (cco_kept){.request = MPI_REQUEST_NULL};
    char *at = kept->arrays;
    for (int i = 0; i < count; i++) {
        *list[i].from = memcpy(at, *list[i].from, list[i].bytes);
        at += round_up(list[i].bytes);
    }
    return kept;
}

/* Where the MPI cannot do an alltoallv or alltoallw in place, what it sends is a copy. */
static bool sends_copy_instead(cco_call *c)
{
    if (!cco_in_place_defect(c))
        return false;
    c->sendbuf = c->recvbuf;
    c->sendcounts = c->recvcounts;
    c->senddispls = c->recvdispls;
    c->sendtype = c->recvtype;
    c->sendtypes = c->recvtypes;
    return true;
}

/* MPI_IN_PLACE as a send buffer is nothing to copy; a bcast has one buffer, a barrier none. */
static bool is_protected(const cco_call *c)
{
    return cco_configured.protect && c->coll != CCO_BARRIER && c->coll != CCO_BCAST &&
           c->sendbuf != MPI_IN_PLACE;
}

static bool has_arrays(const cco_call *c)
{
    return c->sendcounts != NULL || c->recvcounts != NULL;
}

int cco_keep(cco_call *call, cco_kept **kept)
{
    cco_given given;
    *kept = NULL;
    if (call->comm == MPI_COMM_NULL || (!has_arrays(call) && !is_protected(call)))
        return MPI_SUCCESS;
    int rc = cco_given_to(call, &given);
    if (rc != MPI_SUCCESS)
        return rc;
    const bool copies = sends_copy_instead(call) || is_protected(call);
    *kept = keep_arrays(call, &given);
    rc = *kept == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && copies)
        rc = cco_keep_send(call, &given, &(*kept)->send);
    if (rc == MPI_SUCCESS)
        return rc;
    cco_kept_free(*kept);
    *kept = NULL;
    PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

void cco_keep_empty(cco_call *call, cco_kept *kept)
{
    cco_given given;
    if (kept != NULL && has_arrays(call) && cco_given_to(call, &given) == MPI_SUCCESS)
        cco_drop_empty(call, given.peers, cco_given_root(call, &given), &kept->counts);
}
