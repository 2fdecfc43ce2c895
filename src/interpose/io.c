/* SPDX-License-Identifier: BSD-3-Clause */
/* io.c - MPI_File_*, in the linked library too: counted while CRESTA_IO asks for it (io/record.h),
 * and always the MPI's own, or a tool's behind us.
 *
 * Bytes are those that the MPI says it has moved, in the status; a program that ignores it gets
 * ours.  Only for calls that return before the data have moved, the bytes are those they ask for.
 * A call that fails is not counted. */
#include <string.h>

#include "mpi/mpi_compat.h"
#include "base/next.h"
#include "io/record.h"

/* Where the MPI says what it has moved: nothing, if it does not. */
static MPI_Status *io_told(MPI_Status *status, MPI_Status *mine)
{
    if (status == MPI_STATUS_IGNORE) {
        memset(mine, 0, sizeof *mine);
        status = mine;
    }
    PMPI_Status_set_elements_x(status, MPI_BYTE, 0);
    return status;
}

/* A call of MPI_File_x with `arguments`; if it is counted, `before` it, and `after` it, if that is
 * good. */
#define COUNTED(x, before, arguments, after)                                                       \
    uint64_t start = 0;                                                                            \
    const bool counted = cco_io_enter(&start);                                                     \
    if (counted) {                                                                                 \
        before;                                                                                    \
    }                                                                                              \
    const int rc = CCO_CALL_NEXT(File_##x, arguments);                                             \
    if (counted) {                                                                                 \
        cco_io_leave();                                                                            \
        if (rc == MPI_SUCCESS) {                                                                   \
            after;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    return rc

#define MOVED(x, part, arguments)                                                                  \
    MPI_Status mine;                                                                               \
    COUNTED(x, status = io_told(status, &mine), arguments,                                         \
            cco_io_count(part, fh, start, cco_io_bytes(status)))

#define DATA(x, buffer, number, part)                                                              \
    CCO_EXPORT int MPI_File_##x(MPI_File fh, buffer buf, number count, MPI_Datatype type,          \
                                MPI_Status *status)                                                \
    {                                                                                              \
        MOVED(x, part, (fh, buf, count, type, status));                                            \
    }
#define DATA_AT(x, buffer, number, part)                                                           \
    CCO_EXPORT int MPI_File_##x(MPI_File fh, MPI_Offset offset, buffer buf, number count,          \
                                MPI_Datatype type, MPI_Status *status)                             \
    {                                                                                              \
        MOVED(x, part, (fh, offset, buf, count, type, status));                                    \
    }
#define START(x, buffer, number, part)                                                             \
    CCO_EXPORT int MPI_File_##x(MPI_File fh, buffer buf, number count, MPI_Datatype type,          \
                                MPI_Request *request)                                              \
    {                                                                                              \
        COUNTED(x, , (fh, buf, count, type, request),                                              \
                cco_io_count(part, fh, start, cco_io_asked(count, type)));                         \
    }
#define START_AT(x, buffer, number, part)                                                          \
    CCO_EXPORT int MPI_File_##x(MPI_File fh, MPI_Offset offset, buffer buf, number count,          \
                                MPI_Datatype type, MPI_Request *request)                           \
    {                                                                                              \
        COUNTED(x, , (fh, offset, buf, count, type, request),                                      \
                cco_io_count(part, fh, start, cco_io_asked(count, type)));                         \
    }
#define BEGIN(x, buffer, number, part)                                                             \
    CCO_EXPORT int MPI_File_##x(MPI_File fh, buffer buf, number count, MPI_Datatype type)          \
    {                                                                                              \
        COUNTED(x, , (fh, buf, count, type), cco_io_split_begin(part, fh, start));                 \
    }
#define BEGIN_AT(x, buffer, number, part)                                                          \
    CCO_EXPORT int MPI_File_##x(MPI_File fh, MPI_Offset offset, buffer buf, number count,          \
                                MPI_Datatype type)                                                 \
    {                                                                                              \
        COUNTED(x, , (fh, offset, buf, count, type), cco_io_split_begin(part, fh, start));         \
    }

#define CCO_IO_DATA(x, X, buffer, part) DATA(x, buffer, int, part)
#define CCO_IO_DATA_AT(x, X, buffer, part) DATA_AT(x, buffer, int, part)
#define CCO_IO_START(x, X, buffer, part) START(x, buffer, int, part)
#define CCO_IO_START_AT(x, X, buffer, part) START_AT(x, buffer, int, part)
#define CCO_IO_BEGIN(x, X, buffer, part) BEGIN(x, buffer, int, part)
#define CCO_IO_BEGIN_AT(x, X, buffer, part) BEGIN_AT(x, buffer, int, part)
#define CCO_IO_END(x, X, buffer, part)                                                             \
    CCO_EXPORT int MPI_File_##x(MPI_File fh, buffer buf, MPI_Status *status)                       \
    {                                                                                              \
        MPI_Status mine;                                                                           \
        COUNTED(x, status = io_told(status, &mine), (fh, buf, status),                             \
                cco_io_split_end(part, fh, start, cco_io_bytes(status)));                          \
    }
#include "io/calls.def"

#if defined(CRESTA_HAVE_LARGE_COUNT)
#undef CCO_IO_DATA
#undef CCO_IO_DATA_AT
#undef CCO_IO_START
#undef CCO_IO_START_AT
#undef CCO_IO_BEGIN
#undef CCO_IO_BEGIN_AT
#undef CCO_IO_END
#define CCO_IO_DATA(x, X, buffer, part) DATA(x##_c, buffer, MPI_Count, part)
#define CCO_IO_DATA_AT(x, X, buffer, part) DATA_AT(x##_c, buffer, MPI_Count, part)
#define CCO_IO_START(x, X, buffer, part) START(x##_c, buffer, MPI_Count, part)
#define CCO_IO_START_AT(x, X, buffer, part) START_AT(x##_c, buffer, MPI_Count, part)
#define CCO_IO_BEGIN(x, X, buffer, part) BEGIN(x##_c, buffer, MPI_Count, part)
#define CCO_IO_BEGIN_AT(x, X, buffer, part) BEGIN_AT(x##_c, buffer, MPI_Count, part)
#define CCO_IO_END(x, X, buffer, part) /* has no count */
#include "io/calls.def"
#endif

CCO_EXPORT int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info,
                             MPI_File *fh)
{
    COUNTED(open, , (comm, filename, amode, info, fh),
            cco_io_opened(*fh, filename, strlen(filename), comm, start));
}

CCO_EXPORT int MPI_File_close(MPI_File *fh)
{
    int place = 0;
    COUNTED(close, place = cco_io_forget(*fh), (fh), cco_io_closed(place, start));
}

CCO_EXPORT int MPI_File_sync(MPI_File fh)
{
    COUNTED(sync, , (fh), cco_io_count(CCO_IO_SYNC, fh, start, 0));
}

CCO_EXPORT int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype,
                                 MPI_Datatype filetype, const char *datarep, MPI_Info info)
{
    COUNTED(set_view, , (fh, disp, etype, filetype, datarep, info),
            cco_io_count(CCO_IO_SET_VIEW, fh, start, 0));
}
