# SPDX-License-Identifier: BSD-3-Clause
"""A program of test_api_calls.py: every collective of `import crestacoll` against mpi4py's own.

    python api_calls.py preload|link IMPLEMENTATION,...

Ranks print nothing but what is wrong, and "checks: N" at the end.
"""

import sys

import numpy as np

import crestacoll

if sys.argv[1] == "preload":
    crestacoll.preload()
from mpi4py import MPI  # noqa: E402

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size
TYPES = ("b", "i", "q", "f", "d", "F", "D")
COUNTS = (0, 1, 5, 3000)
checks = wrong = 0


def check(good, *what):
    global checks, wrong
    checks += 1
    if not good:
        wrong += 1
        print(f"rank {RANK}: wrong:", *what, flush=True)


def data(count, dtype, salt=0):
    return ((np.arange(count) * 7 + RANK * 3 + salt) % 50).astype(dtype)


def uneven(count):
    """Counts and displacements with gaps, the same on all ranks."""
    counts = [count + k for k in range(SIZE)]
    displs = [sum(counts[:k]) + 2 * k for k in range(SIZE)]
    return counts, displs, displs[-1] + counts[-1]


def v_sends(count):
    """What rank r sends to k: count + r + k elements."""
    counts = [count + RANK + k for k in range(SIZE)]
    return counts, [sum(counts[:k]) + k for k in range(SIZE)], sum(counts) + SIZE


def moves(count, dtype):
    """(name, arguments) of the collectives that move data; receive buffers are made anew."""
    a, n, root = data(count, dtype), count * SIZE, SIZE - 1
    counts, displs, room = uneven(count)
    own = data(counts[RANK], dtype)
    sends, at, sent = v_sends(count)
    here = RANK == root
    mpi_type = MPI._typedict[np.dtype(dtype).char]
    bytes_at = [d * a.itemsize for d in at]
    yield "Bcast", lambda: (data(count, dtype), root)
    yield "Gather", lambda: (a, np.zeros(n, dtype) if here else None, root)
    yield "Gatherv", lambda: (
        own, [np.zeros(room, dtype), (counts, displs)] if here else None, root
    )
    yield "Scatter", lambda: (data(n, dtype) if here else None, np.zeros(count, dtype), root)
    yield "Scatterv", lambda: (
        [data(room, dtype), counts, displs, mpi_type] if here else None,
        np.zeros(counts[RANK], dtype), root,
    )
    yield "Allgather", lambda: ([a, count], [np.zeros(n, dtype), count, mpi_type])
    yield "Allgatherv", lambda: (own, [np.zeros(room, dtype), (counts, displs)])
    yield "Alltoall", lambda: (data(n, dtype), np.zeros(n, dtype))
    yield "Alltoallv", lambda: (
        [data(sent, dtype), (sends, at)], [np.zeros(sent, dtype), (sends, at)]
    )
    yield "Alltoallw", lambda: (
        [data(sent, dtype), (sends, bytes_at), [mpi_type] * SIZE],
        [np.zeros(sent, dtype), (sends, bytes_at), [mpi_type] * SIZE],
    )


def reductions(count, dtype):
    op = MPI.SUM if np.dtype(dtype).kind == "c" else MPI.MAX
    a, n, root = data(count, dtype), count * SIZE, SIZE - 1
    counts = uneven(count)[0]
    yield "Reduce", lambda: (a, np.zeros(count, dtype) if RANK == root else None, op, root)
    yield "Allreduce", lambda: (a, np.zeros(count, dtype), op)
    yield "Scan", lambda: (a, np.zeros(count, dtype), op)
    yield "Exscan", lambda: (a, np.zeros(count, dtype), op)
    yield "Reduce_scatter", lambda: (
        data(sum(counts), dtype), np.zeros(counts[RANK], dtype), counts, op
    )
    yield "Reduce_scatter_block", lambda: (data(n, dtype), np.zeros(count, dtype), op)


def arrays(arguments):
    return [
        part for given in arguments
        for part in (given if isinstance(given, list) else [given]) if isinstance(part, np.ndarray)
    ]


