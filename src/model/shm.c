/* SPDX-License-Identifier: BSD-3-Clause */
/* model "shm": data on boards that the ranks of a node share. */
#include <stdlib.h>

#include "core/config.h"
#include "core/data.h"
#include "model/below.h"
#include "model/memo.h"
#include "model/registry.h"
#include "model/scheduled.h"
#include "model/shm_memory.h"
#include "model/shm_named.h"
#include "native/calls.h"
#include "transport/shm/flat.h"
#include "transport/shm/pool.h"

/* Boards, in order of size: data in the cache line of their number and little more; what a
 * program's middle-sized calls need; pieces of what is larger, in a ring that stays in the cache of
 * a core. */
enum { SMALL, MIDDLE, LARGE, BOARDS };
static const size_t slots[BOARDS] = {256, (8 << 10) + CCO_BOARD_LINE, (64 << 10) + CCO_BOARD_LINE};
static const unsigned rings[BOARDS] = {CCO_BOARD_RING, CCO_BOARD_RING, 8};
static const size_t rooms[BOARDS] = {256 - CCO_BOARD_HEAD,
                                     (8 << 10) + CCO_BOARD_LINE - CCO_BOARD_HEAD,
                                     (64 << 10) + CCO_BOARD_LINE - CCO_BOARD_HEAD};

/* Memory is made in the first call that needs it: a communicator for barriers takes little. */
typedef enum part { NEAR, FAR, PARTS } part;
static const int first_board[PARTS + 1] = {SMALL, MIDDLE, BOARDS};

/* What repeated calls came to. */
typedef struct kept {
    cco_memo memo;
    cco_flat plan;
} kept;

typedef struct own {
    cco_segment segments[PARTS];
    bool asked[PARTS]; /* for a segment: it is there, or never will be */
    cco_board boards[BOARDS];
    cco_workshop shop;
    kept kept[CCO_MEMOS];
    cco_shm_named named;
} own;

static const char own_key; /* its address is the key */

/* Its calls are all counted below that of the board with most. */
static void let_go(own *o, part part)
{
    uint64_t mark = 0;
    int rank = 0;
    if (o->segments[part].memory == NULL)
        return;
    for (int i = first_board[part]; i < first_board[part + 1]; i++) {
        mark = o->boards[i].call > mark ? o->boards[i].call : mark;
        rank = o->boards[i].rank;
    }
    cco_pool_keep(&o->segments[part], mark, rank);
}

static void release(void *data)
{
    own *o = data;
    for (int i = 0; i < PARTS; i++)
        let_go(o, (part)i);
    for (int i = 0; i < CCO_MEMOS; i++)
        cco_memo_empty(&o->kept[i].memo);
    cco_workshop_empty(&o->shop);
    cco_shm_named_free(&o->named);
    free(o);
}

/* Makes the boards of a part.  Each rank's share of the memory has its rings one after the other.
 */
static void make_boards(own *o, cco_comm *state, part part)
{
    cco_segment *segment = &o->segments[part];
    size_t share = 0;
    for (int i = first_board[part]; i < first_board[part + 1]; i++)
        share += cco_board_share(slots[i], rings[i]);
    uint64_t mark = 0;
    if (!cco_pool_take(segment, share, cco_configured.shm_memory, state->comm, &mark))
        return;
    size_t before = 0;
    for (int i = first_board[part]; i < first_board[part + 1]; i++) {
        o->boards[i] = (cco_board){.memory = segment->memory + before,
                                   .share = segment->share,
                                   .slot = slots[i],
                                   .ring = rings[i],
                                   .rank = state->rank,
                                   .size = state->size,
                                   .call = mark,
                                   .passed_by = CCO_BOARD_ALL};
        before += cco_board_share(slots[i], rings[i]);
    }
}

/* Whether there is memory for the boards of a call, the same on all ranks.  Collective when the
 * first ones of their part are asked for. */
static bool has_boards(own *o, cco_comm *state, const cco_flat *plan)
{
    const part part = plan->stage[0].board >= first_board[FAR] ? FAR : NEAR;
    if (!o->asked[part]) {
        o->asked[part] = true;
        make_boards(o, state, part);
    }
    return o->segments[part].memory != NULL;
}

