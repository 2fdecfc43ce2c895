/* SPDX-License-Identifier: BSD-3-Clause */
/* service.c - see service.h.  The tree is binomial, and its root is rank 0: rank r is below r less
 * its lowest bit.
 *
 * All messages have one tag.  Which communicator one is of, stands at its head: a tag has too few
 * bits for that.  A thread that finds a message of another communicator leaves it for the thread
 * that waits there. */
#include "mpi/service.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "mpi/dup_bare.h"
#include "base/log.h"
#include "base/pause.h"
#include "mpi/ulfm.h"
#include "base/watch.h"
#include "base/world.h"

enum {
    TAG = 0,      /* of messages; MPI_Comm_create_group has the others */
    MEET = 32749, /* where ranks meet, on MPI_COMM_WORLD */
    LOOKS = 3,    /* that find a process ended until it counts: a message may still be on its way */
    NOBODY = -1
};

/* An attribute of the communicator.  Duplicates are made in the same order on all ranks, so that
 * they are named without a message, where the MPI copies attributes for these alone. */
typedef struct entry {
    bool named;
    uint64_t id;         /* its name */
    uint64_t duplicates; /* so far */
    MPI_Comm via;        /* where its messages pass if it has no name, or MPI_COMM_NULL, */
    int tag;             /* under this tag */
    cco_watch *watch;    /* gets a failure; may be NULL */
    int error;           /* after one */
} entry;

typedef enum kind { UP = 1, DOWN, LEFT } kind;

typedef struct head {
    uint64_t id, kind, bytes; /* of the data that follow; LEFT: the class of an error */
} head;

/* A message that came before its thread looked for it. */
typedef struct parked {
    int from;
    head *message;
    struct parked *next;
} parked;

typedef struct tree {
    MPI_Comm comm;      /* the program's */
    const entry *entry; /* its; NULL: it has none */
    MPI_Comm via;       /* where the messages pass, */
    int tag;            /* under this tag */
    uint64_t id;
    const int *ranks; /* of `comm`, which take part; NULL: all */
    int rank, size;   /* this rank's place among them, and how many */
    MPI_Group group, world;
    const cco_patience *patience; /* NULL: none; */
    long since;                   /* and since when */
    cco_watch watch;
    int lost; /* the rank of `comm` whose process has ended; -1: none is known */
} tree;

/* How often one message was looked for. */
typedef struct wait {
    int tries, looks;
} wait;

static MPI_Comm ours = MPI_COMM_NULL;
static int keyval = MPI_KEYVAL_INVALID;
static bool names_duplicates = true, threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the receives, and */
static parked *first_parked;                             /* of these */