def compare(comm, mine, name, make, what):
    """By crestacoll's function, its method and its begin, against mpi4py's method."""
    expected, function, method, begun = make(), make(), make(), make()
    getattr(comm, name)(*expected)
    getattr(crestacoll, name)(comm, *function)
    getattr(mine, name)(*method)
    getattr(crestacoll, f"{name}_begin")(comm, *begun).end()
    for how, got in (("function", function), ("method", method), ("begin", begun)):
        same = all(map(np.array_equal, arrays(got), arrays(expected)))
        check(same, *what, name, how)


def in_place(comm, what):
    a = data(9, "d")
    crestacoll.Allreduce(comm, MPI.IN_PLACE, a)
    check(np.array_equal(a, sum(((np.arange(9) * 7 + r * 3) % 50) for r in range(SIZE))), *what)
    b = np.zeros(SIZE, "i")
    b[RANK] = RANK + 1
    with crestacoll.Allgather_begin(comm, MPI.IN_PLACE, b) as request:
        check(request is not None, *what, "with")
    check(np.array_equal(b, np.arange(SIZE) + 1), *what, "allgather in place")
    c = np.array([RANK], "i")
    if RANK == 0:
        crestacoll.Reduce(comm, MPI.IN_PLACE, c, op=MPI.SUM)
        check(c[0] == SIZE * (SIZE - 1) // 2, *what, "reduce in place")
    else:
        crestacoll.Reduce(comm, c, None, op=MPI.SUM)


def derived(comm, what):
    """A column of a matrix, and buffers that are no arrays."""
    matrix = np.zeros((4, 3))
    matrix[:, 1] = np.arange(4) + RANK
    column = MPI.DOUBLE.Create_vector(4, 1, 3).Commit()
    crestacoll.Bcast(comm, [matrix.ravel()[1:], 1, column], root=0)
    check(np.array_equal(matrix[:, 1], np.arange(4.0)), *what, "a column")
    check(not matrix[:, (0, 2)].any(), *what, "beside the column")
    request = crestacoll.Bcast_begin(comm, [matrix.ravel()[1:], 1, column], root=0)
    column.Free()  # may be freed at once
    request.end()
    text = bytearray(b"rank %d" % RANK)
    crestacoll.Bcast(comm, text)
    check(text == b"rank 0", *what, "bytearray")
    crestacoll.Bcast(comm, [memoryview(text), MPI.CHAR])
    many = [crestacoll.Allreduce_begin(comm, np.full(3, k), np.zeros(3, int)) for k in range(20)]
    for request in reversed(many):
        request.end()
        request.end()  # once more does nothing
        check(request.test(), *what, "test after the end")


def try_all(comm, spec):
    mine = crestacoll.Comm(comm)
    crestacoll.set_impl(comm, f"*={spec}")
    for dtype in TYPES:
        for count in COUNTS if dtype == "d" else COUNTS[:3]:
            for name, make in [*moves(count, dtype), *reductions(count, dtype)]:
                compare(comm, mine, name, make, (spec, count, dtype))
    for _ in range(2):
        crestacoll.Barrier(comm)
        mine.Barrier()
        crestacoll.Barrier_begin(comm).end()
    in_place(comm, (spec,))
    derived(comm, (spec,))


def main():
    for spec in sys.argv[2].split(","):
        comm = WORLD.Dup()
        try_all(comm, spec)
        comm.Free()
    pair = WORLD.Split(RANK % 2)
    crestacoll.set_impl(pair, "*=p2p")
    got = np.zeros(pair.size, int)
    crestacoll.Allgather(pair, np.array([RANK]), got)
    check(got.tolist() == list(range(RANK % 2, SIZE, 2)), "split")
    alone = np.zeros(1)
    crestacoll.Allreduce(MPI.COMM_SELF, np.ones(1), alone)
    check(alone[0] == 1, "self")
    if RANK == 0:
        print("checks:", checks)
    sys.exit(wrong > 0)


main()
