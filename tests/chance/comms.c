/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.c - see comms.h. */
#include "comms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "flow.h"
#include "known.h"
#include "testing/testing.h"

enum { LEFT = 600 };

static struct slot *left[LEFT]; /* no longer in a slot, not yet freed */
static int left_count;
static bool left_windows;

static const char *const mixed[] = {"mpi",
                                    "nonblock",
                                    "persist",
                                    "p2p",
                                    "shm",
                                    "os",
                                    "os?via=get",
                                    "p2p:ring",
                                    "p2p:bruck",
                                    "shm?copy=single",
                                    "shm:ring",
                                    "shm:binomial",
                                    "p2p,alltoall[1K-inf]=os",
                                    "os,allreduce[0-100]=p2p:ring"};

void comms_choose(struct slot *slot, dice d)
{
#ifndef PLAIN_MPI
    const char *impl = program.impl;
    char spec[128];
    if (program.plain || strcmp(impl, "env") == 0 || slot->comm == MPI_COMM_NULL)
        return;
    if (strcmp(impl, "mix") == 0)
        impl = mixed[below(&d, LEN(mixed))];
    const char *rest = strchr(impl, ',');
    snprintf(spec, sizeof spec, "%s%s*=%.*s", rest ? rest + 1 : "", rest ? "," : "",
             rest ? (int)(rest - impl) : 60, impl);
    CHECK(CRESTA_Set_impl(slot->comm, spec) == MPI_SUCCESS, "CRESTA_Set_impl: %s", spec);
#else
    (void)slot, (void)d, (void)mixed;
#endif
}

static struct slot *slot_new(MPI_Comm comm)
{
    struct slot *slot = calloc(1, sizeof *slot);
    slot->comm = comm;
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &slot->rank);
        MPI_Comm_size(comm, &slot->size);
    }
    return slot;
}

void comms_begin(void)
{
    left_count = 0;
    left_windows = false;
    memset(program.slots, 0, sizeof program.slots);
    program.slots[0] = slot_new(program.world);
    comms_choose(program.slots[0], program.shared);
}

struct slot *comms_some(dice *shared)
{
    int at = below(shared, SLOTS);
    if (one_in(shared, 4))
        at = 0;
    while (!program.slots[at])
        at = (at + 1) % SLOTS;
    return program.slots[at];
}

/* Waits for the request of MPI_Comm_idup in some way. */
static void duplicate(MPI_Comm of, MPI_Comm *to, dice *d)
{
    MPI_Request request;
    MPI_Info info;
    switch (below(d, 3)) {
    case 0:
        MPI_Comm_dup(of, to);
        break;
    case 1:
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_assert_allow_overtaking", "false");
        MPI_Info_set(info, "chance", "yes");
        MPI_Comm_dup_with_info(of, info, to);
        MPI_Info_free(&info);
        break;
    default:
        MPI_Comm_idup(of, to, &request);
        VIA(Wait)(&request, MPI_STATUS_IGNORE);
    }
}

/* Members at random, which all ranks know: at least rank `sure`, in an order at random. */
static MPI_Group members(const struct slot *of, dice *d)
{
    MPI_Group all, some;
    int ranks[RANKS], count = 0;
    const int sure = below(d, of->size), from = below(d, of->size);
    for (int i = 0; i < of->size; i++) {
        const int rank = (from + of->size - i) % of->size;
        if (rank == sure || !one_in(d, 3))
            ranks[count++] = rank;
    }
    MPI_Comm_group(of->comm, &all);
    MPI_Group_incl(all, count, ranks, &some);
    MPI_Group_free(&all);
    return some;
}

static void by_group(const struct slot *of, MPI_Comm *to, dice *d, int tag)
{
    MPI_Group group = members(of, d);
    int rank;
    MPI_Group_rank(group, &rank);
    if (one_in(d, 2))
        MPI_Comm_create(of->comm, group, to);
    else if (rank != MPI_UNDEFINED)
        MPI_Comm_create_group(of->comm, group, tag, to);
    MPI_Group_free(&group);
}

static void by_colour(const struct slot *of, MPI_Comm *to, dice *d)
{
    int colours[RANKS];
    const int count = 1 + below(d, 3), direction = one_in(d, 2) ? -1 : 1;
    const bool nodes = one_in(d, 6);
    for (int i = 0; i < of->size; i++)
        colours[i] = one_in(d, 6) && i != 0 ? MPI_UNDEFINED : below(d, count);
    if (nodes)
        MPI_Comm_split_type(of->comm, MPI_COMM_TYPE_SHARED, of->rank, MPI_INFO_NULL, to);
    else
        MPI_Comm_split(of->comm, colours[of->rank], direction * of->rank, to);
}

static void as_grid(const struct slot *of, MPI_Comm *to, dice *d)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, kept[2] = {0, 1};
    const int count = 1 + below(d, 2);
    MPI_Comm grid;
    MPI_Dims_create(of->size, count, dims);
    MPI_Cart_create(of->comm, count, dims, periods, 0, to);
    if (count == 2 && one_in(d, 2)) {
        grid = *to;
        MPI_Cart_sub(grid, kept, to);
        MPI_Comm_free(&grid);
    }
}

