/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_check.c - see mpi_check.h. */
#include "mpi/mpi_check.h"

#include <pthread.h>

#include "mpi/dup_bare.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm alone = MPI_COMM_NULL;

static MPI_Comm mpi_check_make(void)
{
    int initialized = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized ||
        cco_comm_dup_bare(MPI_COMM_SELF, &comm) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

MPI_Comm cco_mpi_check_comm(void)
{
    pthread_mutex_lock(&lock);
    if (alone == MPI_COMM_NULL)
        alone = mpi_check_make();
    const MPI_Comm comm = alone;
    pthread_mutex_unlock(&lock);
    return comm;
}

void cco_mpi_check_end(void)
{
    if (alone != MPI_COMM_NULL)
        PMPI_Comm_free(&alone);
}

bool cco_mpi_check_handle(MPI_Comm comm)
{
#if defined(OPEN_MPI)
    return comm != (MPI_Comm)0 && comm != MPI_COMM_NULL && PMPI_Comm_c2f(comm) != -1;
#else
    int alike;
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF || !CCO_IS_HANDLE(comm, MPI_COMM_WORLD))
        return CCO_IS_HANDLE(comm, MPI_COMM_WORLD);
    const MPI_Comm kept = cco_mpi_check_comm(); /* its handler is called, since it comes first */
    return kept == MPI_COMM_NULL || PMPI_Comm_compare(kept, comm, &alike) == MPI_SUCCESS;
#endif
}

bool cco_is_intra(MPI_Comm comm)
{
    int inter;
    return cco_mpi_check_handle(comm) && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS &&
           !inter;
}

static MPI_Comm (*program_comm)(void);

void cco_mpi_check_without_world(MPI_Comm (*any)(void))
{
    __atomic_store_n(&program_comm, any, __ATOMIC_RELEASE);
}

static MPI_Comm any_of_program(void)
{
    MPI_Comm (*any)(void) = __atomic_load_n(&program_comm, __ATOMIC_ACQUIRE);
    return any != NULL ? any() : MPI_COMM_NULL;
}

MPI_Comm cco_mpi_check_any_comm(void)
{
    const MPI_Comm comm = cco_mpi_check_comm();
    return comm != MPI_COMM_NULL ? comm : any_of_program();
}

/* A communicator of a session must not outlive it, and nobody tells when that ends: so it is made
 * for each question. */
static MPI_Comm of_session(void)
{
    MPI_Comm made = MPI_COMM_NULL;
#if MPI_VERSION >= 4
    const MPI_Comm any = any_of_program();
    MPI_Group all, one;
    int rank;
    if (any == MPI_COMM_NULL || PMPI_Comm_group(any, &all) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    PMPI_Group_rank(all, &rank);
    if (PMPI_Group_incl(all, 1, &rank, &one) == MPI_SUCCESS) {
        if (PMPI_Comm_create_from_group(one, "crestacoll", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                        &made) != MPI_SUCCESS)
            made = MPI_COMM_NULL;
        PMPI_Group_free(&one);
    }
    PMPI_Group_free(&all);
#endif
    return made;
}

/* The question, put to the MPI on a communicator that is then free. */
typedef int (*question)(MPI_Comm comm, MPI_Datatype type, MPI_Op op, int count);

/* To nobody, and so without a look at the memory. */
static int mpi_check_send(MPI_Comm comm, MPI_Datatype type, MPI_Op op, int count)
{
    char nothing = 0;
    (void)op;
    return PMPI_Send(&nothing, count, type, MPI_PROC_NULL, 0, comm);
}

static int mpi_check_reduce(MPI_Comm comm, MPI_Datatype type, MPI_Op op, int count)
{
    char in = 0, out = 0;
    return PMPI_Allreduce(&in, &out, count, type, op, comm);
}

static int mpi_check_ask(question put, MPI_Datatype type, MPI_Op op, int count)
{
    const MPI_Comm kept = cco_mpi_check_comm();
    if (kept != MPI_COMM_NULL)
        return put(kept, type, op, count);
    MPI_Comm made = of_session();
    if (made == MPI_COMM_NULL)
        return MPI_SUCCESS;
    const int rc = put(made, type, op, count);
    PMPI_Comm_free(&made);
    return rc;
}

int cco_mpi_check_type(MPI_Datatype type, MPI_Count count)
{
    return mpi_check_ask(mpi_check_send, type, MPI_OP_NULL, count > 0 ? 1 : (int)count);
}

int cco_mpi_check_op(MPI_Op op, MPI_Datatype type)
{
    return mpi_check_ask(mpi_check_reduce, type, op, 0);
}