/* splitmix64's finalizer: one to one for each `word`. */
static uint64_t service_mix(uint64_t id, uint64_t word)
{
    uint64_t z = id + (word + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static entry *new_entry(bool named, uint64_t id)
{
    entry *e = malloc(sizeof *e);
    if (e == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for a communicator");
    *e = (entry){.named = named, .id = id, .via = MPI_COMM_NULL};
    return e;
}

static int name_duplicate(MPI_Comm comm, int key, void *extra, void *of, void *made, int *copied)
{
    entry *e = of;
    (void)comm, (void)key, (void)extra;
    *copied = names_duplicates && e->named;
    if (*copied)
        *(entry **)made = new_entry(true, service_mix(e->id, ++e->duplicates));
    return MPI_SUCCESS;
}

static int delete_entry(MPI_Comm comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(attribute);
    return MPI_SUCCESS;
}

/* NULL: it has none. */
static entry *entry_of(MPI_Comm comm)
{
    void *value = NULL;
    int found = 0;
    return keyval != MPI_KEYVAL_INVALID &&
                   PMPI_Comm_get_attr(comm, keyval, &value, &found) == MPI_SUCCESS && found
               ? value
               : NULL;
}

static void service_make_key(void)
{
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID &&
        PMPI_Comm_create_keyval(name_duplicate, delete_entry, &keyval, NULL) != MPI_SUCCESS)
        cco_fatal("the MPI has no room for an attribute");
    pthread_mutex_unlock(&lock);
}

static entry *make_entry(MPI_Comm comm)
{
    entry *e = entry_of(comm);
    if (e != NULL)
        return e;
    service_make_key();
    e = new_entry(false, 0);
    if (PMPI_Comm_set_attr(comm, keyval, e) != MPI_SUCCESS)
        cco_fatal("the MPI has no room for an attribute");
    return e;
}

static void give_name(MPI_Comm comm, uint64_t id)
{
    entry *e = make_entry(comm);
    e->named = true;
    e->id = id;
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
    const bool copies = entry_of(MPI_COMM_SELF)->duplicates > 0;
    PMPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    return copies;
}

void cco_service_begin(bool many_threads)
{
    threads = many_threads;
    MPI_Comm made = MPI_COMM_NULL;
    if (cco_comm_dup_bare(MPI_COMM_WORLD, &made) != MPI_SUCCESS)
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
    const entry *e = entry_of(comm);
    if (ours != MPI_COMM_NULL && (e == NULL || !e->named) && cco_in_world(comm))
        give_name(comm, service_mix(service_mix(number, 0), (uint64_t)cco_world_rank_of(comm, 0)));
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
        id = service_mix(id, (uint64_t)ranks[t->size + i]);
    free(ranks);
    return id;
}

/* Under ULFM another communicator of the same ranks might find what one left that the program
 * revoked. */
static bool can_begin(MPI_Comm comm)
{
    return ours != MPI_COMM_NULL && !cco_ulfm() && cco_in_world(comm);
}

/* Until a communicator has a name, its ranks are its name: where one thread at a time calls the
 * MPI, they come to the first agreements on their communicators in one order. */
static bool goes_by_group(MPI_Comm comm)
{
    return !threads && can_begin(comm);
}

/* Where several threads call the MPI at once, only a message on a communicator tells it from others
 * of the same ranks: its rank 0 scatters a number, once.  Such a message meets nothing there.  What
 * the program begins matches no blocking call, its own blocking calls come here first, and the MPIs
 * scatter in none of their other functions. */
static void name_first(MPI_Comm comm)
{
    static uint64_t last;
    const uint64_t others = (uint64_t)1 << 63; /* than those of cco_service_name */
    const entry *e = entry_of(comm);
    uint64_t *numbers = NULL, mine = 0;
    int rank, size;
    if (!threads || (e != NULL && e->named) || !can_begin(comm))
        return;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (rank == 0 && (numbers = malloc((size_t)size * sizeof *numbers)) == NULL)
        cco_fatal("no memory for a communicator");
    const uint64_t next = rank == 0 ? __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) : 0;
    for (int i = 0; rank == 0 && i < size; i++)
        numbers[i] = next | others;
    if (PMPI_Scatter(numbers, 1, MPI_UINT64_T, &mine, 1, MPI_UINT64_T, 0, comm) != MPI_SUCCESS)
        cco_fatal("the MPI cannot give a communicator its name");
    free(numbers);
    cco_service_name(comm, mine);
}

static bool find_way(tree *t)
{
    const entry *e = t->entry;
    const bool named = e != NULL && e->named;
    if (named || goes_by_group(t->comm)) {
        t->via = ours;
        PMPI_Comm_group(t->comm, &t->group);
        PMPI_Comm_group(ours, &t->world);
        t->id = named ? e->id : id_of_group(t);
    } else if (e != NULL) {
        t->via = e->via;
        t->tag = e->tag;
    }
    return t->via != MPI_COMM_NULL;
}

/* What a communicator without one of its processes does not begin any more. */
static int service_error_of(const tree *t)
{
    return t->entry != NULL ? t->entry->error : MPI_SUCCESS;
}

/* False: there is no way for messages, and none of them fails at once.  Local. */
static bool open_tree(tree *t, MPI_Comm comm, const cco_patience *patience)
{
    *t = (tree){.comm = comm,
                .entry = entry_of(comm),
                .via = MPI_COMM_NULL,
                .tag = TAG,
                .group = MPI_GROUP_NULL,
                .world = MPI_GROUP_NULL,
                .patience = patience,
                .watch = {.kind = &cco_watch_processes, .comm = comm},
                .lost = -1};
    t->since = patience != NULL ? cco_ns(CLOCK_MONOTONIC) : 0;
    PMPI_Comm_rank(comm, &t->rank);
    PMPI_Comm_size(comm, &t->size);
    return find_way(t) || service_error_of(t) != MPI_SUCCESS;
}

/* open_tree by all ranks of `comm`, in the same order among these calls. */
static bool open_together(tree *t, MPI_Comm comm, const cco_patience *patience)
{
    name_first(comm);
    return open_tree(t, comm, patience);
}

static void close_tree(tree *t)
{
    if (t->group != MPI_GROUP_NULL)
        PMPI_Group_free(&t->group);
    if (t->world != MPI_GROUP_NULL)
        PMPI_Group_free(&t->world);
}

static int service_rank_at(const tree *t, int place)
{
    return t->ranks != NULL ? t->ranks[place] : place;
}

/* What a rank of `comm` is where the messages pass. */
static int rank_there(const tree *t, int rank)
{
    int there = rank;
    if (t->group != MPI_GROUP_NULL)
        PMPI_Group_translate_ranks(t->group, 1, &rank, t->world, &there);
    return there;
}

void cco_service_watch(MPI_Comm comm, cco_watch *watch)
{
    make_entry(comm)->watch = watch;
}

void cco_service_pass(MPI_Comm comm, MPI_Comm via, int tag)
{
    entry *e = make_entry(comm);
    e->via = via;
    e->tag = tag;
}

void cco_service_end_name(MPI_Comm comm)
{
    if (entry_of(comm) != NULL)
        PMPI_Comm_delete_attr(comm, keyval);
}

void cco_service_forget(MPI_Comm comm)
{
    entry *e = entry_of(comm);
    if (e != NULL) {
        e->watch = NULL;
        e->via = MPI_COMM_NULL;
    }
}

/* Messages are as many words as hold them: so an int counts up to 16 GiB of data. */
static int words_of(size_t bytes)
{
    return (int)((sizeof(head) + bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

static head *new_message(size_t bytes)
{
    head *message = calloc((size_t)words_of(bytes), sizeof(uint64_t));
    if (message == NULL) /* to go on without it on one rank only would hang the others */
        cco_fatal("no memory for a message of %zu bytes", bytes);
    return message;
}

/* Messages that wait for nobody. */
void cco_service_leave(MPI_Comm comm, int class)
{
    tree t;
    open_tree(&t, comm, NULL);
    head *message = new_message(0); /* the MPI may read it later: it stays */
    *message = (head){t.id, LEFT, (uint64_t) class};
    for (int rank = 0; t.via != MPI_COMM_NULL && rank < t.size; rank++) {
        MPI_Request request;
        if (rank != t.rank && !cco_watch_ended(comm, rank) &&
            PMPI_Isend(message, words_of(0), MPI_UINT64_T, rank_there(&t, rank), t.tag, t.via,
                       &request) == MPI_SUCCESS &&
            !cco_ulfm()) /* see cco_ulfm_give_up */
            PMPI_Request_free(&request);
    }
    close_tree(&t);
    make_entry(comm)->error = class;
}

/* Pauses between two looks for a message from a place, or to it; NOBODY: for what the MPI does with
 * all.  Returns an error class if it cannot come any more. */
static int service_go_on(tree *t, int place, wait *w)
{
    const cco_patience *p = t->patience;
    const long seconds = p == NULL ? 0 : place != NOBODY && place < t->rank ? p->above : p->below;
    if (p != NULL && cco_ns(CLOCK_MONOTONIC) - t->since > seconds * 1000000000L) {
        t->patience = NULL;
        p->late(p->what);
    }
    cco_pause_after_mpi(&w->tries);
    if (!cco_watch_is_time(w->tries) || !cco_watch_due(&t->watch))
        return MPI_SUCCESS;
    const int error = cco_watch_error(&t->watch);
    if (error != MPI_SUCCESS || place == NOBODY ||
        !cco_watch_ended(t->comm, service_rank_at(t, place)) || ++w->looks < LOOKS)
        return error;
    t->lost = service_rank_at(t, place);
    return cco_ulfm_failed_class();
}

static int send_to(tree *t, int place, kind what, const void *data, size_t bytes)
{
    MPI_Request request;
    int done = 0;
    wait w = {0};
    int rc = service_error_of(t);
    if (rc != MPI_SUCCESS)
        return rc;
    head *message = new_message(bytes);
    *message = (head){t->id, what, bytes};
    if (bytes > 0)
        memcpy(message + 1, data, bytes);
    rc = PMPI_Isend(message, words_of(bytes), MPI_UINT64_T,
                    rank_there(t, service_rank_at(t, place)), t->tag, t->via, &request);
    while (rc == MPI_SUCCESS &&
           (rc = PMPI_Test(&request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done)
        if ((rc = service_go_on(t, place, &w)) != MPI_SUCCESS) {
            cco_ulfm_give_up(&request); /* the MPI may still read the message: it stays */
            return rc;
        }
    free(message);
    return rc;
}

/* With the lock: the first message from a rank there; NULL if none has come. */
static head *take_one(const tree *t, int from, int *rc)
{
    int here = 0, words = 0;
    MPI_Message one;
    MPI_Status status;
    *rc = PMPI_Improbe(from, t->tag, t->via, &here, &one, &status);
    if (*rc != MPI_SUCCESS || !here)
        return NULL;
    PMPI_Get_count(&status, MPI_UINT64_T, &words);
    head *message = new_message((size_t)words * sizeof(uint64_t));
    *rc = PMPI_Mrecv(message, words, MPI_UINT64_T, &one, MPI_STATUS_IGNORE);
    if (*rc == MPI_SUCCESS)
        return message;
    free(message);
    return NULL;
}

/* With the lock: a message for `id` among those that have come; NULL if there is none. */
static head *service_unpark(int from, uint64_t id, parked ***end)
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

static void service_park(parked **end, int from, head *message)
{
    *end = malloc(sizeof **end);
    if (*end == NULL)
        cco_fatal("no memory for a message");
    **end = (parked){.from = from, .message = message};
}

/* Messages of one communicator come in the order in which they were sent. */
static head *service_look(const tree *t, int from, int *rc)
{
    parked **end = &first_parked;
    *rc = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    head *message = t->via == ours ? service_unpark(from, t->id, &end) : NULL;
    if (message == NULL && (message = take_one(t, from, rc)) != NULL && message->id != t->id) {
        service_park(end, from, message);
        message = NULL;
    }
    pthread_mutex_unlock(&lock);
    return message;
}

/* A rank of a program that is wrong may be in another call, which has something else to agree on.
 */
__attribute__((noreturn)) static void service_refuse(const tree *t, int place)
{
    cco_fatal("ranks %d and %d of a communicator are not in the same collective",
              service_rank_at(t, t->rank), service_rank_at(t, place));
}

/* The message of a rank; NULL after an error. */
static head *service_receive(tree *t, int place, kind what, int *rc)
{
    const int from = rank_there(t, service_rank_at(t, place));
    wait w = {0};
    head *message = NULL;
    *rc = service_error_of(t);
    while (*rc == MPI_SUCCESS && (message = service_look(t, from, rc)) == NULL &&
           *rc == MPI_SUCCESS)
        *rc = service_go_on(t, place, &w);
    if (message != NULL && message->kind == LEFT)
        *rc = (int)message->bytes;
    else if (message != NULL && message->kind != what)
        service_refuse(t, place);
    if (*rc == MPI_SUCCESS)
        return message;
    free(message);
    return NULL;
}

int cco_service_tree(int place, int count, int next[CCO_TREE_MOST])
{
    int bit = 1, n = 0;
    while (place != 0 ? !(place & bit) : bit < count)
        bit <<= 1;
    next[n++] = place != 0 ? place - bit : NOBODY;
    while ((bit >>= 1) > 0)
        if (place + bit < count)
            next[n++] = place + bit;
    return n;
}

static int service_down(tree *t, const cco_merger *merge)
{
    int rc = MPI_SUCCESS, next[CCO_TREE_MOST];
    const int n = cco_service_tree(t->rank, t->size, next);
    head *message = next[0] != NOBODY ? service_receive(t, next[0], DOWN, &rc) : NULL;
    if (message != NULL && !merge->hear(merge->what, message + 1, message->bytes))
        service_refuse(t, next[0]);
    free(message);
    for (int i = 1; i < n && rc == MPI_SUCCESS; i++) {
        size_t bytes = 0;
        const void *data = merge->answer(merge->what, &bytes);
        rc = send_to(t, next[i], DOWN, data, bytes);
    }
    return rc;
}

static int service_up(tree *t, const cco_merger *merge)
{
    size_t bytes = 0;
    int rc = MPI_SUCCESS, next[CCO_TREE_MOST];
    for (int i = cco_service_tree(t->rank, t->size, next) - 1; i > 0 && rc == MPI_SUCCESS; i--) {
        head *message = service_receive(t, next[i], UP, &rc);
        if (message != NULL && !merge->take(merge->what, message + 1, message->bytes))
            service_refuse(t, next[i]);
        free(message);
    }
    if (next[0] == NOBODY || rc != MPI_SUCCESS)
        return rc;
    const void *data = merge->give(merge->what, &bytes);
    return send_to(t, next[0], UP, data, bytes);
}

/* Up, and down again with what comes of it. */
static int service_both(tree *t, const cco_merger *merge)
{
    const int rc = service_up(t, merge);
    return rc == MPI_SUCCESS && merge->answer != NULL ? service_down(t, merge) : rc;
}

/* What a reduction has so far. */
typedef struct sum {
    void *data;
    int count;
    MPI_Datatype type;
    MPI_Op op;
    size_t bytes;
} sum;

static const void *give_sum(void *what, size_t *bytes)
{
    const sum *s = what;
    *bytes = s->bytes;
    return s->data;
}

static bool take_sum(void *what, void *theirs, size_t bytes)
{
    const sum *s = what;
    return bytes == s->bytes && (s->count == 0 || PMPI_Reduce_local(theirs, s->data, s->count,
                                                                    s->type, s->op) == MPI_SUCCESS);
}

static bool hear_sum(void *what, void *theirs, size_t bytes)
{
    const sum *s = what;
    if (bytes == s->bytes && bytes > 0)
        memcpy(s->data, theirs, bytes);
    return bytes == s->bytes;
}

static cco_merger merger_of(sum *s)
{
    return (cco_merger){give_sum, take_sum, s, give_sum, hear_sum};
}

void cco_service_meet(const cco_patience *patience)
{
    tree t;
    sum nothing = {0};
    const cco_merger merge = merger_of(&nothing);
    open_tree(&t, MPI_COMM_WORLD, patience);
    t.via = MPI_COMM_WORLD;
    t.tag = MEET;
    service_both(&t, &merge);
    close_tree(&t);
}

/* The end of an operation on the tree. */
static int service_end(tree *t, int rc)
{
    if (rc != MPI_SUCCESS && service_error_of(t) == MPI_SUCCESS) {
        if (t->entry != NULL && t->entry->watch != NULL)
            cco_watch_fail(t->entry->watch, rc, t->lost); /* leaves */
        else
            cco_service_leave(t->comm, rc);
    }
    close_tree(t);
    return rc;
}

/* Reduces by the MPI's collective on `comm` itself.  After a wait that was given up the MPI may
 * still write to its buffers, so they are allocated here and not freed then. */
static int reduce_by_mpi(tree *t, void *data, int count, MPI_Datatype type, MPI_Op op, size_t bytes)
{
    int done = 0;
    wait w = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    char *room = malloc(2 * bytes + 1);
    if (room == NULL)
        cco_fatal("no memory for a message of %zu bytes", bytes);
    memcpy(room, data, bytes);
    int rc = PMPI_Iallreduce(room, room + bytes, count, type, op, t->comm, &request);
    while (rc == MPI_SUCCESS &&
           (rc = PMPI_Test(&request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done)
        rc = service_go_on(t, NOBODY, &w);
    if (rc == MPI_SUCCESS)
        memcpy(data, room + bytes, bytes);
    if (request == MPI_REQUEST_NULL)
        free(room);
    return rc;
}

static int service_reduce(tree *t, bool there, void *data, int count, MPI_Datatype type, MPI_Op op)
{
    int each = 0;
    PMPI_Type_size(type, &each);
    const size_t bytes = (size_t)count * (size_t)each;
    if (!there)
        return reduce_by_mpi(t, data, count, type, op, bytes);
    sum all = {data, count, type, op, bytes};
    const cco_merger merge = merger_of(&all);
    return service_end(t, service_both(t, &merge));
}

/* True if they have a way for messages. */
static bool open_among(tree *t, const cco_company *c)
{
    const bool there = c->ranks != NULL ? open_tree(t, c->comm, NULL)
                                        : open_together(t, c->comm, NULL);
    if (c->ranks != NULL) {
        t->ranks = c->ranks;
        t->rank = c->place;
        t->size = c->count;
    }
    return there;
}

bool cco_service_merge(const cco_merger *merge, MPI_Comm comm)
{
    tree t;
    cco_service_pass(comm, comm, TAG); /* unless it has a name */
    open_tree(&t, comm, NULL);
    service_end(&t, service_both(&t, merge));
    return t.rank == 0;
}

int cco_service_bcast_among(void *data, size_t bytes, const cco_company *company)
{
    tree t;
    sum whole = {.data = data, .bytes = bytes};
    const cco_merger merge = merger_of(&whole);
    if (open_among(&t, company))
        return service_end(&t, service_down(&t, &merge));
    if (t.ranks != NULL)
        return MPI_ERR_COMM;
    if (t.rank != 0)
        memset(data, 0, bytes);
    return service_reduce(&t, false, data, (int)bytes, MPI_BYTE, MPI_BOR);
}

int cco_service_bcast(void *data, size_t bytes, MPI_Comm comm)
{
    return cco_service_bcast_among(data, bytes, &(cco_company){.comm = comm});
}

int cco_service_allreduce_among(void *all, int count, MPI_Datatype type, MPI_Op op,
                                const cco_company *company)
{
    tree t;
    const bool there = open_among(&t, company);
    return there || t.ranks == NULL ? service_reduce(&t, there, all, count, type, op)
                                    : MPI_ERR_COMM;
}

bool cco_service_all_among(bool mine, const cco_company *company)
{
    int all = mine;
    return cco_service_allreduce_among(&all, 1, MPI_INT, MPI_MIN, company) == MPI_SUCCESS && all;
}

bool cco_service_all(bool mine, MPI_Comm comm)
{
    return cco_service_all_among(mine, &(cco_company){.comm = comm});
}

int cco_service_allreduce_patiently(const void *mine, void *all, int count, MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm, const cco_patience *patience)
{
    tree t;
    int each = 0;
    PMPI_Type_size(type, &each);
    if (mine != MPI_IN_PLACE && count > 0)
        memcpy(all, mine, (size_t)count * (size_t)each);
    const bool there = open_together(&t, comm, patience);
    return service_reduce(&t, there, all, count, type, op);
}

int cco_service_allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    return cco_service_allreduce_patiently(mine, all, count, type, op, comm, NULL);
}

int cco_service_allgather(const void *mine, void *all, size_t bytes, MPI_Comm comm)
{
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    memset(all, 0, (size_t)size * bytes);
    memcpy((char *)all + (size_t)rank * bytes, mine, bytes);
    return cco_service_allreduce(MPI_IN_PLACE, all, size * (int)bytes, MPI_BYTE, MPI_BOR, comm);
}

int cco_service_start_max(const int64_t *mine, int64_t *most, int count, MPI_Comm copy,
                          MPI_Request *request)
{
    return PMPI_Iallreduce(mine, most, count, MPI_INT64_T, MPI_MAX, copy, request);
}

int cco_service_barrier(MPI_Comm comm)
{
    char nothing = 0;
    return cco_service_allreduce(MPI_IN_PLACE, &nothing, 1, MPI_BYTE, MPI_BOR, comm);
}

int cco_service_copy(MPI_Comm comm, MPI_Comm *made)
{
    tree t;
    MPI_Errhandler theirs;
    int *most = NULL, found = 0;
    open_together(&t, comm, NULL);
    int rc = service_error_of(&t);
    *made = MPI_COMM_NULL;
    if (rc == MPI_SUCCESS && t.via == ours && ours != MPI_COMM_NULL && !cco_ulfm()) {
        PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
        const uint64_t tags = found && *most > TAG ? (uint64_t)*most : 32767;
        rc = PMPI_Comm_create_group(ours, t.group, (int)(1 + t.id % tags), made);
    } else if (rc == MPI_SUCCESS) {
        PMPI_Comm_get_errhandler(comm, &theirs); /* it shall not hear of this */
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        rc = cco_comm_dup_bare(comm, made);
        PMPI_Comm_set_errhandler(comm, theirs);
        PMPI_Errhandler_free(&theirs);
    }
    close_tree(&t);
    if (*made != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    return rc;
}
