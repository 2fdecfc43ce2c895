/* SPDX-License-Identifier: BSD-3-Clause */
/* unlike.c - see unlike.h. */
#include "call/unlike.h"

#include <stdio.h>

#include "base/log.h"

static void unlike_show(uint64_t stamp, const char *verb, bool sized, char *text, size_t room)
{
    const unsigned coll = cco_stamp_coll(stamp), root = cco_stamp_root(stamp);
    const unsigned long long bytes = stamp >> CCO_STAMP_BYTES_AT;
    if (stamp == 0) {
        snprintf(text, room, "another call, or one that gives nothing");
        return;
    }
    if (coll == 0 || coll > CCO_COLLECTIVES) {
        snprintf(text, room, "a call that met unlike ones itself");
        return;
    }
    const cco_coll_info *info = &cco_coll_infos[coll - 1];
    int n = snprintf(text, room, "MPI_%s", info->mpi_name);
    if (info->properties & CCO_ROOTED)
        n += snprintf(text + n, room - (size_t)n, ", root %u", root);
    if (!sized)
        snprintf(text + n, room - (size_t)n, ", an earlier or a later call");
    else if ((stamp & CCO_STAMP_UNSIZED) == CCO_STAMP_UNSIZED)
        snprintf(text + n, room - (size_t)n, "%s%s%s", *verb ? ", " : "", verb,
                 *verb ? "other bytes" : "");
    else if (info->properties & CCO_COUNTS && stamp >> 63)
        snprintf(text + n, room - (size_t)n, ", with counts that differ");
    else if (coll - 1 != CCO_BARRIER)
        snprintf(text + n, room - (size_t)n, ", %s%llu byte%s", verb, bytes,
                 cco_plural((long long)bytes));
}

void cco_unlike_tell(const char *name, int rank, int size, const cco_unlike *unlike)
{
    enum { LINES = 20 };
    static int told;
    char here[128], there[128];
    if (__atomic_fetch_add(&told, 1, __ATOMIC_RELAXED) >= LINES)
        return;
    const bool sizes = cco_unlike_class(unlike->here, unlike->there) == MPI_ERR_TRUNCATE;
    const char *const verbs[] = {"takes ", "gives "};
    unlike_show(unlike->here, sizes && unlike->rank >= 0 ? verbs[unlike->gives] : "", true, here,
                sizeof here);
    unlike_show(unlike->there, sizes ? verbs[!unlike->gives] : "",
                cco_stamp_same_number(unlike->here, unlike->there), there, sizeof there);
    if (unlike->rank < 0) {
        cco_say("the ranks of communicator '%s' (%d rank%s) do not make the same call there "
                "(MPI_ERR_TRUNCATE): rank %d makes %s",
                name, size, cco_plural(size), rank, here);
        return;
    }
    const bool own = unlike->rank == rank;
    cco_say("%s of communicator '%s' (%d rank%s) %s (%s):\n    rank %d: %s\n    rank %d: %s",
            own ? "a rank" : "the ranks", name, size, cco_plural(size),
            own ? "gives itself other bytes than it takes" : "do not make the same call there",
            sizes ? "MPI_ERR_TRUNCATE" : "MPI_ERR_OTHER", rank, here, unlike->rank, there);
}
