/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.c - functions that make and free communicators, in the linked library too.
 * CRESTA_DEBUG=match compares the calls on one from the first on, also if the program only begins
 * calls there.  The state of a communicator ends before the program's attributes do (comm/comm.h).
 */
#include "process/set_up.h"
#include "comm/comm.h"
#include "base/next.h"
#include "observe/observe.h"

#define CCO_FREES(x)                                                                               \
    CCO_EXPORT int MPI_##x(MPI_Comm *comm)                                                         \
    {                                                                                              \
        if (comm != NULL)                                                                          \
            CCO_OBSERVE(comm_freed, (*comm));                                                      \
        const int before = cco_comm_free_begins(comm);                                             \
        const int rc = CCO_CALL_NEXT(x, (comm));                                                   \
        cco_comm_free_ends(before);                                                                \
        return rc;                                                                                 \
    }

CCO_FREES(Comm_free)
CCO_FREES(Comm_disconnect)

#define CCO_MAKES(x, parameters, arguments)                                                        \
    CCO_EXPORT int MPI_##x parameters                                                              \
    {                                                                                              \
        const int rc = CCO_CALL_NEXT(x, arguments);                                                \
        if (rc == MPI_SUCCESS)                                                                     \
            cco_set_up_made(*made);                                                                \
        return rc;                                                                                 \
    }

CCO_MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
CCO_MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
CCO_MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
CCO_MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
          (comm, type, key, info, made))
CCO_MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
CCO_MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
          (comm, group, tag, made))
CCO_MAKES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))
CCO_MAKES(Cart_create,
          (MPI_Comm comm, int n, const int sizes[], const int periods[], int reorder,
           MPI_Comm *made),
          (comm, n, sizes, periods, reorder, made))
CCO_MAKES(Cart_sub, (MPI_Comm comm, const int remains[], MPI_Comm *made), (comm, remains, made))
CCO_MAKES(Graph_create,
          (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *made),
          (comm, n, index, edges, reorder, made))
CCO_MAKES(Dist_graph_create,
          (MPI_Comm comm, int n, const int sources[], const int degrees[], const int targets[],
           const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
          (comm, n, sources, degrees, targets, weights, info, reorder, made))
CCO_MAKES(Dist_graph_create_adjacent,
          (MPI_Comm comm, int in, const int sources[], const int source_weights[], int out,
           const int targets[], const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
          (comm, in, sources, source_weights, out, targets, weights, info, reorder, made))

/* What it makes may be used once the request has ended, but has its handle at once. */
CCO_EXPORT int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    const int rc = CCO_CALL_NEXT(Comm_idup, (comm, made, request));
    if (rc == MPI_SUCCESS)
        cco_set_up_duplicates(comm, *made);
    return rc;
}
