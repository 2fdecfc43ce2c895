/* SPDX-License-Identifier: BSD-3-Clause */
/* ulfm.h - user-level failure mitigation (ULFM): what the MPI offers to programs that go on after a
 * process has failed.
 *
 * The functions are looked up in the running process, since the same library serves MPIs with and
 * without them.  They are called only where the MPI says that they work (MPI_FT, an attribute of
 * MPI_COMM_WORLD: Open MPI 5 under `mpirun --with-ft ulfm`); MPICH has their names, and ends the
 * job in them.  Where they do not work, all of these do nothing. */
#ifndef CCO_ULFM_H
#define CCO_ULFM_H

#include <stdbool.h>

#include "mpi/mpi_compat.h"

/* Whether it works in this job; the same on all ranks of a launch. */
bool cco_ulfm(void);

/* What that means, and why models on windows do not run then. */
#define CCO_ULFM_GOES_ON "the job goes on after failures (mpirun --with-ft ulfm)"
#define CCO_ULFM_NO_WINDOWS CCO_ULFM_GOES_ON ", and windows of the MPI do not"

/* The class of errors by which calls say that a process has failed: MPIX_ERR_PROC_FAILED, or
 * MPI_ERR_OTHER where the MPI has none. */
int cco_ulfm_failed_class(void);

/* The class of `error` if it says that a process has failed, or that a communicator is revoked;
 * otherwise MPI_SUCCESS. */
int cco_ulfm_class(int error);

/* MPIX_Comm_revoke, on any communicator of this process: nobody waits there any more. */
void cco_ulfm_revoke(MPI_Comm comm);
bool cco_ulfm_revoked(MPI_Comm comm);

/* MPIX_ERR_REVOKED. */
int cco_ulfm_revoked_class(void);

/* MPIX_Comm_failure_ack: known failures no longer keep this rank from receiving from any. */
void cco_ulfm_acknowledge(MPI_Comm comm);

/* MPIX_Comm_shrink and MPIX_Comm_agree; MPI_ERR_UNSUPPORTED_OPERATION where they do not work. */
int cco_ulfm_shrink(MPI_Comm comm, MPI_Comm *made);
int cco_ulfm_agree(MPI_Comm comm, int *flag);

/* The ranks of `comm` that the MPI knows to have failed, `most` at most; returns how many. */
int cco_ulfm_failed(MPI_Comm comm, int *ranks, int most);

/* The first of them, -1 for none. */
int cco_ulfm_first_failed(MPI_Comm comm);

/* Whether no process of a communicator has failed, the same on all ranks that are left; collective
 * over these.  True where it does not work. */
bool cco_ulfm_all_alive(MPI_Comm comm);

/* A message under way that nobody waits for any more: `*request` is MPI_REQUEST_NULL then.  Where
 * ULFM works, a send that fails after MPI_Request_free ends the job (Open MPI 5.0: "Send error
 * after request freed"), so that there such a request stays for ever, some hundred bytes. */
void cco_ulfm_give_up(MPI_Request *request);

#endif
