/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - the messages of one sparse exchange, of which receivers know nothing beforehand.
 *
 * Algorithm NBX (T. Hoefler, C. Siebert, A. Lumsdaine, PPoPP 2010): synchronous sends, which end
 * when they are received; then a barrier, during which a rank still receives.  When it is over, all
 * that was sent has been received.  The barrier is ours, on the second tag of the exchange: those
 * of the MPI would be a collective of the program's communicator in between, and Open MPI's hang
 * after 2^24 of them.
 *
 * By one thread at a time.  Nothing here waits. */
#ifndef CCO_EXCHANGE_H
#define CCO_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "wait/awaited.h"

/* A message that has come. */
typedef struct cco_exchange_message {
    int source, turn; /* turn: in the order of coming */
    size_t at, n;     /* its bytes */
} cco_exchange_message;

/* What this rank sends; lists as those of CRESTA_Exchange (include/cresta_multisend.h). */
typedef struct cco_exchange_sends {
    const char *buffer;
    const int *counts, *displs, *destinations;
    int count;
    MPI_Datatype type;
    MPI_Aint extent;
} cco_exchange_sends;

typedef struct cco_exchange {
    MPI_Comm comm; /* of ours, */
    int rank, size, tag;
    MPI_Request *sends; /* that are under way */
    int *to;
    int count;
    bool sent;    /* all have been received: it is in the barrier */
    int distance; /* of its open round; at least `size`: it is over */
    MPI_Request barrier[2];
    MPI_Request incoming; /* the message that is being received; MPI_REQUEST_NULL: none is */
    cco_awaited awaited;  /* of the sends, or of a round of the barrier */
    cco_exchange_message *list;
    int came, room;
    char *data;
    size_t bytes, data_room;
} cco_exchange;

/* Forgets what has come; the ranks of `comm`, and the two tags, are those of the next one. */
void cco_exchange_reset(cco_exchange *exchange, MPI_Comm comm, int tag);

/* Starts what this rank sends.  A send that does not start is no send: nobody waits for it.
 * Returns MPI_SUCCESS or an MPI error. */
int cco_exchange_send(cco_exchange *exchange, const cco_exchange_sends *sends);

/* Goes on; sets `*moved` if something has come or ended, and `*over` at the end.  Returns
 * MPI_SUCCESS or an MPI error. */
int cco_exchange_test(cco_exchange *exchange, bool *moved, bool *over);

/* In a long wait: whether what this exchange waits for can still come (wait/awaited.h). */
int cco_exchange_lost(cco_exchange *exchange, cco_watch *watch, const cco_channel *channel);

/* It goes no further.  Its tags are for nobody else. */
void cco_exchange_abandon(cco_exchange *exchange);

/* Orders what has come by source, that of one source as it was sent. */
void cco_exchange_sort(cco_exchange *exchange);

/* Its memory, but for at most `keeps` bytes of data. */
void cco_exchange_trim(cco_exchange *exchange, size_t keeps);
void cco_exchange_free(cco_exchange *exchange);

#endif
