/* SPDX-License-Identifier: BSD-3-Clause */
/* service.c - see service.h.  A binomial tree, whose root is rank 0; rank r is below r less its
 * lowest bit.
 *
 * All messages have one tag.  Which communicator one is of, stands at its head: a tag has too few
 * bits for that.  A thread that finds a message of another communicator leaves it for the thread
 * that waits there. */
#include "core/service.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fresh.h"
#include "core/log.h"
#include "core/pause.h"
#include "core/transfer.h"
#include "core/ulfm.h"
#include "core/wait.h"
#include "core/watch.h"
#include "core/world.h"

enum { TAG = 0 /* of messages; MPI_Comm_create_group has the others */ };

/* An attribute of the communicator.  Duplicates are made in the same order on all ranks, so that
 * they are named without a message, where the MPI copies attributes for these alone. */
typedef struct name {
    uint64_t id;
    uint64_t duplicates; /* so far */
} name;

typedef enum kind { UP = 1, DOWN, GATHER } kind;

typedef struct head {
    uint64_t id, kind, bytes; /* of the data that follow */
} head;

/* A message that came before its thread looked for it. */
typedef struct parked {
    int from;
    head *message;
    struct parked *next;
} parked;

typedef struct tree {
    MPI_Comm comm; /* the program's */
    int rank, size;
    uint64_t id;
    MPI_Group group, world;
    const cco_patience *patience; /* NULL: none; */
    long since;                   /* and since when */
    cco_watch watch;
} tree;

static MPI_Comm ours = MPI_COMM_NULL;
static int keyval = MPI_KEYVAL_INVALID;
static bool names_duplicates = true, threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the receives, and */
static parked *first_parked;                             /* of these */

