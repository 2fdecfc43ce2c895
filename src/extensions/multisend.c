/* SPDX-License-Identifier: BSD-3-Clause */
/* multisend.c - CRESTA_Multicast_init, CRESTA_Manytomany_init, and what is done with what they make
 * (cresta_multisend.h): persistent requests of the MPI, one for each message, whose addresses are
 * fixed once.  All lists of a communicator share one of ours, on which each has a tag. */
#include <stdlib.h>
#include <string.h>

#include "extensions/multisend_lists.h"
#include "base/pause.h"
#include "cresta_multisend.h"
#include "mpi/quirks.h"
#include "progress/queue.h"

/* gcc takes MPICH's MPI_STATUSES_IGNORE, the address 1, for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

struct cresta_multisend {
    cco_lists *lists;
    MPI_Comm comm; /* the program's, for its error handler */
    int tag;
    int count, receives; /* requests, the receives first */
    MPI_Request *requests;
    int *places; /* of each receive: in the list of sources, */
    int *ended;  /* and room for those of one test */
    MPI_Status *statuses;
    int nsources;
    int *sources;
    char **data;
    CRESTA_Multisend_arrived *arrived;
    void *context;
    int *flags;
    bool active;
    int error;   /* of the first message that failed */
    bool broken; /* the MPI said no more of the messages under way */
};

/* One side of what the program describes. */
typedef struct side {
    char *buffer;
    const int *counts, *displs; /* counts NULL: all have `count`; displs NULL: all lie at 0 */
    int count, n;
    const int *ranks;
    MPI_Datatype type;
    MPI_Aint extent;
} side;

static int multisend_count_of(const side *s, int i)
{
    return s->counts != NULL ? s->counts[i] : s->count;
}

static char *multisend_place_of(const side *s, int i)
{
    return s->buffer + (s->displs != NULL ? s->displs[i] * s->extent : 0);
}

/* The class of what is wrong on a side. */
static int multisend_wrong(const side *s, int size)
{
    if (s->n < 0 || s->count < 0)
        return MPI_ERR_COUNT;
    if (!cco_is_type(s->type))
        return MPI_ERR_TYPE;
    for (int i = 0; i < s->n; i++) {
        if (s->ranks[i] != MPI_PROC_NULL && (s->ranks[i] < 0 || s->ranks[i] >= size))
            return MPI_ERR_RANK;
        if (multisend_count_of(s, i) < 0)
            return MPI_ERR_COUNT;
    }
    return MPI_SUCCESS;
}

/* What may be under way stays: it must not be taken for a message of another list. */
static void multisend_drop(CRESTA_Multisend m)
{
    if (m == NULL)
        return;
    for (int i = 0; i < m->count && !m->broken; i++)
        if (m->requests[i] != MPI_REQUEST_NULL) /* Open MPI has freed those that failed */
            PMPI_Request_free(&m->requests[i]);
    free(m->requests);
    free(m->places);
    free(m->ended);
    free(m->statuses);
    free(m->sources);
    free(m->data);
    free(m);
}

static CRESTA_Multisend multisend_room_for(int receives, int sends)
{
    CRESTA_Multisend m = calloc(1, sizeof *m);
    const size_t n = (size_t)receives + 1, all = n + (size_t)sends;
    if (m == NULL)
        return NULL;
    m->requests = malloc(all * sizeof *m->requests);
    m->places = malloc(n * sizeof *m->places);
    m->ended = malloc(all * sizeof *m->ended);
    m->statuses = malloc(all * sizeof *m->statuses);
    m->sources = malloc(n * sizeof *m->sources);
    m->data = malloc(n * sizeof *m->data);
    if (m->requests != NULL && m->places != NULL && m->ended != NULL && m->statuses != NULL &&
        m->sources != NULL && m->data != NULL)
        return m;
    multisend_drop(m);
    return NULL;
}

static int add_receives(CRESTA_Multisend m, const side *s)
{
    int rc = MPI_SUCCESS;
    m->nsources = s->n;
    for (int i = 0; i < s->n && rc == MPI_SUCCESS; i++) {
        m->sources[i] = s->ranks[i];
        m->data[i] = multisend_place_of(s, i);
        if (s->ranks[i] == MPI_PROC_NULL)
            continue;
        rc = PMPI_Recv_init(m->data[i], multisend_count_of(s, i), s->type, s->ranks[i], m->tag,
                            m->lists->comm, &m->requests[m->count]);
        m->places[m->count] = i;
        m->count += rc == MPI_SUCCESS;
    }
    m->receives = m->count;
    return rc;
}

