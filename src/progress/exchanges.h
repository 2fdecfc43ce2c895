/* SPDX-License-Identifier: BSD-3-Clause */
/* exchanges.h - the sparse exchanges of a communicator (progress/exchange.h): those under way, and
 * what has come in those that have ended, until it is taken.
 *
 * They run one after the other, in the order in which they were begun, on a channel of their own.
 * Two pairs of tags are enough, since no rank is two exchanges ahead of another.
 *
 * The program may free the communicator first: what has come is dropped then, the last exchange
 * whose messages are over closes the channel, and the last to end frees the rest.  The end comes in
 * a callback of the MPI, which may free no communicator. */
#ifndef CCO_EXCHANGES_H
#define CCO_EXCHANGES_H

#include <pthread.h>

#include "comm/comm.h"
#include "mpi/grequest.h"
#include "progress/exchange.h"

typedef enum cco_exchange_phase {
    CCO_EXCHANGE_BEGUN,
    CCO_EXCHANGE_DONE, /* all has come, or never will, */
    CCO_EXCHANGE_ENDED /* and the program knows */
} cco_exchange_phase;

/* One of them. */
typedef struct cco_exchange_call {
    struct cco_exchanges *of;
    cco_exchange_sends sends;
    size_t element;          /* bytes */
    int error;               /* of the arguments, or of what happened */
    int *sources, *elements; /* of the program: what has come */
    cco_exchange x;
    void *copied;          /* memory that holds what is sent, freed when that has been; or NULL */
    void *copies;          /* of the lists, and the type is a copy; NULL: they are the program's */
    unsigned number;       /* in the order of begins */
    unsigned idle;         /* polls that moved nothing, one after the other */
    bool runs;             /* it has its tags */
    int phase;             /* cco_exchange_phase */
    cco_grequest grequest; /* MPI_REQUEST_NULL: of a blocking call */
    struct cco_exchange_call *next;  /* of those that are polled, */
    struct cco_exchange_call *later; /* and of its communicator */
} cco_exchange_call;

typedef struct cco_exchanges {
    cco_channel channel;
    cco_watch watch; /* of the program's communicator */
    pthread_mutex_t lock;
    cco_exchange_call *oldest, *idle; /* with the lock */
    bool closed;                      /* the program has freed the communicator */
    unsigned begun;
    unsigned done; /* of the thread that polls */
    int in_flight; /* those whose messages are not over, and one for the communicator */
    int users;     /* those that have not ended, and one for the communicator */
    int error, lost;
} cco_exchanges;

/* Those of a communicator; made in the first call, which is collective.  NULL on all ranks if the
 * MPI has no communicator for them, and where cco_comm_has_failed. */
cco_exchanges *cco_exchanges_of(cco_comm *state);

/* Why this rank takes part in no more of them, an MPI error class: a process has failed, `*lost` if
 * that is not -1, or the MPI returned an error.  MPI_SUCCESS: it does. */
int cco_exchanges_error(const cco_exchanges *exchanges, int *lost);

/* The next one, which cco_exchange_start begins; what has come in those that
 * have ended, and was not taken, is dropped. */
cco_exchange_call *cco_exchanges_next(cco_exchanges *exchanges);

/* Its messages are over. */
void cco_exchange_transport_done(cco_exchange_call *call);

/* The program has its error and what has come. */
void cco_exchange_end(cco_exchange_call *call);

/* The oldest that has ended, and was not taken, or the one with these `sources`; NULL if there
 * is none.  It stays until somebody drops it. */
cco_exchange_call *cco_exchanges_ended(const cco_comm *state, const int *sources);
void cco_exchange_drop(cco_exchange_call *call);

/* Begins it, with a request that ends it, and keeps copies of its lists and its type. */
void cco_exchange_start(cco_exchange_call *call, MPI_Request *request);

/* Begins it, and waits for its end.  Returns MPI_SUCCESS or an MPI error class. */
int cco_exchange_wait(cco_exchange_call *call);

#endif
