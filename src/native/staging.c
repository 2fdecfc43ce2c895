/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.c - see staging.h. */
#include "native/staging.h"

#include <stdlib.h>
#include <string.h>

#include "call/data.h"
#include "comm/facts.h"
#include "comm/failure.h"
#include "base/log.h"
#include "mpi/mpi_compat.h"
#include "mpi/service.h"
#include "mpi/ulfm.h"
#include "native/calls.h"

enum {
    KEPT = 8,            /* per communicator; with both buffers they take at most 256 KiB of it */
    COMMS = 64,          /* communicators on which requests are kept, of a process */
    LARGEST = 16 * 1024, /* bytes of a buffer; beyond, copying costs more than making it anew */
};

typedef struct shelf {
    bool failed;   /* a process has: its requests may be active for ever, and are never freed */
    MPI_Comm comm; /* of the same ranks: requests keep a communicator alive, and are made in the
                      same order on all ranks; MPI_COMM_NULL: there is none to be had */
    cco_staged kept[KEPT];
    int count;
    uint64_t now;
} shelf;

/* Communicators of this process for that.  MPIs have room for few. */
static int comms;

static const char shelf_key; /* its address is the key */

static bool moves_data(cco_coll coll)
{
    return !(cco_coll_infos[coll].properties & CCO_REDUCTION);
}

bool cco_staged_key_of(const cco_comm *state, const cco_call *call, cco_staged_key *key)
{
    const int properties = cco_coll_infos[call->coll].properties;
    *key = (cco_staged_key){.coll = call->coll, .type = MPI_BYTE, .op = MPI_OP_NULL};
    if (call->coll == CCO_BARRIER)
        return true;
    if (!(properties & CCO_SIZED) || properties & CCO_COUNTS)
        return false;
    const MPI_Count bytes = cco_bytes(call, state->rank, state->size);
    if (bytes <= 0 || bytes > LARGEST / state->size)
        return false;
    key->bytes = bytes;
    key->root = properties & CCO_ROOTED ? call->root : 0;
    if (moves_data(call->coll))
        return true;
    key->type = call->recvtype;
    key->op = call->op;
    return cco_op_predefined(call->op) && cco_type_predefined(call->recvtype) &&
           cco_type_dense(call->recvtype);
}

static bool staging_same(const cco_staged_key *a, const cco_staged_key *b)
{
    return a->coll == b->coll && a->root == b->root && a->bytes == b->bytes && a->type == b->type &&
           a->op == b->op;
}

static void staging_let_go(cco_staged *kept)
{
    PMPI_Request_free(&kept->request);
    free(kept->send);
    free(kept->recv);
}

static void release_shelf(void *data)
{
    shelf *s = data;
    for (int i = 0; i < s->count && !s->failed; i++)
        staging_let_go(&s->kept[i]);
    if (s->comm != MPI_COMM_NULL) {
        if (!s->failed)
            PMPI_Comm_free(&s->comm);
        __atomic_fetch_sub(&comms, 1, __ATOMIC_RELAXED);
    }
    free(s);
}

/* Others may wait there for this rank. */
static void staging_leave(void *what, int error)
{
    shelf *s = what;
    (void)error;
    s->failed = true;
    if (s->comm != MPI_COMM_NULL)
        cco_ulfm_revoke(s->comm);
}

static shelf *shelf_of(cco_comm *state)
{
    shelf *s = cco_comm_attached(state, &shelf_key);
    if (s != NULL)
        return s;
    s = cco_comm_attach(state, &shelf_key, sizeof *s, release_shelf);
    s->comm = MPI_COMM_NULL;
    cco_comm_on_failure(state, staging_leave, s);
    if (cco_service_all(__atomic_load_n(&comms, __ATOMIC_RELAXED) < COMMS && !cco_inject_mismatch(),
                        state->comm))
        s->comm = cco_comm_copy(state->comm);
    if (s->comm != MPI_COMM_NULL)
        __atomic_fetch_add(&comms, 1, __ATOMIC_RELAXED);
    return s;
}

MPI_Comm cco_staging_comm(cco_comm *state, cco_coll coll)
{
    const MPI_Comm copy = cco_is_neighbor(coll) ? MPI_COMM_NULL : shelf_of(state)->comm;
    return copy != MPI_COMM_NULL ? copy : state->comm;
}

void cco_staging_set_up(cco_comm *state, const cco_way *way)
{
    (void)way;
    shelf_of(state);
}

/* How many blocks of key.bytes a staging buffer holds on all ranks, whatever it means there. */
static int staging_blocks(int shape, int size)
{
    return shape & CCO_EACH ? size : 1;
}

