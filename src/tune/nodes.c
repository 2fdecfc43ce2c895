/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - see nodes.h. */
#include "tune/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "comm/facts.h"
#include "comm/failure.h"
#include "base/imposed_nodes.h"
#include "base/log.h"
#include "mpi/mpi_compat.h"
#include "base/node_key.h"
#include "mpi/service.h"
#include "sched/node_map.h"

static bool wanted; /* by a rule or a profile; */
static bool sends;  /* by a model that sends between nodes, too */

static bool nodes_names_model(const cco_rules *rules)
{
    for (int i = 0; rules != NULL && i < rules->count; i++)
        if (rules->list[i].model->by_nodes)
            return true;
    return false;
}

static bool nodes_asks(const cco_rules *rules)
{
    for (int i = 0; rules != NULL && i < rules->count; i++)
        if (cco_rule_asks_nodes(&rules->list[i]))
            return true;
    return nodes_names_model(rules);
}

void cco_nodes_want(void)
{
    __atomic_store_n(&wanted, true, __ATOMIC_RELAXED);
}

void cco_nodes_wanted_by(const cco_rules *rules)
{
    if (nodes_asks(rules))
        cco_nodes_want();
    if (nodes_names_model(rules))
        __atomic_store_n(&sends, true, __ATOMIC_RELAXED);
}

void cco_nodes_check_imposed(void)
{
    cco_config *c = &cco_configured;
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    const int ranks = c->nodes != NULL ? cco_imposed_ranks(c->nodes) : size;
    if (ranks < size && !c->error[0])
        snprintf(c->error, sizeof c->error,
                 "CRESTA_NODES=%.200s: it places %d ranks, and MPI_COMM_WORLD has %d", c->nodes,
                 ranks, size);
}

/* Combines the words of all ranks; none is known if a process has failed.  By an allreduce: some
 * MPIs gather without waiting by a message from every rank to every other. */
static void nodes_combine(cco_comm *state, uint64_t *words, int count)
{
    if (state->size == 1 || /* see cco_agree */
        cco_service_allreduce(MPI_IN_PLACE, words, count, MPI_UINT64_T, MPI_BOR, state->comm) ==
            MPI_SUCCESS)
        return;
    memset(words, 0, (size_t)count * sizeof *words);
    if (!cco_comm_has_failed(state))
        cco_fatal("cannot find the nodes of communicator '%s': the MPI's allreduce failed",
                  state->name);
}

/* The keys of all ranks, 0 of those that do not know theirs.  A model that sends needs a channel:
 * on that they agree at the same time. */
static void gather_keys(cco_comm *state, uint64_t *keys, bool channel)
{
    uint64_t *offer = keys + state->size;
    struct cco_carrier *offered = channel ? cco_channel_offer(state->comm, offer) : NULL;
    keys[state->rank] = cco_inject_mismatch() ? 0 : cco_node_key();
    nodes_combine(state, keys, state->size + (channel ? CCO_CHANNEL_WORDS : 0));
    if (channel && cco_channel_accept(&state->channel, offered, offer))
        cco_service_pass(state->comm, state->channel.comm, cco_channel_service(&state->channel));
}

/* On one node all have the same, whatever it is. */
static uint64_t *keys_of_all(cco_comm *state, bool channel)
{
    uint64_t *keys = calloc((size_t)state->size + CCO_CHANNEL_WORDS, sizeof *keys);
    if (keys == NULL) /* to go on without them on one rank would hang the others */
        cco_fatal("no memory for the nodes of communicator '%s'", state->name);
    if (!state->facts.one_node)
        gather_keys(state, keys, channel);
    for (int i = 0; state->facts.one_node && i < state->size; i++)
        keys[i] = 1;
    return keys;
}

/* Who does not know is a node of its own.  True if all know. */
static bool nodes_complete(uint64_t *keys, int size)
{
    bool all = true;
    for (int i = 0; i < size; i++)
        if (keys[i] == 0) {
            keys[i] = UINT64_MAX - (uint64_t)i;
            all = false;
        }
    return all;
}

static const char map_key; /* its address is the key */

static void nodes_release(void *data)
{
    cco_node_map **map = data;
    cco_node_map_drop(*map);
    free(map);
}

/* All ranks work with the same keys: they get the same map. */
void cco_nodes_find(cco_comm *state, const cco_rules *more)
{
    if (state->nodes.counted || !(__atomic_load_n(&wanted, __ATOMIC_RELAXED) || nodes_asks(more)))
        return;
    const bool sending = __atomic_load_n(&sends, __ATOMIC_RELAXED) || nodes_names_model(more);
    uint64_t *keys = keys_of_all(state, sending && state->channel.comm == MPI_COMM_NULL);
    const bool known = nodes_complete(keys, state->size);
    cco_node_map **map = cco_comm_attach(state, &map_key, sizeof(*map), nodes_release);
    *map = cco_node_map_new(keys, state->size);
    free(keys);
    if (*map == NULL)
        cco_fatal("no memory for the nodes of communicator '%s'", state->name);
    state->nodes = (cco_nodes){true, *map, known ? (*map)->count : 0, (*map)->least, (*map)->most};
}
