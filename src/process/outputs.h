/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.h - the files that a run writes of itself: profile, record of MPI-IO, summary of what was
 * validated, and that the library was loaded. */
#ifndef CCO_OUTPUTS_H
#define CCO_OUTPUTS_H

/* On rank 0, in MPI_Init: a file that cannot be written is reported before the program computes,
 * not after. */
void cco_outputs_try(void);

/* In MPI_Init, collective: CRESTA_LOADED; what the files will say is counted from now on. */
void cco_outputs_begin(void);

/* Where MPI_Init did not pass by: in the first call that did.  No communication. */
void cco_outputs_begin_late(void);

/* All ranks of MPI_COMM_WORLD have met after all: in the set-up of that. */
void cco_outputs_met_late(void);

/* In MPI_Finalize, collective over MPI_COMM_WORLD.  Where processes have failed, what needs all of
 * them is not written, and one rank says so. */
void cco_outputs_write(void);

#endif