static int staging_make(const cco_comm *state, MPI_Comm comm, const cco_staged_key *key,
                        cco_staged *kept)
{
    const cco_coll_info *info = &cco_coll_infos[key->coll];
    const size_t block = (size_t)key->bytes;
    const MPI_Count count = key->bytes / cco_type_size(key->type);
    kept->key = *key;
    kept->send = malloc(block * (size_t)staging_blocks(info->in, state->size) + 1);
    kept->recv = malloc(block * (size_t)staging_blocks(info->out, state->size) + 1);
    if (kept->send == NULL || kept->recv == NULL)
        cco_fatal("no memory for the buffers of a persistent %s of %lld bytes", info->name,
                  (long long)key->bytes);
    const cco_call bound = {
        .coll = key->coll,
        .root = key->root,
        .op = key->op,
        .comm = comm,
        .sendbuf = kept->send,
        .recvbuf = kept->recv,
        .sendcount = count,
        .recvcount = count,
        .sendtype = key->type,
        .recvtype = key->type,
    };
    return cco_native_persistent(&cco_native[CCO_CALLER_INTERNAL], &bound, MPI_INFO_NULL,
                                 &kept->request);
}

/* The place for a new one: a free one, or that of the least recently used. */
static cco_staged *staging_place(shelf *s)
{
    if (s->count < KEPT)
        return &s->kept[s->count++];
    cco_staged *oldest = &s->kept[0];
    for (int i = 1; i < KEPT; i++)
        if (s->kept[i].used < oldest->used)
            oldest = &s->kept[i];
    staging_let_go(oldest);
    return oldest;
}

int cco_staged_find(cco_comm *state, const cco_staged_key *key, cco_staged **kept)
{
    shelf *s = shelf_of(state);
    *kept = NULL;
    if (s->comm == MPI_COMM_NULL)
        return MPI_SUCCESS;
    s->now++;
    for (int i = 0; i < s->count; i++)
        if (staging_same(&s->kept[i].key, key)) {
            *kept = &s->kept[i];
            (*kept)->used = s->now;
            return MPI_SUCCESS;
        }
    cco_staged fresh = {.used = s->now};
    const int rc = staging_make(state, s->comm, key, &fresh);
    if (rc != MPI_SUCCESS) {
        free(fresh.send);
        free(fresh.recv);
        return rc;
    }
    *kept = staging_place(s);
    **kept = fresh;
    return MPI_SUCCESS;
}

/* The block of rank `i` in the caller's receive buffer. */
static void *recv_block(const cco_call *c, int i)
{
    MPI_Aint low, extent = 0;
    PMPI_Type_get_extent(c->recvtype, &low, &extent);
    return (char *)c->recvbuf + (MPI_Aint)c->recvcount * extent * i;
}

/* gather and allgather have their own block in place, alltoall all of them. */
static int fill_in_place(const cco_staged *kept, const cco_call *c, const cco_comm *state, int n)
{
    const bool own = cco_coll_infos[c->coll].properties & CCO_GATHERS;
    const void *from = own ? recv_block(c, state->rank) : c->recvbuf;
    return cco_type_pack(kept->send, from, (size_t)(c->recvcount * n), c->recvtype);
}

int cco_staged_fill(const cco_staged *kept, const cco_call *c, const cco_comm *state)
{
    const int shape = cco_coll_infos[c->coll].in;
    const bool in_place = c->sendbuf == MPI_IN_PLACE;
    const int n = staging_blocks(shape, state->size);
    const MPI_Count bytes = kept->key.bytes * n;
    if (c->coll == CCO_BARRIER)
        return MPI_SUCCESS;
    if (!moves_data(c->coll)) {
        memcpy(kept->send, in_place ? c->recvbuf : c->sendbuf, (size_t)bytes);
        return MPI_SUCCESS;
    }
    if ((c->coll == CCO_BCAST || shape & CCO_AT_ROOT) && state->rank != c->root)
        return MPI_SUCCESS;
    if (c->coll == CCO_BCAST)
        return cco_type_pack(kept->recv, c->recvbuf, (size_t)c->recvcount, c->recvtype);
    if (in_place)
        return fill_in_place(kept, c, state, n);
    return cco_type_pack(kept->send, c->sendbuf, (size_t)(c->sendcount * n), c->sendtype);
}

/* True if this rank's receive buffer gets anything. */
static bool staging_receives(const cco_call *c, int rank)
{
    const int shape = cco_coll_infos[c->coll].out;
    if (c->coll == CCO_BCAST)
        return rank != c->root;
    if (shape & CCO_LATER)
        return rank != 0;
    return cco_blocks(shape, rank == c->root, 1) > 0 && c->recvbuf != MPI_IN_PLACE;
}

int cco_staged_drain(const cco_staged *kept, const cco_call *c, const cco_comm *state)
{
    const int n = staging_blocks(cco_coll_infos[c->coll].out, state->size);
    const MPI_Count bytes = kept->key.bytes * n;
    if (!staging_receives(c, state->rank))
        return MPI_SUCCESS;
    if (moves_data(c->coll))
        return cco_type_unpack(c->recvbuf, (size_t)(c->recvcount * n), c->recvtype, kept->recv);
    memcpy(c->recvbuf, kept->recv, (size_t)bytes);
    return MPI_SUCCESS;
}
