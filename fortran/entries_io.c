/* SPDX-License-Identifier: BSD-3-Clause */
/* entries_io.c - src/interpose/io.c for Fortran, where MPI_File_* does not pass the C names.
 *
 * All arguments are addresses, in each of the bindings, and go on as they came, but for a status
 * that the program ignores: it gets ours.  A call goes to the next definition of its Fortran name,
 * the MPI's or a tool's. */
#include <string.h>

#include "base/log.h"
#include "base/next.h"
#include "handles.h"
#include "io/record.h"

static cco_function next_of(const char *name, cco_function *found)
{
    const cco_function next = cco_next(name, found);
    if (next == NULL)
        cco_fatal("%s was called, and nothing behind crestacoll defines it: the Fortran library of"
                  " the MPI has to be loaded with RTLD_GLOBAL",
                  name);
    return next;
}

#pragma GCC visibility push(default)

/* The next definition of a name, as a function with these parameters. */
#define NEXT(name, parameters)                                                                     \
    static cco_function found;                                                                     \
    void(*const next) parameters = (void(*) parameters)next_of(name, &found)

/* Calls `next` with `arguments`, and, if that is counted and good, does `after`.  In mpi_f08 the
 * error code may be absent, so `rc` is passed. */
#define COUNTED(before, arguments, after)                                                          \
    uint64_t start = 0;                                                                            \
    MPI_Fint rc = MPI_SUCCESS;                                                                     \
    const bool counted = cco_io_enter(&start);                                                     \
    if (counted) {                                                                                 \
        before;                                                                                    \
    }                                                                                              \
    next arguments;                                                                                \
    if (counted) {                                                                                 \
        cco_io_leave();                                                                            \
        if (rc == MPI_SUCCESS) {                                                                   \
            after;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    cco_f_return(ierror, rc)

#define FILE_OF(fh) PMPI_File_f2c(*(fh))

/* Open, close, sync and set_view: lengths of strings come last. */
#define OPEN(entry)                                                                                \
    void entry(MPI_Fint *comm, char *filename, MPI_Fint *amode, MPI_Fint *info, MPI_Fint *fh,      \
               MPI_Fint *ierror, size_t length)                                                    \
    {                                                                                              \
        NEXT(#entry,                                                                               \
             (MPI_Fint *, char *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, size_t));        \
        COUNTED(, (comm, filename, amode, info, fh, &rc, length),                                  \
                cco_io_opened(FILE_OF(fh), filename, trimmed(filename, length),                    \
                              PMPI_Comm_f2c(*comm), start));                                       \
    }
#define CLOSE(entry)                                                                               \
    void entry(MPI_Fint *fh, MPI_Fint *ierror)                                                     \
    {                                                                                              \
        int place = 0;                                                                             \
        NEXT(#entry, (MPI_Fint *, MPI_Fint *));                                                    \
        COUNTED(place = cco_io_forget(FILE_OF(fh)), (fh, &rc), cco_io_closed(place, start));       \
    }
#define SYNC(entry)                                                                                \
    void entry(MPI_Fint *fh, MPI_Fint *ierror)                                                     \
    {                                                                                              \
        NEXT(#entry, (MPI_Fint *, MPI_Fint *));                                                    \
        COUNTED(, (fh, &rc), cco_io_count(CCO_IO_SYNC, FILE_OF(fh), start, 0));                    \
    }
#define SET_VIEW(entry)                                                                            \
    void entry(MPI_Fint *fh, MPI_Offset *disp, MPI_Fint *etype, MPI_Fint *filetype, char *datarep, \
               MPI_Fint *info, MPI_Fint *ierror, size_t length)                                    \
    {                                                                                              \
        NEXT(#entry, (MPI_Fint *, MPI_Offset *, MPI_Fint *, MPI_Fint *, char *, MPI_Fint *,        \
                      MPI_Fint *, size_t));                                                        \
        COUNTED(, (fh, disp, etype, filetype, datarep, info, &rc, length),                         \
                cco_io_count(CCO_IO_SET_VIEW, FILE_OF(fh), start, 0));                             \
    }

/* Names have blanks around them that are no part of them; those in front stay, as the MPI may take
 * them off or not. */
static size_t trimmed(const char *name, size_t length)
{
    while (length > 0 && name[length - 1] == ' ')
        length--;
    return length;
}

OPEN(mpi_file_open_f08_)
CLOSE(mpi_file_close_f08_)
SYNC(mpi_file_sync_f08_)
SET_VIEW(mpi_file_set_view_f08_)

/* MPICH's bindings call MPI_File_x in C, all but those. */
#if defined(OPEN_MPI)

enum { STATUS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

static MPI_Fint *told(MPI_Fint *status, MPI_Fint *mine)
{
    MPI_Status none;
    memset(&none, 0, sizeof none);
    if (cco_f_ignores_status(status))
        status = mine;
    PMPI_Status_c2f(&none, status);
    return status;
}

static uint64_t bytes_in(const MPI_Fint *status)
{
    MPI_Status c_status;
    return PMPI_Status_f2c(status, &c_status) == MPI_SUCCESS ? cco_io_bytes(&c_status) : 0;
}

#define F MPI_Fint *
#define MOVED(part, arguments)                                                                     \
    MPI_Fint mine[STATUS];                                                                         \
    COUNTED(status = told(status, mine), arguments,                                                \
            cco_io_count(part, FILE_OF(fh), start, bytes_in(status)))
#define ASKED(part, arguments)                                                                     \
    COUNTED(, arguments,                                                                           \
            cco_io_count(part, FILE_OF(fh), start, cco_io_asked(*count, PMPI_Type_f2c(*type))))
#define SPLIT(part, arguments) COUNTED(, arguments, cco_io_split_begin(part, FILE_OF(fh), start))

#define DATA(entry, part)                                                                          \
    void entry(F fh, void *buf, F count, F type, F status, F ierror)                               \
    {                                                                                              \
        NEXT(#entry, (F, void *, F, F, F, F));                                                     \
        MOVED(part, (fh, buf, count, type, status, &rc));                                          \
    }
#define DATA_AT(entry, part)                                                                       \
    void entry(F fh, MPI_Offset *offset, void *buf, F count, F type, F status, F ierror)           \
    {                                                                                              \
        NEXT(#entry, (F, MPI_Offset *, void *, F, F, F, F));                                       \
        MOVED(part, (fh, offset, buf, count, type, status, &rc));                                  \
    }
#define START(entry, part)                                                                         \
    void entry(F fh, void *buf, F count, F type, F request, F ierror)                              \
    {                                                                                              \
        NEXT(#entry, (F, void *, F, F, F, F));                                                     \
        ASKED(part, (fh, buf, count, type, request, &rc));                                         \
    }
#define START_AT(entry, part)                                                                      \
    void entry(F fh, MPI_Offset *offset, void *buf, F count, F type, F request, F ierror)          \
    {                                                                                              \
        NEXT(#entry, (F, MPI_Offset *, void *, F, F, F, F));                                       \
        ASKED(part, (fh, offset, buf, count, type, request, &rc));                                 \
    }
#define BEGIN(entry, part)                                                                         \
    void entry(F fh, void *buf, F count, F type, F ierror)                                         \
    {                                                                                              \
        NEXT(#entry, (F, void *, F, F, F));                                                        \
        SPLIT(part, (fh, buf, count, type, &rc));                                                  \
    }
#define BEGIN_AT(entry, part)                                                                      \
    void entry(F fh, MPI_Offset *offset, void *buf, F count, F type, F ierror)                     \
    {                                                                                              \
        NEXT(#entry, (F, MPI_Offset *, void *, F, F, F));                                          \
        SPLIT(part, (fh, offset, buf, count, type, &rc));                                          \
    }
#define END(entry, part)                                                                           \
    void entry(F fh, void *buf, F status, F ierror)                                                \
    {                                                                                              \
        MPI_Fint mine[STATUS];                                                                     \
        NEXT(#entry, (F, void *, F, F));                                                           \
        COUNTED(status = told(status, mine), (fh, buf, status, &rc),                               \
                cco_io_split_end(part, FILE_OF(fh), start, bytes_in(status)));                     \
    }

/* mpif.h and `use mpi` in the spelling of each family of compilers, and mpi_f08. */
#define SPELLED(name, NAME, parameters)                                                            \
    void mpi_file_##name parameters __attribute__((alias("mpi_file_" #name "_")));                 \
    void mpi_file_##name##__ parameters __attribute__((alias("mpi_file_" #name "_")));             \
    void MPI_FILE_##NAME parameters __attribute__((alias("mpi_file_" #name "_")));
#define EACH(SHAPE, name, NAME, part, parameters)                                                  \
    SHAPE(mpi_file_##name##_, part)                                                                \
    SPELLED(name, NAME, parameters)                                                                \
    SHAPE(mpi_file_##name##_f08_, part)

#define CCO_IO_DATA(x, X, buffer, part) EACH(DATA, x, X, part, (F, void *, F, F, F, F))
#define CCO_IO_DATA_AT(x, X, buffer, part)                                                         \
    EACH(DATA_AT, x, X, part, (F, MPI_Offset *, void *, F, F, F, F))
#define CCO_IO_START(x, X, buffer, part) EACH(START, x, X, part, (F, void *, F, F, F, F))
#define CCO_IO_START_AT(x, X, buffer, part)                                                        \
    EACH(START_AT, x, X, part, (F, MPI_Offset *, void *, F, F, F, F))
#define CCO_IO_BEGIN(x, X, buffer, part) EACH(BEGIN, x, X, part, (F, void *, F, F, F))
#define CCO_IO_BEGIN_AT(x, X, buffer, part)                                                        \
    EACH(BEGIN_AT, x, X, part, (F, MPI_Offset *, void *, F, F, F))
#define CCO_IO_END(x, X, buffer, part) EACH(END, x, X, part, (F, void *, F, F))
#include "io/calls.def"

OPEN(mpi_file_open_)
CLOSE(mpi_file_close_)
SYNC(mpi_file_sync_)
SET_VIEW(mpi_file_set_view_)
SPELLED(open, OPEN, (F, char *, F, F, F, F, size_t))
SPELLED(close, CLOSE, (F, F))
SPELLED(sync, SYNC, (F, F))
SPELLED(set_view, SET_VIEW, (F, MPI_Offset *, F, F, char *, F, F, size_t))

#endif

#pragma GCC visibility pop