/* splitmix64's finalizer: one to one for each `word`. */
static uint64_t mix(uint64_t id, uint64_t word)
{
    uint64_t z = id + (word + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static name *new_name(uint64_t id)
{
    name *n = malloc(sizeof *n);
    if (n == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for a communicator");
    *n = (name){.id = id};
    return n;
}

static int name_duplicate(MPI_Comm comm, int key, void *extra, void *of, void *made, int *copied)
{
    name *n = of;
    (void)comm, (void)key, (void)extra;
    *copied = names_duplicates;
    if (!names_duplicates)
        return MPI_SUCCESS;
    *(name **)made = new_name(mix(n->id, ++n->duplicates));
    return MPI_SUCCESS;
}

static int delete_name(MPI_Comm comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(attribute);
    return MPI_SUCCESS;
}

/* NULL: it has none. */
static const name *name_of(MPI_Comm comm)
{
    void *value = NULL;
    int found = 0;
    return keyval != MPI_KEYVAL_INVALID &&
                   PMPI_Comm_get_attr(comm, keyval, &value, &found) == MPI_SUCCESS && found
               ? value
               : NULL;
}

static void give_name(MPI_Comm comm, uint64_t id)
{
    name *n = new_name(id);
    if (PMPI_Comm_set_attr(comm, keyval, n) != MPI_SUCCESS)
        cco_fatal("the MPI has no room for an attribute");
}

/* Open MPI 4 copies attributes in MPI_Comm_create_group, which only some ranks of the communicator
 * call: they would count another duplicate than the rest. */
static bool copies_for_groups(void)
{
    MPI_Group group;
    MPI_Comm made = MPI_COMM_NULL;
    give_name(MPI_COMM_SELF, 0);
    PMPI_Comm_group(MPI_COMM_SELF, &group);
    if (PMPI_Comm_create_group(MPI_COMM_SELF, group, 0, &made) == MPI_SUCCESS)
        PMPI_Comm_free(&made);
    PMPI_Group_free(&group);
    const bool copies = name_of(MPI_COMM_SELF)->duplicates > 0;
    PMPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    return copies;
}

void cco_service_begin(bool many_threads)
{
    threads = many_threads;
    MPI_Comm made = MPI_COMM_NULL;
    if (PMPI_Comm_create_keyval(name_duplicate, delete_name, &keyval, NULL) != MPI_SUCCESS)
        cco_fatal("the MPI has no room for an attribute");
    if (cco_fresh_comm(MPI_COMM_WORLD, &made) != MPI_SUCCESS)
        cco_fatal("the MPI makes no communicator");
    PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    names_duplicates = !copies_for_groups();
    give_name(MPI_COMM_WORLD, 0);
    ours = made;
}

/* Where a process may have failed, the MPI may wait for it: the copy stays. */
void cco_service_end(void)
{
    if (ours == MPI_COMM_NULL)
        return;
    while (first_parked != NULL) {
        parked *p = first_parked;
        first_parked = p->next;
        free(p->message);
        free(p);
    }
    MPI_Comm made = ours;
    ours = MPI_COMM_NULL;
    PMPI_Comm_free_keyval(&keyval); /* it lives on in communicators that are not freed */
    if (!cco_ulfm())
        PMPI_Comm_free(&made);
}

/* All ranks find the same: either all are of one world, or none sees the others in its own. */
void cco_service_name(MPI_Comm comm, uint64_t number)
{
    if (ours != MPI_COMM_NULL && name_of(comm) == NULL && cco_in_world(comm))
        give_name(comm, mix(mix(number, 0), (uint64_t)cco_world_rank_of(comm, 0)));
}

/* By the ranks in the world, in their order.  No name has it: those are mixed of other words. */
static uint64_t id_of_group(const tree *t)
{
    uint64_t id = (uint64_t)t->size << 32;
    int *ranks = malloc(2 * (size_t)t->size * sizeof *ranks);
    if (ranks == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for a communicator");
    for (int i = 0; i < t->size; i++)
        ranks[i] = i;
    PMPI_Group_translate_ranks(t->group, t->size, ranks, t->world, ranks + t->size);
    for (int i = 0; i < t->size; i++)
        id = mix(id, (uint64_t)ranks[t->size + i]);
    free(ranks);
    return id;
}

/* Until a communicator has a name, its ranks are its name: where one thread at a time calls the
 * MPI, they come to the first agreements on their communicators in one order.  Under ULFM another
 * communicator of the same ranks might find what one left that the program revoked. */
static bool goes_by_group(MPI_Comm comm)
{
    return ours != MPI_COMM_NULL && !threads && !cco_ulfm() && cco_in_world(comm);
}

/* False: its ranks have no name for it. */
static bool open_tree(tree *t, MPI_Comm comm, const cco_patience *patience)
{
    const name *n = name_of(comm);
    if (n == NULL && !goes_by_group(comm))
        return false;
    *t = (tree){.comm = comm, .patience = patience};
    t->watch = (cco_watch){.kind = &cco_watch_processes, .comm = comm};
    t->since = patience != NULL ? cco_ns(CLOCK_MONOTONIC) : 0;
    PMPI_Comm_rank(comm, &t->rank);
    PMPI_Comm_size(comm, &t->size);
    PMPI_Comm_group(comm, &t->group);
    PMPI_Comm_group(ours, &t->world);
    t->id = n != NULL ? n->id : id_of_group(t);
    return true;
}

static int close_tree(tree *t, int rc)
{
    PMPI_Group_free(&t->group);
    PMPI_Group_free(&t->world);
    return rc;
}

static int world_rank(const tree *t, int rank)
{
    int there = MPI_UNDEFINED;
    PMPI_Group_translate_ranks(t->group, 1, &rank, t->world, &there);
    return there;
}

/* Pauses between two looks for a message.  Returns an error class if the message cannot come any
 * more. */
static int go_on(tree *t, int *tries)
{
    const cco_patience *p = t->patience;
    if (p != NULL && cco_ns(CLOCK_MONOTONIC) - t->since > p->seconds * 1000000000L) {
        t->patience = NULL;
        p->late(p->what);
    }
    cco_pause_after_mpi(tries);
    return cco_watch_is_time(*tries) && cco_watch_due(&t->watch) ? cco_watch_error(&t->watch)
                                                                 : MPI_SUCCESS;
}

static head *new_message(size_t bytes)
{
    head *message = malloc(sizeof *message + bytes);
    if (message == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for a message of %zu bytes", bytes);
    return message;
}

static int send_to(tree *t, int rank, kind what, const void *data, size_t bytes)
{
    MPI_Request request;
    int done = 0, tries = 0;
    head *message = new_message(bytes);
    *message = (head){t->id, what, bytes};
    if (bytes > 0)
        memcpy(message + 1, data, bytes);
    int rc = PMPI_Isend(message, (int)(sizeof *message + bytes), MPI_BYTE, world_rank(t, rank), TAG,
                        ours, &request);
    while (rc == MPI_SUCCESS &&
           (rc = PMPI_Test(&request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done)
        if ((rc = go_on(t, &tries)) != MPI_SUCCESS) {
            cco_transfer_give_up(&request); /* the MPI may still read the message: it stays */
            return rc;
        }
    free(message);
    return rc;
}

/* With the lock: the first message from a rank of the world; NULL if none has come. */
static head *take_one(int from, int *rc)
{
    int here = 0, bytes = 0;
    MPI_Message one;
    MPI_Status status;
    *rc = PMPI_Improbe(from, TAG, ours, &here, &one, &status);
    if (*rc != MPI_SUCCESS || !here)
        return NULL;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    head *message = new_message((size_t)bytes);
    *rc = PMPI_Mrecv(message, bytes, MPI_BYTE, &one, MPI_STATUS_IGNORE);
    if (*rc == MPI_SUCCESS)
        return message;
    free(message);
    return NULL;
}

/* With the lock: a message for `id` among those that have come; NULL if there is none. */
static head *unpark(int from, uint64_t id, parked ***end)
{
    parked **link = &first_parked;
    while (*link != NULL && ((*link)->from != from || (*link)->message->id != id))
        link = &(*link)->next;
    *end = link;
    if (*link == NULL)
        return NULL;
    parked *p = *link;
    head *message = p->message;
    *link = p->next;
    free(p);
    return message;
}

static void park(parked **end, int from, head *message)
{
    *end = malloc(sizeof **end);
    if (*end == NULL)
        cco_fatal("no memory for a message");
    **end = (parked){.from = from, .message = message};
}

/* Messages of one communicator come in the order in which they were sent. */
static head *look(const tree *t, int from, int *rc)
{
    parked **end;
    *rc = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    head *message = unpark(from, t->id, &end);
    if (message == NULL && (message = take_one(from, rc)) != NULL && message->id != t->id) {
        park(end, from, message);
        message = NULL;
    }
    pthread_mutex_unlock(&lock);
    return message;
}

/* A rank of a program that is wrong may be in another call, which has something else to agree on.
 */
static int receive(tree *t, int rank, kind what, void *data, size_t bytes)
{
    const int from = world_rank(t, rank);
    int rc, tries = 0;
    head *message;
    while ((message = look(t, from, &rc)) == NULL)
        if (rc != MPI_SUCCESS || (rc = go_on(t, &tries)) != MPI_SUCCESS)
            return rc;
    if (message->kind != what || message->bytes != bytes)
        cco_fatal("ranks %d and %d of a communicator are not in the same collective", t->rank,
                  rank);
    if (bytes > 0)
        memcpy(data, message + 1, bytes);
    free(message);
    return MPI_SUCCESS;
}

/* The bit by which a rank is below its parent; for the root, one that no rank has. */
static int own_bit(const tree *t)
{
    int bit = 1;
    while (t->rank != 0 ? !(t->rank & bit) : bit < t->size)
        bit <<= 1;
    return bit;
}

static int down(tree *t, void *data, size_t bytes)
{
    const int own = own_bit(t);
    int rc = t->rank != 0 ? receive(t, t->rank - own, DOWN, data, bytes) : MPI_SUCCESS;
    for (int bit = own >> 1; bit > 0 && rc == MPI_SUCCESS; bit >>= 1)
        if (t->rank + bit < t->size)
            rc = send_to(t, t->rank + bit, DOWN, data, bytes);
    return rc;
}

static int up(tree *t, void *data, int count, MPI_Datatype type, MPI_Op op, size_t bytes)
{
    const int own = own_bit(t);
    int rc = MPI_SUCCESS;
    void *theirs = malloc(bytes + 1);
    if (theirs == NULL)
        cco_fatal("no memory for a message of %zu bytes", bytes);
    for (int bit = 1; bit < own && rc == MPI_SUCCESS; bit <<= 1) {
        if (t->rank + bit >= t->size)
            continue;
        rc = receive(t, t->rank + bit, UP, theirs, bytes);
        if (rc == MPI_SUCCESS && count > 0)
            rc = PMPI_Reduce_local(theirs, data, count, type, op);
    }
    free(theirs);
    return t->rank != 0 && rc == MPI_SUCCESS ? send_to(t, t->rank - own, UP, data, bytes) : rc;
}

/* The ranks below one are those that follow it: their parts come together. */
static int gather(tree *t, char *all, size_t bytes)
{
    const int own = own_bit(t);
    int rc = MPI_SUCCESS, last = t->rank + 1;
    for (int bit = 1; bit < own && rc == MPI_SUCCESS && t->rank + bit < t->size; bit <<= 1) {
        const int first = t->rank + bit;
        last = first + bit < t->size ? first + bit : t->size;
        rc = receive(t, first, GATHER, all + (size_t)first * bytes, (size_t)(last - first) * bytes);
    }
    if (t->rank != 0 && rc == MPI_SUCCESS)
        rc = send_to(t, t->rank - own, GATHER, all + (size_t)t->rank * bytes,
                     (size_t)(last - t->rank) * bytes);
    return rc;
}

/* Waits for a collective of the MPI on `comm` itself. */
static int end(int rc, MPI_Request *request, const cco_patience *p)
{
    if (rc != MPI_SUCCESS)
        return rc;
    return p != NULL ? cco_wait_patiently(request, p->seconds, p->late, p->what)
                     : cco_wait(request);
}

int cco_service_bcast(void *data, size_t bytes, MPI_Comm comm)
{
    tree t;
    MPI_Request request;
    if (open_tree(&t, comm, NULL))
        return close_tree(&t, down(&t, data, bytes));
    return end(PMPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, comm, &request), &request, NULL);
}

int cco_service_allreduce_patiently(const void *mine, void *all, int count, MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm, const cco_patience *patience)
{
    tree t;
    int each = 0;
    MPI_Request request;
    if (!open_tree(&t, comm, patience))
        return end(PMPI_Iallreduce(mine, all, count, type, op, comm, &request), &request, patience);
    PMPI_Type_size(type, &each);
    const size_t bytes = (size_t)count * (size_t)each;
    if (mine != MPI_IN_PLACE && bytes > 0)
        memcpy(all, mine, bytes);
    int rc = up(&t, all, count, type, op, bytes);
    if (rc == MPI_SUCCESS)
        rc = down(&t, all, bytes);
    return close_tree(&t, rc);
}

int cco_service_allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    return cco_service_allreduce_patiently(mine, all, count, type, op, comm, NULL);
}

int cco_service_allgather(const void *mine, void *all, size_t bytes, MPI_Comm comm)
{
    tree t;
    MPI_Request request;
    if (!open_tree(&t, comm, NULL))
        return end(
            PMPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm, &request),
            &request, NULL);
    memcpy((char *)all + (size_t)t.rank * bytes, mine, bytes);
    int rc = gather(&t, all, bytes);
    if (rc == MPI_SUCCESS)
        rc = down(&t, all, (size_t)t.size * bytes);
    return close_tree(&t, rc);
}

int cco_service_barrier(MPI_Comm comm)
{
    char nothing = 0;
    return cco_service_allreduce(MPI_IN_PLACE, &nothing, 1, MPI_BYTE, MPI_BOR, comm);
}

bool cco_all(bool mine, MPI_Comm comm)
{
    int one = mine, all = 0;
    return cco_service_allreduce(&one, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

int cco_service_copy(MPI_Comm comm, MPI_Comm *made)
{
    tree t;
    int *most = NULL, found = 0;
    *made = MPI_COMM_NULL;
    if (cco_ulfm() || !open_tree(&t, comm, NULL))
        return cco_fresh_comm(comm, made);
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    const uint64_t tags = found && *most > TAG ? (uint64_t)*most : 32767;
    return close_tree(&t, PMPI_Comm_create_group(ours, t.group, (int)(1 + t.id % tags), made));
}
