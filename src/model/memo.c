/* SPDX-License-Identifier: BSD-3-Clause */
/* memo.c - see memo.h. */
#include "model/memo.h"

#include "core/data.h"

/* The types of an end that the call does not use may be anything. */
static bool lasting(const cco_end *end)
{
    return end->blocks == 0 || (end->counts == NULL && cco_type_predefined(end->type));
}

bool cco_memo_write(cco_memo *m, unsigned drops, const cco_way *way, const cco_frame *frame,
                    cco_plan *plan)
{
    const cco_call *c = frame->call;
    const bool reduces = cco_coll_infos[c->coll].properties & CCO_REDUCTION;
    if (frame->packs_in || frame->packs_out || frame->problem.counts != NULL ||
        !lasting(&frame->in) || !lasting(&frame->out) || (reduces && !cco_op_predefined(c->op)))
        return false;
    *m = (cco_memo){.call = *c,
                    .send_in_place = c->sendbuf == MPI_IN_PLACE,
                    .recv_in_place = c->recvbuf == MPI_IN_PLACE,
                    .way = *way,
                    .set = true,
                    .plan = plan,
                    .drops = drops,
                    .binding = frame->binding};
    return true;
}
