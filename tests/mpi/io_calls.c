/* SPDX-License-Identifier: BSD-3-Clause */
/* io_calls.c - every call of MPI-IO that moves data, each once on each rank with a number of bytes
 * of its own: tests/python/test_library_io.py says what has to be counted.
 *
 *   io_calls FILE [large]
 *
 * `large` takes the calls with large counts, if this MPI has them. */
#include <stdio.h>
#include <string.h>

#include <crestacoll.h>

enum { BLOCK = 4096, AREAS = 32 }; /* a part of the file for each call and rank */

static MPI_File file;
static int rank, size, area;
static char buf[BLOCK];

static MPI_Offset next_offset(void)
{
    return (MPI_Offset)(area++ % AREAS * size + rank) * BLOCK;
}

static void check(int rc, const char *what)
{
    if (rc != MPI_SUCCESS) {
        fprintf(stderr, "io_calls: %s fails\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

#define CHECK(call) check(call, #call)
#define IGNORE MPI_STATUS_IGNORE

static void finish(MPI_Request *request)
{
    CHECK(MPI_Wait(request, IGNORE));
}

static void rewind_file(void)
{
    CHECK(MPI_File_seek(file, (MPI_Offset)rank * BLOCK, MPI_SEEK_SET));
}

static void rewind_shared(void)
{
    CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* With `c` for large counts: x(n) bytes for the n-th call, the same for reading and writing. */
#define CALLS(rw, c, offset_of)                                                                    \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        MPI_Status status;                                                                         \
        rewind_file();                                                                             \
        CHECK(MPI_File_##rw##c(file, buf, 1, MPI_CHAR, IGNORE));                                   \
        CHECK(MPI_File_##rw##_at##c(file, offset_of, buf, 2, MPI_CHAR, &status));                  \
        CHECK(MPI_File_##rw##_all##c(file, buf, 4, MPI_CHAR, IGNORE));                             \
        CHECK(MPI_File_##rw##_at_all##c(file, offset_of, buf, 8, MPI_CHAR, &status));              \
        CHECK(MPI_File_i##rw##c(file, buf, 16, MPI_CHAR, &request));                               \
        finish(&request);                                                                          \
        CHECK(MPI_File_i##rw##_at##c(file, offset_of, buf, 32, MPI_CHAR, &request));               \
        finish(&request);                                                                          \
        CHECK(MPI_File_i##rw##_all##c(file, buf, 64, MPI_CHAR, &request));                         \
        finish(&request);                                                                          \
        CHECK(MPI_File_i##rw##_at_all##c(file, offset_of, buf, 128, MPI_CHAR, &request));          \
        finish(&request);                                                                          \
        CHECK(MPI_File_##rw##_all_begin##c(file, buf, 256, MPI_CHAR));                             \
        CHECK(MPI_File_##rw##_all_end(file, buf, IGNORE));                                         \
        CHECK(MPI_File_##rw##_at_all_begin##c(file, offset_of, buf, 512, MPI_CHAR));               \
        CHECK(MPI_File_##rw##_at_all_end(file, buf, &status));                                     \
    } while (0)

#define SHARED(rw, c)                                                                              \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        rewind_shared();                                                                           \
        CHECK(MPI_File_##rw##_shared##c(file, buf, 3, MPI_CHAR, IGNORE));                          \
        CHECK(MPI_File_i##rw##_shared##c(file, buf, 5, MPI_CHAR, &request));                       \
        finish(&request);                                                                          \
        MPI_Barrier(MPI_COMM_WORLD);                                                               \
        CHECK(MPI_File_##rw##_ordered##c(file, buf, 7, MPI_CHAR, IGNORE));                         \
        CHECK(MPI_File_##rw##_ordered_begin##c(file, buf, 9, MPI_CHAR));                           \
        CHECK(MPI_File_##rw##_ordered_end(file, buf, IGNORE));                                     \
    } while (0)

/* Two ints of three; a status says how many bytes those are, whatever it is asked. */
static void gaps(void)
{
    MPI_Datatype type;
    int ints[6] = {1, 2, 3, 4, 5, 6};
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_write_at(file, next_offset(), ints, 1, type, IGNORE));
    MPI_Type_free(&type);
}

/* Reads of which only a part is there: rank 0 alone, behind the end of the file. */
static void short_read(void)
{
    MPI_Offset end;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_get_size(file, &end));
    if (rank == 0)
        CHECK(MPI_File_read_at(file, end - 10, buf, 100, MPI_CHAR, IGNORE));
}

/* What fails is not counted, and changes nothing. */
static void failing_write(void)
{
    CHECK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    if (MPI_File_write_at(file, 0, buf, -1, MPI_CHAR, IGNORE) == MPI_SUCCESS)
        printf("a write of -1 chars does not fail\n");
}

static void fill(void)
{
    memset(buf, 'x', sizeof buf);
    for (int i = 0; i < AREAS; i++)
        CHECK(PMPI_File_write_at(file, next_offset(), buf, BLOCK, MPI_CHAR, IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char *argv[])
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file));
    CHECK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    fill();
#if defined(CRESTA_HAVE_LARGE_COUNT)
    if (argc > 2) {
        CALLS(write, _c, next_offset());
        CALLS(read, _c, next_offset());
        SHARED(write, _c);
        SHARED(read, _c);
    } else
#endif
    {
        CALLS(write, , next_offset());
        CALLS(read, , next_offset());
        SHARED(write, );
        SHARED(read, );
    }
    gaps();
    short_read();
    CHECK(MPI_File_sync(file));
    failing_write();
    CHECK(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