static int add_sends(CRESTA_Multisend m, const side *s)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < s->n && rc == MPI_SUCCESS; i++) {
        if (s->ranks[i] == MPI_PROC_NULL)
            continue;
        rc = PMPI_Send_init(multisend_place_of(s, i), multisend_count_of(s, i), s->type,
                            s->ranks[i], m->tag, m->lists->comm, &m->requests[m->count]);
        m->count += rc == MPI_SUCCESS;
    }
    return rc;
}

/* Others may start theirs: this one gets its tag whatever is wrong. */
static int multisend_make(side *in, side *out, MPI_Comm comm, CRESTA_Multisend *made)
{
    MPI_Aint low;
    int tag, size;
    *made = CRESTA_MULTISEND_NULL;
    cco_lists *lists = cco_lists_of(comm);
    if (lists == NULL)
        return cco_lists_refuse(comm, comm == MPI_COMM_NULL ? MPI_ERR_COMM : cco_lists_why(comm));
    int rc = cco_lists_take_tag(lists, &tag);
    if (rc != MPI_SUCCESS)
        return cco_lists_refuse(comm, rc);
    PMPI_Comm_size(comm, &size);
    rc = multisend_wrong(in, size);
    if (rc == MPI_SUCCESS)
        rc = multisend_wrong(out, size);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Type_get_extent(in->type, &low, &in->extent);
    out->extent = in->extent;
    CRESTA_Multisend m = rc == MPI_SUCCESS ? multisend_room_for(in->n, out->n) : NULL;
    if (rc == MPI_SUCCESS && m == NULL)
        rc = MPI_ERR_NO_MEM;
    if (m != NULL) {
        m->lists = lists;
        m->comm = comm;
        m->tag = tag;
        rc = add_receives(m, in);
        if (rc == MPI_SUCCESS)
            rc = add_sends(m, out);
    }
    if (rc == MPI_SUCCESS) {
        cco_lists_hold(lists);
        *made = m;
        return rc;
    }
    multisend_drop(m);
    cco_lists_give_tag(lists, tag);
    return cco_lists_refuse(comm, rc);
}

int CRESTA_Multicast_init(const void *sendbuf, int sendcount, int ndestinations,
                          const int destinations[], void *recvbuf, const int recvcounts[],
                          const int rdispls[], int nsources, const int sources[], MPI_Datatype type,
                          MPI_Comm comm, CRESTA_Multisend *multisend)
{
    side in = {recvbuf, recvcounts, rdispls, 0, nsources, sources, type, 0};
    side out = {
        (char *)(uintptr_t)sendbuf, NULL, NULL, sendcount, ndestinations, destinations, type, 0};
    return multisend_make(&in, &out, comm, multisend);
}

int CRESTA_Manytomany_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                           int ndestinations, const int destinations[], void *recvbuf,
                           const int recvcounts[], const int rdispls[], int nsources,
                           const int sources[], MPI_Datatype type, MPI_Comm comm,
                           CRESTA_Multisend *multisend)
{
    side in = {recvbuf, recvcounts, rdispls, 0, nsources, sources, type, 0};
    side out = {
        (char *)(uintptr_t)sendbuf, sendcounts, sdispls, 0, ndestinations, destinations, type, 0};
    return multisend_make(&in, &out, comm, multisend);
}

static int refuse_null(void)
{
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_REQUEST);
    return MPI_ERR_REQUEST;
}

/* Tells the program, where its communicator may be no more. */
static int multisend_refuse(const struct cresta_multisend *m, int error)
{
    const bool ended = __atomic_load_n(&m->lists->ended, __ATOMIC_ACQUIRE);
    return cco_lists_refuse(ended ? MPI_COMM_SELF : m->comm, error);
}

int CRESTA_Multisend_notify(CRESTA_Multisend m, CRESTA_Multisend_arrived *arrived, void *context,
                            int flags[])
{
    if (m == CRESTA_MULTISEND_NULL)
        return refuse_null();
    if (m->active)
        return multisend_refuse(m, MPI_ERR_REQUEST);
    m->arrived = arrived;
    m->context = context;
    m->flags = flags;
    return MPI_SUCCESS;
}

/* One after the other: MPI_Startall may start them in any order, and messages between two ranks
 * match in that. */
