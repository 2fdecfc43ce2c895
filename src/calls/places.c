/* SPDX-License-Identifier: BSD-3-Clause */
/* places.c - which ranks of a communicator are on this process's node.  Only jobs on several nodes
 * ask.  What is found out about a communicator is kept with it, as an attribute. */
#include "calls/places.h"

#include <stdlib.h>
#include <string.h>

bool cco_calls_several_nodes;

typedef struct places {
    int size;
    uint8_t distance[];
} places;

static struct {
    uint8_t *distance; /* of the ranks of MPI_COMM_WORLD */
    int keyval;
    unsigned changes; /* how often what a thread remembers may have become wrong */
    cco_useful_place mine;
} world = {.keyval = MPI_KEYVAL_INVALID, .mine = {0, -1}};

/* The communicator that a thread asked about last. */
typedef struct asked {
    MPI_Comm comm;
    unsigned changes;
    const places *found;
} asked;
static _Thread_local asked last __attribute__((tls_model("initial-exec")));

static int calls_drop_places(MPI_Comm comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)extra;
    __atomic_fetch_add(&world.changes, 1, __ATOMIC_RELAXED);
    free(attribute);
    return MPI_SUCCESS;
}

cco_useful_place cco_calls_place_here(void)
{
    return world.mine;
}

/* The first rank on the node of one; -1, for all alike, if a node is not known. */
static int calls_first_there(const uint64_t *nodes, int ranks, int rank)
{
    int first = rank;
    for (int i = ranks - 1; i >= 0; i--) {
        if (nodes[i] == 0)
            return -1;
        if (nodes[i] == nodes[rank])
            first = i;
    }
    return first;
}

void cco_calls_places_begin(const uint64_t *nodes, int ranks)
{
    int rank = 0;
    bool several = false;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    world.mine = (cco_useful_place){rank, calls_first_there(nodes, ranks, rank)};
    for (int i = 0; i < ranks; i++)
        several = several || nodes[i] != nodes[0];
    if (!several || (world.distance = malloc((size_t)ranks)) == NULL)
        return;
    for (int i = 0; i < ranks; i++)
        world.distance[i] = nodes[i] == nodes[rank] ? CCO_CALLS_ON_NODE : CCO_CALLS_BETWEEN_NODES;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, calls_drop_places, &world.keyval, NULL) ==
        MPI_SUCCESS)
        cco_calls_several_nodes = true;
}

/* Where the ranks of a group are in MPI_COMM_WORLD, as distances. */
static void calls_translate(MPI_Group group, places *p)
{
    MPI_Group all;
    int *ranks = malloc(2 * sizeof *ranks * (size_t)p->size);
    memset(p->distance, CCO_CALLS_NOT_KNOWN, (size_t)p->size);
    if (ranks == NULL || PMPI_Comm_group(MPI_COMM_WORLD, &all) != MPI_SUCCESS) {
        free(ranks);
        return;
    }
    for (int i = 0; i < p->size; i++)
        ranks[i] = i;
    if (PMPI_Group_translate_ranks(group, p->size, ranks, all, ranks + p->size) == MPI_SUCCESS)
        for (int i = 0; i < p->size; i++)
            if (ranks[p->size + i] >= 0)
                p->distance[i] = world.distance[ranks[p->size + i]];
    PMPI_Group_free(&all);
    free(ranks);
}

/* Those that messages on a communicator go to. */
static places *calls_find_places(MPI_Comm comm)
{
    MPI_Group group;
    places *p = NULL;
    int inter = 0, size = 0;
    PMPI_Comm_test_inter(comm, &inter);
    const int rc = inter ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group);
    if (rc != MPI_SUCCESS)
        return NULL;
    PMPI_Group_size(group, &size);
    p = malloc(sizeof *p + (size_t)size);
    if (p != NULL) {
        p->size = size;
        calls_translate(group, p);
        PMPI_Comm_set_attr(comm, world.keyval, p);
    }
    PMPI_Group_free(&group);
    return p;
}

static const places *calls_places_of(MPI_Comm comm)
{
    const unsigned now = __atomic_load_n(&world.changes, __ATOMIC_RELAXED);
    int there = 0;
    places *p = NULL;
    if (last.found != NULL && last.comm == comm && last.changes == now)
        return last.found;
    if (PMPI_Comm_get_attr(comm, world.keyval, &p, &there) != MPI_SUCCESS || !there)
        p = calls_find_places(comm);
    last = (asked){comm, now, p};
    return p;
}

uint8_t cco_calls_place(MPI_Comm comm, int rank)
{
    if (rank < 0)
        return rank == MPI_ANY_SOURCE ? CCO_CALLS_NOT_KNOWN : CCO_CALLS_NO_PEER;
    const places *p = calls_places_of(comm);
    return p != NULL && rank < p->size ? p->distance[rank] : CCO_CALLS_NOT_KNOWN;
}
