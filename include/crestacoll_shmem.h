/* SPDX-License-Identifier: BSD-3-Clause */
/* crestacoll_shmem.h - OpenSHMEM 1.5 for C within a node, on memory that the ranks of an MPI
 * communicator share.
 *
 * A program includes this header instead of <shmem.h>, or keeps <shmem.h> and is compiled with
 * -I<prefix>/include/crestacoll; it is linked to libcrestacoll and started by the MPI's launcher.
 * PEs are the ranks of MPI_COMM_WORLD, or of the communicator that CRESTA_Shmem_init got.  MPI and
 * OpenSHMEM calls may be mixed.
 *
 * The functions of OpenSHMEM are inline, so that the library exports no name `shmem_x` that another
 * OpenSHMEM has.  What they call, CRESTA_Shmem_x, is for them alone, except CRESTA_Shmem_init.
 *
 * Limits, and what happens at them (docs/shmem.md):
 *   - The memory of another PE is reached within a node only.  On communicators over several nodes
 *     collectives, and accesses to the PE's own memory, work; any other access ends the job with
 *     one message.
 *   - Only memory of shmem_malloc and its kin is reached from other PEs, not static variables;
 *     collectives take any memory, and pSync and pWrk may be static: they are never written.
 *   - Contexts, locks, strided transfers and the vector forms of wait and test are missing.
 *
 * Source: OpenSHMEM Application Programming Interface, version 1.5, 2020. */
#ifndef CRESTACOLL_SHMEM_H
#define CRESTACOLL_SHMEM_H

#include "crestacoll.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_MAX_NAME_LEN 64
#define SHMEM_VENDOR_STRING "crestacoll"

/* Comparisons of shmem_wait_until and shmem_test. */
enum { SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE };
enum { SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD };
enum { SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE };
enum { SHMEM_MALLOC_ATOMICS_REMOTE = 1, SHMEM_MALLOC_SIGNAL_REMOTE = 2 };

/* Elements of pSync and pWrk, which nothing here needs. */
#define SHMEM_SYNC_VALUE 0L
#define SHMEM_SYNC_SIZE 1
#define SHMEM_BARRIER_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1

/* Teams: handles are of this process. */
typedef struct cresta_team *shmem_team_t;
typedef struct shmem_team_config_t {
    int num_contexts;
} shmem_team_config_t;
#define SHMEM_TEAM_NUM_CONTEXTS 1L
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED ((shmem_team_t)2)

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* Starts OpenSHMEM on the ranks of `comm`, an intracommunicator; collective over it.  In place of
 * shmem_init in a program whose PEs are not all ranks of MPI_COMM_WORLD.  MPI is initialized.
 * shmem_finalize, called before MPI_Finalize, ends it; then it may be started again.
 * Errors: MPI_ERR_COMM for an intercommunicator or MPI_COMM_NULL, MPI_ERR_OTHER if it is started
 * already, MPI_ERR_NO_MEM. */
int CRESTA_Shmem_init(MPI_Comm comm);

/* shmem_init_thread: initializes MPI if the program has not, with the level of MPI, `wanted`.  What
 * MPI gives, and 0, or not 0 after an error. */
int CRESTA_Shmem_begin(int wanted, int *provided);
void CRESTA_Shmem_end(void); /* shmem_finalize */
void CRESTA_Shmem_global_exit(int status);
int CRESTA_Shmem_thread(void); /* the level of MPI */

/* Memory: shmem_align, shmem_free, shmem_realloc.  `zero`: as of shmem_calloc. */
void *CRESTA_Shmem_alloc(size_t alignment, size_t bytes, int zero);
void CRESTA_Shmem_free(void *base);
void *CRESTA_Shmem_realloc(void *base, size_t bytes);

/* Whether the memory of PE `pe` can be reached. */
int CRESTA_Shmem_reaches(int pe);

/* Where this process sees `address` of PE `pe`; NULL if it does not. */
void *CRESTA_Shmem_ptr(const void *address, int pe);

/* Where this process sees `bytes` there; if not, a message that begins with `function` ends all. */
void *CRESTA_Shmem_at(const void *address, size_t bytes, int pe, const char *function);

/* Pauses after the `*tries`th look that found nothing; begins at 0. */
void CRESTA_Shmem_pause(int *tries);

/* Teams. */
int CRESTA_Shmem_pe(shmem_team_t team); /* -1 without one */
int CRESTA_Shmem_pes(shmem_team_t team);
int CRESTA_Shmem_translate(shmem_team_t from, int pe, shmem_team_t to);
int CRESTA_Shmem_split(shmem_team_t parent, int start, int stride, int size, shmem_team_t *team);
int CRESTA_Shmem_split_2d(shmem_team_t parent, int xrange, shmem_team_t *x, shmem_team_t *y);
void CRESTA_Shmem_destroy(shmem_team_t team);

/* The team of an active set, made when it is first used; `stride` between its PEs. */
shmem_team_t CRESTA_Shmem_active_set(int start, int stride, int size);

/* Collectives of a team; 0, or not 0 after an error.  `n` elements of `width` bytes. */
int CRESTA_Shmem_barrier(shmem_team_t team);
int CRESTA_Shmem_broadcast(shmem_team_t team, void *dest, const void *source, size_t bytes,
                           int root, int to_root);
int CRESTA_Shmem_collect(shmem_team_t team, void *dest, const void *source, size_t n, size_t width);
int CRESTA_Shmem_fcollect(shmem_team_t team, void *dest, const void *source, size_t n,
                          size_t width);
int CRESTA_Shmem_alltoall(shmem_team_t team, void *dest, const void *source, size_t n,
                          size_t width);
int CRESTA_Shmem_alltoalls(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst,
                           ptrdiff_t sst, size_t n, size_t width);
int CRESTA_Shmem_reduce(shmem_team_t team, void *dest, const void *source, size_t n,
                        MPI_Datatype type, MPI_Op op);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#include "crestacoll_shmem_proto.h"

#ifdef __cplusplus
}
#endif

#endif
