/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - see team.h. */
#include "shmem/team.h"

#include <stdlib.h>

#include "base/log.h"

static struct cresta_team *world;    /* of all PEs: the first team */
static struct cresta_team *last_set; /* the active set that was used last */
static bool one_node;

struct cresta_team *cco_team_of(shmem_team_t handle)
{
    return handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED ? world : handle;
}

/* The numbers of its PEs among all: world itself when it is made. */
static void number_pes(struct cresta_team *t)
{
    MPI_Group mine, all;
    int *ranks = malloc((size_t)t->size * sizeof *ranks);
    t->pes = malloc((size_t)t->size * sizeof *t->pes);
    if (ranks == NULL || t->pes == NULL)
        cco_fatal("shmem: no memory for a team of %d PEs", t->size);
    for (int i = 0; i < t->size; i++)
        ranks[i] = i;
    PMPI_Comm_group(t->comm, &mine);
    PMPI_Comm_group(world != NULL ? world->comm : t->comm, &all);
    PMPI_Group_translate_ranks(mine, t->size, ranks, all, t->pes);
    PMPI_Group_free(&mine);
    PMPI_Group_free(&all);
    free(ranks);
}

/* A team on a communicator that is its own from now on. */
static struct cresta_team *team_adopt(MPI_Comm comm)
{
    struct cresta_team *t = calloc(1, sizeof *t);
    if (t == NULL)
        cco_fatal("shmem: no memory for a team");
    t->comm = comm;
    PMPI_Comm_rank(comm, &t->rank);
    PMPI_Comm_size(comm, &t->size);
    number_pes(t);
    PMPI_Comm_set_name(comm, world == NULL ? "shmem" : "shmem team");
    CRESTA_Set_impl(comm, "*=hier"); /* on one node: shm */
    if (one_node)
        (void)cco_small_open(&t->small, comm);
    if (world != NULL) {
        t->next = world->next;
        world->next = t;
    }
    return t;
}

struct cresta_team *cco_team_open(MPI_Comm comm, bool shared)
{
    one_node = shared;
    world = team_adopt(comm);
    return world;
}

static void team_end(struct cresta_team *t)
{
    cco_small_close(&t->small);
    PMPI_Comm_free(&t->comm);
    free(t->pes);
    free(t);
}

void cco_teams_close(void)
{
    last_set = NULL;
    for (struct cresta_team *t = world, *next; t != NULL; t = next) {
        next = t->next;
        team_end(t);
    }
    world = NULL;
}

int CRESTA_Shmem_pe(shmem_team_t team)
{
    const struct cresta_team *t = cco_team_of(team);
    return t != NULL ? t->rank : -1;
}

int CRESTA_Shmem_pes(shmem_team_t team)
{
    const struct cresta_team *t = cco_team_of(team);
    return t != NULL ? t->size : -1;
}

int CRESTA_Shmem_translate(shmem_team_t from, int pe, shmem_team_t to)
{
    const struct cresta_team *a = cco_team_of(from), *b = cco_team_of(to);
    if (a == NULL || b == NULL || pe < 0 || pe >= a->size)
        return -1;
    for (int i = 0; i < b->size; i++)
        if (b->pes[i] == a->pes[pe])
            return i;
    return -1;
}

/* The team of those with the same color; collective over the parent. */
static struct cresta_team *team_split(const struct cresta_team *parent, int color)
{
    MPI_Comm comm = MPI_COMM_NULL;
    if (PMPI_Comm_split(parent->comm, color, parent->rank, &comm) != MPI_SUCCESS ||
        comm == MPI_COMM_NULL)
        return NULL;
    return team_adopt(comm);
}

int CRESTA_Shmem_split(shmem_team_t parent, int start, int stride, int size, shmem_team_t *team)
{
    const struct cresta_team *p = cco_team_of(parent);
    *team = SHMEM_TEAM_INVALID;
    if (p == NULL)
        return 1;
    const long last = start + (size - 1L) * stride;
    if (size < 1 || start < 0 || start >= p->size || last < 0 || last >= p->size ||
        (stride == 0 && size > 1))
        return 1;
    bool in = false;
    for (int i = 0; i < size; i++)
        in = in || start + i * stride == p->rank;
    /* PEs of a team are numbered along the stride, which may be negative. */
    MPI_Comm comm = MPI_COMM_NULL;
    const int rc = PMPI_Comm_split(p->comm, in ? 0 : MPI_UNDEFINED,
                                   stride < 0 ? -p->rank + p->size : p->rank, &comm);
    if (rc == MPI_SUCCESS && comm != MPI_COMM_NULL)
        *team = team_adopt(comm);
    return rc != MPI_SUCCESS;
}

int CRESTA_Shmem_split_2d(shmem_team_t parent, int xrange, shmem_team_t *x, shmem_team_t *y)
{
    const struct cresta_team *p = cco_team_of(parent);
    *x = *y = SHMEM_TEAM_INVALID;
    if (p == NULL || xrange < 1)
        return 1;
    const int wide = xrange < p->size ? xrange : p->size;
    *x = team_split(p, p->rank / wide);
    *y = team_split(p, p->rank % wide);
    return *x == SHMEM_TEAM_INVALID || *y == SHMEM_TEAM_INVALID;
}

void CRESTA_Shmem_destroy(shmem_team_t team)
{
    struct cresta_team *t = cco_team_of(team);
    if (t == NULL || t == world)
        return;
    for (struct cresta_team **at = &world->next; *at != NULL; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            team_end(t);
            return;
        }
}

static bool team_is_set(const struct cresta_team *t, int start, int stride, int size)
{
    return t != NULL && t->stride == stride && t->start == start && t->size == size;
}

/* Only its PEs take part, and call for it in the same order. */
static struct cresta_team *make_set(int start, int stride, int size)
{
    enum { TAGS = 32768 }; /* that every MPI has: two sets that share PEs have different ones */
    MPI_Group all, mine;
    MPI_Comm comm = MPI_COMM_NULL;
    const unsigned tag = ((unsigned)start * 31u + (unsigned)stride) * 31u + (unsigned)size;
    PMPI_Comm_group(world->comm, &all);
    PMPI_Group_range_incl(all, 1, (int[][3]){{start, start + (size - 1) * stride, stride}}, &mine);
    PMPI_Comm_create_group(world->comm, mine, (int)(tag % TAGS), &comm);
    PMPI_Group_free(&mine);
    PMPI_Group_free(&all);
    if (comm == MPI_COMM_NULL)
        return NULL;
    struct cresta_team *t = team_adopt(comm);
    t->start = start;
    t->stride = stride;
    return t;
}

shmem_team_t CRESTA_Shmem_active_set(int start, int stride, int size)
{
    if (team_is_set(last_set, start, stride, size))
        return last_set;
    if (world == NULL)
        return SHMEM_TEAM_INVALID;
    const long last = start + (size - 1L) * stride;
    const int from = world->rank - start;
    if (start < 0 || stride < 1 || size < 1 || last >= world->size || from < 0 ||
        from % stride != 0 || from / stride >= size)
        cco_fatal("shmem: PE %d is not in the active set of %d PEs from %d in steps of %d, or the"
                  " set goes beyond the %d PEs that there are",
                  world->rank, size, start, stride, world->size);
    if (size == world->size && stride == 1) /* all of them */
        return world;
    struct cresta_team *t = world->next;
    while (t != NULL && !team_is_set(t, start, stride, size))
        t = t->next;
    last_set = t != NULL ? t : make_set(start, stride, size);
    return last_set;
}