static own *own_of(cco_comm *state)
{
    own *o = cco_comm_attached(state, &own_key);
    return o != NULL ? o : cco_comm_attach(state, &own_key, sizeof *o, release);
}

static int run_as_p2p(cco_comm *state, const cco_call *call)
{
    const cco_way way = {.model = &cco_model_p2p};
    return cco_model_p2p.run(state, &way, call);
}

/* Reductions need a type that is the same for ever on all ranks, and no gaps. */
static bool takes(const cco_call *call)
{
    return !(cco_coll_infos[call->coll].properties & CCO_REDUCTION) ||
           (cco_type_predefined(call->recvtype) && cco_type_dense(call->recvtype));
}

/* Memory of the program that need not be copied: small data are not worth looking for it. */
static const cco_regions *regions_for(const cco_comm *state, const cco_flat *plan)
{
    return plan->stage[plan->stages - 1].board == LARGE ? cco_shm_memory_of(state) : NULL;
}

static int run_frame(cco_board *boards, const cco_flat *plan, const cco_frame *frame,
                     const cco_regions *regions)
{
    int rc = cco_frame_fill(frame);
    if (rc == MPI_SUCCESS)
        rc = cco_flat_run(boards, plan, &frame->problem, &frame->binding, regions);
    return rc == MPI_SUCCESS ? cco_frame_drain(frame) : rc;
}

static int run_below(cco_comm *state, const cco_call *call)
{
    return cco_run_below(&cco_model_shm, state, call,
                         "its ranks share no memory (other nodes, other containers, or no room)");
}

/* A call that is not remembered. */
static int run_new(own *o, kept *k, cco_comm *state, const cco_way *way, const cco_call *call)
{
    cco_frame frame;
    if (!takes(call))
        return run_as_p2p(state, call);
    int rc = cco_frame_make(&frame, state, call, true, &o->shop);
    if (rc == MPI_SUCCESS) {
        const cco_flat plan = cco_flat_plan(&frame.problem, rooms, BOARDS,
                                            state->facts.crowded);
        if (!has_boards(o, state, &plan)) {
            cco_workshop_trim(&o->shop);
            return run_below(state, call);
        }
        rc = run_frame(o->boards, &plan, &frame, regions_for(state, &plan));
        if (rc == MPI_SUCCESS && cco_memo_write(&k->memo, 0, way, &frame, NULL))
            k->plan = plan;
        cco_workshop_trim(&o->shop);
    }
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

static int run_again(cco_comm *state, own *o, kept *k, const cco_call *call)
{
    cco_memo *memo = &k->memo;
    memo->binding.base[CCO_IN] = (char *)(uintptr_t)call->sendbuf;
    memo->binding.base[CCO_OUT] = call->recvbuf;
    const int rc = cco_flat_run(o->boards, &k->plan, &memo->problem, &memo->binding,
                                regions_for(state, &k->plan));
    if (rc != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(call->comm, rc);
    return rc;
}

static int run(cco_comm *state, const cco_way *way, const cco_call *call)
{
    own *o = own_of(state);
    kept *k = &o->kept[cco_memo_place(call)];
    if (cco_memo_holds(&k->memo, 0, way, call))
        return run_again(state, o, k, call);
    if (!cco_arguments_fine(state, call))
        return cco_native_blocking(call);
    if (way->algo == NULL)
        return run_new(o, k, state, way, call);
    return cco_shm_named_there(&o->named, state) ? cco_shm_named_run(&o->named, state, way, call)
                                                 : run_below(state, call);
}

static const char *refuses(const cco_way *way, cco_coll coll, int size)
{
    if (way->algo != NULL)
        return cco_scheduled_refuses(way, coll, size);
    return size > CCO_FLAT_RANKS ? "there are more than 64 processes" : NULL;
}

/* The boards are of one call at a time: begins go over streams, with the preset algorithm if none
 * is named. */
static cco_course course(const cco_comm *state, const cco_way *way, const char **why)
{
    (void)state, (void)way;
    *why = NULL;
    return CCO_COURSE_SEGMENT;
}

const cco_model cco_model_shm = {
    .name = "shm",
    .doc = "shared memory of a node",
    .run = run,
    .touches = true,
    .below = &cco_model_p2p,
    .algorithms = cco_algo_of,
    .refuses = refuses,
    .course = course,
};
