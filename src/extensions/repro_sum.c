/* SPDX-License-Identifier: BSD-3-Clause */
/* repro_sum.c - CRESTA_Repro_sum, CRESTA_Repro_sum_type: each rank sums its numbers exactly
 * (reduce/exact_sum.h), the sums are added as integers by one allreduce, and rounded once. */
#include <crestacoll.h>

#include "api/dispatch.h"
#include "reduce/exact_array.h"
#include "reduce/exact_fold.h"
#include "reduce/float_state.h"
#include "base/log.h"
#include "mpi/mpi_check.h"
#include "call/raise.h"
#include "record/recorder.h"

enum {
    PARTS = 2, /* of a complex number */
    WORDS = CCO_EXACT_LONG_DIGITS + CCO_EXACT_MORE_WORDS
};

/* What is summed. */
typedef struct kind {
    cco_exact_number number; /* CCO_EXACT_NONE: nothing known */
    int parts;
} kind;

static kind repro_sum_kind_of(MPI_Datatype type)
{
    switch (cco_exact_number_of(type)) {
    case CCO_R32:
        return (kind){CCO_EXACT_FLOAT, 1};
    case CCO_R64:
        return (kind){CCO_EXACT_DOUBLE, 1};
    case CCO_C32:
        return (kind){CCO_EXACT_FLOAT, 2};
    case CCO_C64:
        return (kind){CCO_EXACT_DOUBLE, 2};
    case CCO_LONG_DOUBLE:
        return (kind){CCO_EXACT_LONG == 1   ? CCO_EXACT_LONG_DOUBLE
                      : CCO_EXACT_LONG == 2 ? CCO_EXACT_DOUBLE
                                            : CCO_EXACT_NONE,
                      1};
    case CCO_C_LONG_DOUBLE:
        return (kind){CCO_EXACT_LONG == 1   ? CCO_EXACT_LONG_DOUBLE
                      : CCO_EXACT_LONG == 2 ? CCO_EXACT_DOUBLE
                                            : CCO_EXACT_NONE,
                      2};
    default:
        return (kind){CCO_EXACT_NONE, 1};
    }
}

/* What is wrong with this rank's arguments; NULL if nothing. */
static const char *repro_sum_wrong(kind kind, const void *x, MPI_Count n, const void *result)
{
    if (kind.number == CCO_EXACT_NONE)
        return "the datatype is no floating or complex type of which exact sums are known";
    if (n < 0)
        return "the number of elements is negative";
    if (x == NULL && n > 0)
        return "there is no array";
    return result == NULL ? "there is no place for the result" : NULL;
}

/* Not noted in a recording: a replay could not make it again. */
static int repro_sum_add_up(int64_t *words, int count, MPI_Comm comm)
{
    cco_comm *state = cco_enter(comm, CCO_ALLREDUCE);
    const cco_call call = {.coll = CCO_ALLREDUCE,
                           .sendbuf = MPI_IN_PLACE,
                           .recvbuf = words,
                           .sendcount = count,
                           .recvcount = count,
                           .sendtype = MPI_INT64_T,
                           .recvtype = MPI_INT64_T,
                           .op = MPI_SUM,
                           .comm = comm,
                           CCO_NO_ARRAYS};
    if (state == NULL || state == &cco_comm_reentrant || cco_is_recorded(state))
        return PMPI_Allreduce(MPI_IN_PLACE, words, count, MPI_INT64_T, MPI_SUM, comm);
    return cco_dispatch(state, &call);
}

/* The last word says how many ranks cannot take part, so that none waits for them, or takes a sum
 * for whole that is not.  (Ranks that name different types give vectors of different lengths.) */
static int sum_up(kind kind, const void *x, MPI_Count n, void *result, MPI_Comm comm)
{
    int64_t digits[CCO_EXACT_LONG_DIGITS], words[PARTS * WORDS + 1];
    const size_t size = cco_exact_size(kind.number);
    const char *why = repro_sum_wrong(kind, x, n, result);
    cco_exact sum;
    int count = 0;
    const cco_float_state before = cco_float_enter(); /* floats become doubles */
    for (int i = 0; i < kind.parts; i++) {
        cco_exact_start_number(&sum, kind.number, digits);
        if (why == NULL)
            cco_exact_add_array(&sum, kind.number, (const char *)x + (size_t)i * size, (size_t)n,
                                (size_t)kind.parts);
        cco_exact_pack(&sum, words + count);
        count += sum.count + CCO_EXACT_MORE_WORDS;
    }
    cco_float_leave(before);
    words[count] = why != NULL;
    if (why != NULL)
        cco_say("CRESTA_Repro_sum: %s", why);
    const int rc = repro_sum_add_up(words, count + 1, comm);
    if (rc != MPI_SUCCESS)
        return rc;
    if (words[count] != 0)
        return cco_refuse(comm, kind.number == CCO_EXACT_NONE ? MPI_ERR_TYPE : MPI_ERR_ARG);
    for (int i = 0; i < kind.parts; i++) {
        cco_exact_unpack(&sum, words + i * (count / kind.parts));
        cco_exact_put(&sum, kind.number, (char *)result + (size_t)i * size);
    }
    return MPI_SUCCESS;
}

int CRESTA_Repro_sum_type(const void *x, MPI_Count n, MPI_Datatype datatype, void *result,
                          MPI_Comm comm)
{
    cco_process_enter();
    if (!cco_is_intra(comm))
        return cco_refuse(comm, MPI_ERR_COMM);
    return sum_up(!cco_is_type(datatype) ? (kind){CCO_EXACT_NONE, 1} : repro_sum_kind_of(datatype),
                  x, n, result, comm);
}

int CRESTA_Repro_sum(const double *x, MPI_Count n, double *result, MPI_Comm comm)
{
    return CRESTA_Repro_sum_type(x, n, MPI_DOUBLE, result, comm);
}
