/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.c - see classes.h. */
#include "core/classes.h"

#include "core/data.h"
#include "core/kernels.h"

typedef struct named {
    const char *name;
    unsigned bit;
} named;

static const named type_names[] = {{"integer", CCO_TYPE_INTEGER},
                                   {"floating", CCO_TYPE_FLOATING},
                                   {"other", CCO_TYPE_OTHER},
                                   {"derived", CCO_TYPE_DERIVED},
                                   {NULL, 0}};
static const named op_names[] = {
    {"predefined", CCO_OP_PREDEFINED},   {"user", CCO_OP_USER},
    {"commutative", CCO_OP_COMMUTATIVE}, {"noncommutative", CCO_OP_NONCOMMUTATIVE},
    {"rounding", CCO_OP_ROUNDING},       {NULL, 0}};

const char *cco_class_name(bool types, int i)
{
    return (types ? type_names : op_names)[i].name;
}

unsigned cco_class_bit(bool types, int i)
{
    return (types ? type_names : op_names)[i].bit;
}

/* Those of the standard that kernels.c has no loops for. */
static bool among(MPI_Datatype type, const MPI_Datatype *list, size_t count)
{
    size_t i = 0;
    while (i < count && list[i] != type)
        i++;
    return i < count;
}

static bool is_integer(MPI_Datatype type, int combiner)
{
    static const MPI_Datatype more[] = {
        MPI_DATATYPE_NULL,
#ifdef MPI_INTEGER1
        MPI_INTEGER1,
#endif
#ifdef MPI_INTEGER2
        MPI_INTEGER2,
#endif
#ifdef MPI_INTEGER16
        MPI_INTEGER16,
#endif
    };
    return combiner == MPI_COMBINER_F90_INTEGER || cco_number_kind(type) == CCO_KIND_INTEGER ||
           among(type, more, sizeof more / sizeof more[0]);
}

static bool is_floating(MPI_Datatype type, int combiner)
{
    static const MPI_Datatype more[] = {
        MPI_DATATYPE_NULL,
#ifdef MPI_REAL2
        MPI_REAL2,
#endif
#ifdef MPI_REAL16
        MPI_REAL16,
#endif
#ifdef MPI_COMPLEX4
        MPI_COMPLEX4,
#endif
#ifdef MPI_COMPLEX32
        MPI_COMPLEX32,
#endif
    };
    return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
           cco_number_kind(type) == CCO_KIND_FLOATING ||
           among(type, more, sizeof more / sizeof more[0]);
}

static unsigned class_of_type(MPI_Datatype type)
{
    int integers, addresses, types, combiner = -1;
    if (!cco_type_predefined(type))
        return CCO_TYPE_DERIVED;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return is_integer(type, combiner)    ? CCO_TYPE_INTEGER
           : is_floating(type, combiner) ? CCO_TYPE_FLOATING
                                         : CCO_TYPE_OTHER;
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