int CRESTA_Multisend_start(CRESTA_Multisend m)
{
    int rc = MPI_SUCCESS;
    if (m == CRESTA_MULTISEND_NULL)
        return refuse_null();
    if (m->active || m->broken)
        return multisend_refuse(m, MPI_ERR_REQUEST);
    if (m->flags != NULL)
        memset(m->flags, 0, (size_t)m->nsources * sizeof *m->flags);
    for (int i = 0; i < m->count && rc == MPI_SUCCESS; i++)
        rc = PMPI_Start(&m->requests[i]);
    m->broken = rc != MPI_SUCCESS;
    m->active = !m->broken;
    return rc == MPI_SUCCESS ? rc : multisend_refuse(m, rc);
}

/* Says which messages have come.  The program's function comes last: it may never return. */
static void multisend_tell(CRESTA_Multisend m, int n)
{
    for (int i = 0; i < n && m->flags != NULL; i++)
        if (m->ended[i] < m->receives)
            __atomic_store_n(&m->flags[m->places[m->ended[i]]], 1, __ATOMIC_RELEASE);
    for (int i = 0; i < n && m->arrived != NULL; i++) {
        const int place = m->ended[i] < m->receives ? m->places[m->ended[i]] : -1;
        if (place >= 0)
            m->arrived(m->context, place, m->sources[place], m->data[place]);
    }
}

/* Puts those of `n` ended messages first that have not failed; returns how many they are. */
static int leave_failed(CRESTA_Multisend m, int n)
{
    int good = 0;
    for (int i = 0; i < n; i++)
        if (m->statuses[i].MPI_ERROR == MPI_SUCCESS)
            m->ended[good++] = m->ended[i];
        else if (m->error == MPI_SUCCESS)
            m->error = m->statuses[i].MPI_ERROR;
    return good;
}

/* What has ended; where a status would not say that it has failed, one after the other. */
static int test_some(CRESTA_Multisend m, int *n)
{
    if (!cco_quirk_some_persistent())
        return PMPI_Testsome(m->count, m->requests, n, m->ended, m->statuses);
    int over = 0, at = MPI_UNDEFINED;
    const int rc = PMPI_Testany(m->count, m->requests, &at, &over, m->statuses);
    *n = !over ? 0 : at == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    m->ended[0] = at;
    m->statuses[0].MPI_ERROR = rc;
    return rc != MPI_SUCCESS && *n == 1 ? MPI_ERR_IN_STATUS : rc;
}

/* One that fails is reported at the end: the others come all the same. */
static int multisend_look(CRESTA_Multisend m, bool *moved)
{
    int n = 0, error_class = MPI_SUCCESS;
    const int rc = test_some(m, &n);
    if (rc != MPI_SUCCESS)
        PMPI_Error_class(rc, &error_class);
    m->broken = rc != MPI_SUCCESS && error_class != MPI_ERR_IN_STATUS;
    *moved = !m->broken && n != MPI_UNDEFINED && n > 0;
    m->active = !m->broken && n != MPI_UNDEFINED;
    if (m->broken)
        return multisend_refuse(m, rc);
    if (*moved)
        multisend_tell(m, rc == MPI_SUCCESS ? n : leave_failed(m, n));
    const int error = m->active ? MPI_SUCCESS : m->error;
    if (error == MPI_SUCCESS)
        return MPI_SUCCESS;
    m->error = MPI_SUCCESS;
    return multisend_refuse(m, error);
}

int CRESTA_Multisend_test(CRESTA_Multisend m, int *flag)
{
    int rc = MPI_SUCCESS;
    if (m == CRESTA_MULTISEND_NULL)
        return refuse_null();
    for (bool moved = true; m->active && moved && rc == MPI_SUCCESS;)
        rc = multisend_look(m, &moved);
    *flag = !m->active;
    return rc;
}

int CRESTA_Multisend_wait(CRESTA_Multisend m)
{
    int rc = MPI_SUCCESS;
    if (m == CRESTA_MULTISEND_NULL)
        return refuse_null();
    for (int tries = 0; m->active && rc == MPI_SUCCESS;) {
        bool moved;
        rc = multisend_look(m, &moved);
        if (cco_queue_any())
            moved = cco_queue_progress(true) || moved;
        if (moved)
            tries = 0;
        else if (m->active)
            cco_pause(&tries);
    }
    return rc;
}

int CRESTA_Multisend_free(CRESTA_Multisend *multisend)
{
    CRESTA_Multisend m = *multisend;
    if (m == CRESTA_MULTISEND_NULL)
        return refuse_null();
    cco_lists *lists = m->lists;
    if (m->active)
        return multisend_refuse(m, MPI_ERR_REQUEST);
    if (!m->broken)
        cco_lists_give_tag(lists, m->tag);
    multisend_drop(m);
    cco_lists_drop(lists);
    *multisend = CRESTA_MULTISEND_NULL;
    return MPI_SUCCESS;
}
