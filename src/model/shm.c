/* SPDX-License-Identifier: BSD-3-Clause */
/* model "shm": small data on a board that the ranks of a node share, everything else as p2p. */
#include <stdlib.h>

#include "core/config.h"
#include "core/data.h"
#include "core/log.h"
#include "model/memo.h"
#include "model/registry.h"
#include "model/scheduled.h"
#include "native/calls.h"
#include "transport/shm/flat.h"
#include "transport/shm/segment.h"

enum { MOST_RANKS = 64 }; /* every rank reads what every other shows */

/* What repeated calls came to: their problem besides what a memo holds. */
typedef struct kept {
    cco_memo memo;
    cco_problem problem;
    cco_board *board;
} kept;

/* Boards of small and of larger slots: few calls of a program need the larger, and only what is
 * used takes memory. */
enum { BOARDS = 2 };
static const size_t slots[BOARDS] = {256, 8192 + 64};

typedef struct own {
    cco_segment segment; /* no memory: the ranks share none */
    cco_board boards[BOARDS];
    cco_workshop shop;
    kept kept[CCO_MEMOS];
} own;

static const char own_key; /* its address is the key */

static void release(void *data)
{
    own *o = data;
    cco_segment_free(&o->segment);
    cco_workshop_empty(&o->shop);
    free(o);
}

/* Collective when it is made, in the first call; NULL when communicators run out. */
static own *own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    if (o != NULL)
        return o;
    const MPI_Comm comm = cco_comm_private(state);
    if (comm == MPI_COMM_NULL)
        return NULL;
    o = cco_comm_attach(state, &own_key, sizeof *o, release);
    size_t before = 0, shares = 0;
    for (int i = 0; i < BOARDS; i++)
        shares += cco_board_share(slots[i]);
    if (!cco_segment_make(&o->segment, (size_t)state->size * shares, comm, state->rank))
        return o;
    for (int i = 0; i < BOARDS; i++) {
        o->boards[i] = (cco_board){.memory = o->segment.memory + before,
                                   .slot = slots[i],
                                   .rank = state->rank,
                                   .size = state->size};
        before += (size_t)state->size * cco_board_share(slots[i]);
    }
    return o;
}

static int run_as_p2p(cco_comm *state, const cco_call *call)
{
    const cco_way way = {.model = &cco_model_p2p};
    return cco_model_p2p.run(state, &way, call);
}

/* The ranks of this communicator share no memory; all know. */
static int run_without_memory(cco_comm *state, const cco_call *call)
{
    static int told; /* once: a program may have thousands of communicators */
    const bool error = cco_configured.fallback == CCO_FALLBACK_ERROR;
    if (state->rank == 0 && cco_configured.fallback != CCO_FALLBACK_SILENT &&
        !__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
        cco_say("shm on communicator '%s': its ranks share no memory (other nodes, other"
                " containers, or no room)%s",
                state->name, error ? "; CRESTA_FALLBACK=error" : "; p2p runs instead");
    if (!error)
        return run_as_p2p(state, call);
    PMPI_Comm_call_errhandler(call->comm, MPI_ERR_UNSUPPORTED_OPERATION);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

/* The board for a call, the same on all ranks; NULL if there is none.  Reductions need a type that
 * is the same for ever on all ranks. */
static cco_board *board_for(own *o, const cco_call *call, const cco_problem *q)
{
    const size_t shown = cco_flat_shown(q);
    if (cco_coll_infos[call->coll].properties & CCO_REDUCTION &&
        !(cco_type_predefined(call->recvtype) && cco_type_dense(call->recvtype)))
        return NULL;
    for (int i = 0; i < BOARDS; i++)
        if (shown <= cco_board_room(slots[i]))
            return &o->boards[i];
    return NULL;
}

/* True for what no board takes, seen before anything is prepared: large data, and the calls whose
 * sizes only some know. */
static bool is_hopeless(const cco_comm *state, const cco_call *call)
{
    const MPI_Count most = (MPI_Count)cco_board_room(slots[BOARDS - 1]);
    if (cco_coll_infos[call->coll].properties & CCO_SIZED)
        return cco_bytes(call, state->rank, state->size) > most;
    return call->coll != CCO_BARRIER && call->coll != CCO_ALLGATHERV;
}

/* A call that is not remembered. */
static int run_new(own *o, kept *k, cco_comm *state, const cco_way *way, const cco_call *call)
{
    cco_frame frame;
    if (is_hopeless(state, call))
        return run_as_p2p(state, call);
    int rc = cco_frame_make(&frame, state, call, true, &o->shop);
    if (rc != MPI_SUCCESS) {
        PMPI_Comm_call_errhandler(call->comm, rc);
        return rc;
    }
    cco_board *board = board_for(o, call, &frame.problem);
    if (board == NULL) {
        cco_workshop_trim(&o->shop);
        return run_as_p2p(state, call);
    }
    rc = cco_frame_fill(&frame);
    if (rc == MPI_SUCCESS)
        rc = cco_flat_run(board, &frame.problem, &frame.binding);
    if (rc == MPI_SUCCESS)
        rc = cco_frame_drain(&frame);
    if (rc == MPI_SUCCESS && cco_memo_write(&k->memo, 0, way, &frame, NULL)) {
        k->problem = frame.problem;
        k->board = board;
        k->problem.layouts = k->memo.binding.layouts;
    } else if (rc != MPI_SUCCESS) {
        PMPI_Comm_call_errhandler(call->comm, rc);
    }
    cco_workshop_trim(&o->shop);
    return rc;
}

static int run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    if (!cco_arguments_fine(state, call))
        return cco_native_blocking(call);
    own *o = own_of(state);
    if (o == NULL) {
        PMPI_Comm_call_errhandler(call->comm, MPI_ERR_COMM);
        return MPI_ERR_COMM;
    }
    if (o->segment.memory == NULL)
        return run_without_memory(state, call);
    kept *k = &o->kept[cco_memo_place(call)];
    if (!cco_memo_holds(&k->memo, 0, way, call))
        return run_new(o, k, state, way, call);
    k->memo.binding.base[CCO_IN] = (char *)(uintptr_t)call->sendbuf;
    k->memo.binding.base[CCO_OUT] = call->recvbuf;
    return cco_flat_run(k->board, &k->problem, &k->memo.binding);
}

static const char *refuses(const cco_way *way, cco_coll coll, int size)
{
    (void)way, (void)coll;
    return size > MOST_RANKS ? "there are more than 64 processes" : NULL;
}

const cco_model cco_model_shm = {
    .name = "shm",
    .doc = "shared memory of a node for small data (8 KiB a rank), p2p for the rest",
    .run = run,
    .below = &cco_model_p2p,
    .refuses = refuses,
};
