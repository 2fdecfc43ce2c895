/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_control.c - what is no collective for module crestacoll, in both kinds of handles. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "handles.h"
#include "section.h"

#pragma GCC visibility push(default)

void cresta_set_impl_int(MPI_Fint *comm, CFI_cdesc_t *spec, MPI_Fint *ierror)
{
    /* A character scalar: elem_len is its length, padded with blanks and without an end. */
    char *text = calloc(1, spec->elem_len + 1);
    if (text == NULL)
        cco_fatal("no memory for the rules given to CRESTA_Set_impl");
    memcpy(text, spec->base_addr, spec->elem_len);
    cco_f_return(ierror, CRESTA_Set_impl(PMPI_Comm_f2c(*comm), text));
    free(text);
}

void cresta_comm_prepare_int(MPI_Fint *comm, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Comm_prepare(PMPI_Comm_f2c(*comm)));
}

void cresta_comm_repair_int(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror)
{
    MPI_Comm made = MPI_COMM_NULL;
    const int rc = CRESTA_Comm_repair(PMPI_Comm_f2c(*comm), &made);
    *newcomm = PMPI_Comm_c2f(made);
    cco_f_return(ierror, rc);
}

void cresta_alloc_mem_int(MPI_Aint *size, MPI_Fint *comm, void **baseptr, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Alloc_mem(*size, PMPI_Comm_f2c(*comm), baseptr));
}

void cresta_free_mem_any(CFI_cdesc_t *base, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Free_mem(base->base_addr));
}

void cresta_win_init_int(MPI_Fint *comm, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Win_init(PMPI_Comm_f2c(*comm)));
}

void cresta_win_finalize_any(MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Win_finalize());
}

void cresta_record_begin_int(MPI_Fint *comm, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Record_begin(PMPI_Comm_f2c(*comm)));
}

void cresta_record_end_any(MPI_Fint *recording, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Record_end(recording));
}

void cresta_replay_start_any(MPI_Fint *recording, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Replay_start(*recording));
}

void cresta_replay_end_any(MPI_Fint *recording, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Replay_end(*recording));
}

void cresta_recording_info_any(MPI_Fint *recording, MPI_Fint *calls, MPI_Fint *merged,
                               MPI_Fint *parts, MPI_Fint *recorded, MPI_Fint *replayed,
                               MPI_Fint *ierror)
{
    cco_f_return(ierror,
                 CRESTA_Recording_info(*recording, calls, merged, parts, recorded, replayed));
}

void cresta_recording_free_any(MPI_Fint *recording, MPI_Fint *ierror)
{
    cco_f_return(ierror, CRESTA_Recording_free(recording));
}

void cresta_record_begin_f08(MPI_Fint *comm, MPI_Fint *ierror)
    __attribute__((alias("cresta_record_begin_int")));
void cresta_win_init_f08(MPI_Fint *comm, MPI_Fint *ierror)
    __attribute__((alias("cresta_win_init_int")));
void cresta_set_impl_f08(MPI_Fint *comm, CFI_cdesc_t *spec, MPI_Fint *ierror)
    __attribute__((alias("cresta_set_impl_int")));
void cresta_comm_prepare_f08(MPI_Fint *comm, MPI_Fint *ierror)
    __attribute__((alias("cresta_comm_prepare_int")));
void cresta_comm_repair_f08(MPI_Fint *comm, MPI_Fint *newcomm, MPI_Fint *ierror)
    __attribute__((alias("cresta_comm_repair_int")));
void cresta_alloc_mem_f08(MPI_Aint *size, MPI_Fint *comm, void **baseptr, MPI_Fint *ierror)
    __attribute__((alias("cresta_alloc_mem_int")));

#pragma GCC visibility pop