/* Collectives of an intercommunicator are the MPI's own, whatever the implementation. */
static void across(MPI_Comm inter, int rank, int low)
{
    int sum = -1, word = rank + 7;
    MPI_Request request;
    struct call c = {.coll = COLL_Allreduce,
                     .sendbuf = &rank,
                     .recvbuf = &sum,
                     .recvcount = 1,
                     .recvtype = MPI_INT,
                     .sendtype = MPI_DATATYPE_NULL,
                     .op = MPI_SUM,
                     .comm = inter};
    program.plain ? plain_call(BLOCKING, &c, true, &request) : call_make(BLOCKING, &c, &request);
    const int first = sum;
    c = (struct call){.coll = COLL_Bcast,
                      .recvbuf = &word,
                      .recvcount = 1,
                      .recvtype = MPI_INT,
                      .sendtype = MPI_DATATYPE_NULL,
                      .op = MPI_OP_NULL,
                      .comm = inter,
                      .root = low ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0};
    program.plain ? plain_call(NONBLOCKING, &c, true, &request)
                  : call_make(NONBLOCKING, &c, &request);
    VIA(Wait)(&request, MPI_STATUS_IGNORE);
    CHECK(first >= 0 && (low || word == 7), "across: %d %d", first, word);
}

static void by_merge(const struct slot *of, MPI_Comm *to, dice *d)
{
    MPI_Comm half, inter;
    const int low = of->rank < of->size / 2, order = below(d, 2);
    if (of->size < 2) {
        MPI_Comm_dup(of->comm, to);
        return;
    }
    MPI_Comm_split(of->comm, low, of->rank, &half);
    MPI_Intercomm_create(half, 0, of->comm, low ? of->size / 2 : 0, 11, &inter);
    int rank;
    MPI_Comm_rank(half, &rank);
    across(inter, rank, low);
    MPI_Intercomm_merge(inter, low == order, to);
    MPI_Comm_free(order ? &half : &inter);
    MPI_Comm_free(order ? &inter : &half);
}

static void make(const struct slot *of, MPI_Comm *to, dice d, int tag)
{
    const int which = below(&d, 8);
    if (which < 3)
        duplicate(of->comm, to, &d);
    else if (which == 3)
        by_colour(of, to, &d);
    else if (which == 4)
        by_group(of, to, &d, tag);
    else if (which == 5 && has(CLASS_grids))
        as_grid(of, to, &d);
    else if (which == 6)
        by_merge(of, to, &d);
    else
        MPI_Comm_split(of->comm, of->rank, 0, to); /* alone */
}

void comms_make(dice *shared)
{
    const struct slot *of = comms_some(shared);
    const dice d = dice_next(shared);
    MPI_Comm comm = MPI_COMM_NULL;
    int at = 0;
    while (at < SLOTS && program.slots[at])
        at++;
    const bool chooses = !one_in(shared, 4), names = one_in(shared, 3);
    if (at == SLOTS)
        return;
    say("makes communicator %d of %d ranks", at, of->size);
    if (of->comm != MPI_COMM_NULL)
        make(of, &comm, d, 100 + program.step);
    program.slots[at] = slot_new(comm);
    if (comm != MPI_COMM_NULL) {
        int topology;
        MPI_Topo_test(comm, &topology);
        program.slots[at]->grid = topology != MPI_UNDEFINED;
    }
    if (comm != MPI_COMM_NULL && names && has(CLASS_names)) {
        snprintf(program.slots[at]->name, sizeof program.slots[at]->name, "chance-%d", at);
        MPI_Comm_set_name(comm, program.slots[at]->name);
    }
    if (comm != MPI_COMM_NULL && one_in(&program.own, 3))
        attributes_set(comm);
    const struct slot *slot = program.slots[at];
    record_put(record_new(), (unsigned long)(slot->rank + 99 * slot->size));
    if (chooses)
        comms_choose(program.slots[at], d);
}

struct slot *comms_dup(const struct slot *of)
{
    MPI_Comm comm = MPI_COMM_NULL;
    if (of->comm != MPI_COMM_NULL)
        MPI_Comm_dup(of->comm, &comm);
    return slot_new(comm);
}

void comms_leave_this(struct slot *slot)
{
    flow_close(slot);
    left_windows |= slot->windows;
    left[left_count++] = slot;
}

void comms_leave(dice *shared)
{
    int at = 1 + below(shared, SLOTS - 1);
    for (int k = 1; k < SLOTS && !program.slots[at]; k++)
        at = 1 + at % (SLOTS - 1);
    if (!program.slots[at])
        return;
    say("leaves communicator %d", at);
    comms_leave_this(program.slots[at]);
    program.slots[at] = NULL;
    while (!has(CLASS_orders) && left_count > 0) { /* all ranks now */
        flow_end_of(left[0], &program.own);
        comms_free_one(&program.own);
    }
}

void comms_leave_all(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (program.slots[i])
            comms_leave_this(program.slots[i]);
    memset(program.slots, 0, sizeof program.slots);
}

/* In this pass, with what is under way there: Open MPI's own calls crash. */
static bool may_free(const struct slot *slot)
{
    return slot->comm == MPI_COMM_NULL || slot->pending == 0 ||
           (!known_bug_free_in_flight() && has(CLASS_freed));
}

bool comms_free_one(dice *own)
{
    if (left_count == 0)
        return false;
    const int at = has(CLASS_orders) ? below(own, left_count) : 0;
    struct slot *slot = left[at];
    flow_drop_of(slot, own); /* its persistent requests */
    if (!may_free(slot) || slot->lent)
        return false;
    if (slot->comm != MPI_COMM_NULL && slot->comm != program.world) {
        say("frees a communicator of %d ranks", slot->size);
        MPI_Comm_free(&slot->comm);
    }
    if (slot->pending > 0) /* its operations still count themselves there */
        slot->comm = MPI_COMM_NULL;
    if (slot->pending > 0)
        return true;
#ifndef PLAIN_MPI
    if (slot->memory)
        CRESTA_Free_mem(slot->memory);
#endif
    memmove(&left[at], &left[at + 1], sizeof left[0] * (size_t)(left_count - at - 1));
    left_count--;
    free(slot);
    return true;
}

bool comms_left(void)
{
    return left_count > 0;
}

bool comms_left_windows(void)
{
    return left_windows;
}
