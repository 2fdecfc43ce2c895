/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.c - see classes.h. */
#include "reduce/classes.h"

#include "call/data.h"
#include "reduce/kernels.h"

typedef struct named {
    const char *name;
    unsigned bit;
} named;

enum { NAMES = 6 }; /* at most, and the end */

static const named names[2][NAMES] = {[true] = {{"integer", CCO_TYPE_INTEGER},
                                                {"floating", CCO_TYPE_FLOATING},
                                                {"other", CCO_TYPE_OTHER},
                                                {"derived", CCO_TYPE_DERIVED},
                                                {NULL, 0}},
                                      [false] = {{"predefined", CCO_OP_PREDEFINED},
                                                 {"user", CCO_OP_USER},
                                                 {"commutative", CCO_OP_COMMUTATIVE},
                                                 {"noncommutative", CCO_OP_NONCOMMUTATIVE},
                                                 {"rounding", CCO_OP_ROUNDING},
                                                 {NULL, 0}}};

const char *cco_class_name(bool types, int i)
{
    return names[types][i].name;
}

unsigned cco_class_bit(bool types, int i)
{
    return names[types][i].bit;
}

/* The class of a type of the standard that kernels.c has no loops for; 0 if it is not listed. */
static unsigned class_without_loops(MPI_Datatype type)
{
    static const struct {
        MPI_Datatype type;
        unsigned bit;
    } listed[] = {
        {MPI_DATATYPE_NULL, 0},
#ifdef MPI_INTEGER1
        {MPI_INTEGER1, CCO_TYPE_INTEGER},
#endif
#ifdef MPI_INTEGER2
        {MPI_INTEGER2, CCO_TYPE_INTEGER},
#endif
#ifdef MPI_INTEGER16
        {MPI_INTEGER16, CCO_TYPE_INTEGER},
#endif
#ifdef MPI_REAL2
        {MPI_REAL2, CCO_TYPE_FLOATING},
#endif
#ifdef MPI_REAL16
        {MPI_REAL16, CCO_TYPE_FLOATING},
#endif
#ifdef MPI_COMPLEX4
        {MPI_COMPLEX4, CCO_TYPE_FLOATING},
#endif
#ifdef MPI_COMPLEX32
        {MPI_COMPLEX32, CCO_TYPE_FLOATING},
#endif
    };
    size_t i = sizeof listed / sizeof listed[0] - 1;
    while (i > 0 && listed[i].type != type)
        i--;
    return listed[i].bit;
}

static unsigned class_of_type(MPI_Datatype type)
{
    if (!cco_type_predefined(type))
        return CCO_TYPE_DERIVED;
    const int combiner = cco_type_combiner(type);
    if (combiner == MPI_COMBINER_F90_INTEGER || cco_number_kind(type) == CCO_KIND_INTEGER)
        return CCO_TYPE_INTEGER;
    if (combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
        cco_number_kind(type) == CCO_KIND_FLOATING)
        return CCO_TYPE_FLOATING;
    const unsigned listed = class_without_loops(type);
    return listed != 0 ? listed : CCO_TYPE_OTHER;
}

static unsigned classes_of_op(MPI_Op op, unsigned type)
{
    int commutes = 1;
    if (cco_op_predefined(op)) {
        const bool rounds = type == CCO_TYPE_FLOATING && (op == MPI_SUM || op == MPI_PROD);
        return CCO_OP_PREDEFINED | CCO_OP_COMMUTATIVE | (rounds ? CCO_OP_ROUNDING : 0u);
    }
    PMPI_Op_commutative(op, &commutes);
    return CCO_OP_USER | (commutes ? CCO_OP_COMMUTATIVE : CCO_OP_NONCOMMUTATIVE);
}

static _Thread_local struct {
    MPI_Datatype type;
    MPI_Op op;
    unsigned classes; /* 0: none is remembered */
} last;

unsigned cco_classes_of(const cco_call *call)
{
    if (!(cco_coll_infos[call->coll].properties & CCO_REDUCTION))
        return 0;
    const unsigned type = class_of_type(call->recvtype);
    const unsigned classes = type | classes_of_op(call->op, type);
    if (type != CCO_TYPE_DERIVED && classes & CCO_OP_PREDEFINED) {
        last.type = call->recvtype;
        last.op = call->op;
        last.classes = classes;
    }
    return classes;
}

bool cco_classes_again(const cco_call *call, unsigned *classes)
{
    *classes = last.classes;
    return last.classes != 0 && last.type == call->recvtype && last.op == call->op;
}
