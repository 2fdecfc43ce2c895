/* SPDX-License-Identifier: BSD-3-Clause */
/* polite.h - what the files of the test `polite` share. */
#ifndef POLITE_H
#define POLITE_H

#include <mpi.h>

#include "testing/testing.h"

/* The calls, through the MPI's own names or the library. */
struct calls {
    __typeof__(&MPI_Send) Send, Ssend, Rsend, Bsend;
    __typeof__(&MPI_Recv) Recv;
    __typeof__(&MPI_Sendrecv) Sendrecv;
    __typeof__(&MPI_Sendrecv_replace) Sendrecv_replace;
    __typeof__(&MPI_Probe) Probe;
    __typeof__(&MPI_Mprobe) Mprobe;
    __typeof__(&MPI_Wait) Wait;
    __typeof__(&MPI_Waitall) Waitall;
    __typeof__(&MPI_Waitany) Waitany;
    __typeof__(&MPI_Waitsome) Waitsome;
    __typeof__(&MPI_Win_wait) Win_wait;
};
#define POLITE_CALLS                                                                               \
    CALL(Send)                                                                                     \
    CALL(Ssend)                                                                                    \
    CALL(Rsend)                                                                                    \
    CALL(Bsend)                                                                                    \
    CALL(Recv)                                                                                     \
    CALL(Sendrecv)                                                                                 \
    CALL(Sendrecv_replace)                                                                         \
    CALL(Probe)                                                                                    \
    CALL(Mprobe)                                                                                   \
    CALL(Wait)                                                                                     \
    CALL(Waitall)                                                                                  \
    CALL(Waitany)                                                                                  \
    CALL(Waitsome)                                                                                 \
    CALL(Win_wait)
extern const struct calls *calls;

extern MPI_Comm comm; /* of two ranks; an error handler of ours is on it, and on the world */
extern int rank, other;

/* Adds a line to what happened, which must be the same both ways. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
void say_rc(const char *what, int rc);
void say_rc_once(const char *what, int rc); /* MPICH calls the handler for each look, too */
void say_status(const char *what, MPI_Status *status, MPI_Datatype type);

/* That rank comes late, most of the time. */
void late(int who);

/* Parts of the test. */
void polite_wrong(void);    /* wrong arguments, messages that are too long */
void polite_requests(void); /* null, inactive, cancelled and good requests */
void polite_failed(void);   /* requests that fail */
void polite_windows(void);

#endif
