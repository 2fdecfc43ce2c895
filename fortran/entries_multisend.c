/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_multisend.c - module cresta_multisend, in both kinds of handles. */
#include <stdlib.h>

#include "extensions/exchange.h"
#include "call/degrees.h"
#include "base/log.h"
#include "cresta_multisend.h"
#include "handles.h"
#include "section.h"

#pragma GCC visibility push(default)

/* Declares a function for handles of mpi_f08, which are integers in memory, too. */
#define BOTH(name, parameters)                                                                     \
    void name##_f08 parameters __attribute__((alias(#name "_int")));                               \
    void name##_int parameters

/* A copy stays until all has been sent: each message would need a type of its own. */
BOTH(cresta_exchange, (CFI_cdesc_t * sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls,
                       MPI_Fint *datatype, MPI_Fint *ndestinations, MPI_Fint *destinations,
                       MPI_Fint *sources, MPI_Fint *elements, MPI_Fint *comm, MPI_Fint *ierror))
{
    cco_f_section from = cco_f_copy_in(sendbuf);
    const cco_exchange_sends sends = {from.address,
                                      sendcounts,
                                      sdispls,
                                      destinations,
                                      *ndestinations,
                                      PMPI_Type_f2c(*datatype),
                                      0};
    cco_f_return(ierror, cco_exchange_now(&sends, cco_f_keep(&from), sources, elements,
                                          PMPI_Comm_f2c(*comm)));
}

BOTH(cresta_exchange_begin,
     (CFI_cdesc_t * sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *datatype,
      MPI_Fint *ndestinations, MPI_Fint *destinations, MPI_Fint *sources, MPI_Fint *elements,
      MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))
{
    cco_f_section from = cco_f_copy_in(sendbuf);
    const cco_exchange_sends sends = {from.address,
                                      sendcounts,
                                      sdispls,
                                      destinations,
                                      *ndestinations,
                                      PMPI_Type_f2c(*datatype),
                                      0};
    MPI_Request made;
    const int rc = cco_exchange_begin(&sends, cco_f_keep(&from), sources, elements,
                                      PMPI_Comm_f2c(*comm), &made);
    *request = PMPI_Request_c2f(made);
    cco_f_return(ierror, rc);
}

BOTH(cresta_exchange_take,
     (CFI_cdesc_t * recvbuf, MPI_Fint *sources, MPI_Fint *recvcounts, MPI_Fint *rdispls,
      MPI_Fint *datatype, MPI_Fint *comm, MPI_Fint *ierror))
{
    cco_f_section to = cco_f_copy_in(recvbuf);
    const int rc = CRESTA_Exchange_take(to.address, sources, recvcounts, rdispls,
                                        PMPI_Type_f2c(*datatype), PMPI_Comm_f2c(*comm));
    cco_f_release(&to, 1);
    cco_f_return(ierror, rc);
}

/* A rank whose buffers have gaps takes part without lists, and gets no multisend. */
static void refuse(CRESTA_Multisend *multisend, const MPI_Fint *comm, MPI_Fint *ierror)
{
    CRESTA_Multicast_init(NULL, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, MPI_BYTE,
                          PMPI_Comm_f2c(*comm), multisend);
    if (*multisend != CRESTA_MULTISEND_NULL)
        CRESTA_Multisend_free(multisend);
    cco_f_return(ierror, cco_f_section_error(*comm));
}

BOTH(cresta_multicast_init,
     (CFI_cdesc_t * sendbuf, MPI_Fint *sendcount, MPI_Fint *ndestinations, MPI_Fint *destinations,
      CFI_cdesc_t *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *nsources,
      MPI_Fint *sources, MPI_Fint *datatype, MPI_Fint *comm, CRESTA_Multisend *multisend,
      MPI_Fint *ierror))
{
    const cco_f_section from = cco_f_contiguous(sendbuf), to = cco_f_contiguous(recvbuf);
    if (from.error || to.error)
        refuse(multisend, comm, ierror);
    else
        cco_f_return(ierror, CRESTA_Multicast_init(from.address, *sendcount, *ndestinations,
                                                   destinations, to.address, recvcounts, rdispls,
                                                   *nsources, sources, PMPI_Type_f2c(*datatype),
                                                   PMPI_Comm_f2c(*comm), multisend));
}

BOTH(cresta_manytomany_init,
     (CFI_cdesc_t * sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *ndestinations,
      MPI_Fint *destinations, CFI_cdesc_t *recvbuf, MPI_Fint *recvcounts, MPI_Fint *rdispls,
      MPI_Fint *nsources, MPI_Fint *sources, MPI_Fint *datatype, MPI_Fint *comm,
      CRESTA_Multisend *multisend, MPI_Fint *ierror))
{
    const cco_f_section from = cco_f_contiguous(sendbuf), to = cco_f_contiguous(recvbuf);
    if (from.error || to.error)
        refuse(multisend, comm, ierror);
    else
        cco_f_return(ierror, CRESTA_Manytomany_init(
                                 from.address, sendcounts, sdispls, *ndestinations, destinations,
                                 to.address, recvcounts, rdispls, *nsources, sources,
                                 PMPI_Type_f2c(*datatype), PMPI_Comm_f2c(*comm), multisend));
}

void cresta_multisend_notify_any(CRESTA_Multisend *multisend, CRESTA_Multisend_arrived *arrived,
                                 void *context, MPI_Fint *flags, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Multisend_notify(*multisend, arrived, context, flags));
}

void cresta_multisend_start_any(CRESTA_Multisend *multisend, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Multisend_start(*multisend));
}

void cresta_multisend_wait_any(CRESTA_Multisend *multisend, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Multisend_wait(*multisend));
}

void cresta_multisend_test_any(CRESTA_Multisend *multisend, MPI_Fint *flag, MPI_Fint *ierror)
{
    int over = 0;
    const int rc = CRESTA_Multisend_test(*multisend, &over);
    *flag = over;
    cco_f_return(ierror, rc);
}

void cresta_multisend_free_any(CRESTA_Multisend *multisend, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Multisend_free(multisend));
}

BOTH(cresta_sneighbor_alltoall, (CFI_cdesc_t * sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype,
                                 CFI_cdesc_t *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype,
                                 MPI_Fint *comm, MPI_Fint *requests, MPI_Fint *ierror))
{
    const cco_f_section from = cco_f_contiguous(sendbuf), to = cco_f_contiguous(recvbuf);
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);
    const cco_degrees degrees = cco_degrees_of(c_comm);
    const int n = degrees.in + degrees.out;
    if (from.error || to.error) {
        cco_f_return(ierror, cco_f_section_error(*comm));
        return;
    }
    MPI_Request *list = malloc(((size_t)n + 1) * sizeof *list);
    if (list == NULL)
        cco_fatal("no memory for %d requests", n);
    const int rc = CRESTA_Sneighbor_alltoall(from.address, *sendcount, PMPI_Type_f2c(*sendtype),
                                             to.address, *recvcount, PMPI_Type_f2c(*recvtype),
                                             c_comm, list);
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
        requests[i] = PMPI_Request_c2f(list[i]);
    free(list);
    cco_f_return(ierror, rc);
}

#pragma GCC visibility pop
