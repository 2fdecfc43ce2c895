# SPDX-License-Identifier: BSD-3-Clause
"""A program of test_api_neighbors.py: what docs/python.md says of neighbours, lists, recordings.

    python api_neighbors.py preload|link

Ranks print nothing but what is wrong, and "checks: N" at the end.
"""

import gc
import sys

import numpy as np

import crestacoll

if sys.argv[1] == "preload":
    crestacoll.preload()
from mpi4py import MPI  # noqa: E402

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size
NEXT, BEFORE = (RANK + 1) % SIZE, (RANK - 1) % SIZE
checks = wrong = 0


def check(good, *what):
    global checks, wrong
    checks += 1
    if not good:
        wrong += 1
        print(f"rank {RANK}: wrong:", *what, flush=True)


def graph():
    """Each rank sends to the two after it, and to itself: equal and unequal neighbours."""
    return WORLD.Create_dist_graph_adjacent(
        [BEFORE, (RANK - 2) % SIZE, RANK], [NEXT, (RANK + 2) % SIZE, RANK]
    )


def try_moves(comm, spec):
    crestacoll.set_impl(comm, f"neighbor_*={spec}")
    n = 3
    sources = [BEFORE, (RANK - 2) % SIZE, RANK]
    mine = np.arange(4.0) + 100 * RANK
    got = np.zeros((n, 4))
    crestacoll.Neighbor_allgather(comm, mine, got)
    check(all((got[i] == np.arange(4.0) + 100 * r).all() for i, r in enumerate(sources)), spec)
    got[:] = 0
    request = crestacoll.Neighbor_allgather_begin(comm, mine, got)
    told = []
    while new := request.some():
        told += new
    request.end()
    check(sorted(told) == list(range(n)), spec, "some", told)
    check(got[2, 3] == 100 * RANK + 3, spec, "begun")
    counts = [1, 2, 3]
    places = [0, 1, 3]
    sent = np.arange(6) + 1000 * RANK
    received = np.full(6, -1)
    crestacoll.Neighbor_alltoallv(comm, [sent, (counts, places)], [received, (counts, places)])
    for i, r in enumerate(sources):
        part = received[places[i] : places[i] + counts[i]]
        check((part == np.arange(places[i], places[i] + counts[i]) + 1000 * r).all(), spec, i)
    a, b = np.arange(3) + 10 * RANK, np.zeros(3, int)
    with crestacoll.Neighbor_alltoall_begin(comm, a, b):
        pass
    check(b.tolist() == [10 * r + i for i, r in enumerate(sources)], spec, "alltoall", b)
    wide = MPI.INT64_T
    crestacoll.Neighbor_alltoallw(
        comm, [a, [1, 1, 1], [0, 8, 16], [wide] * 3], [b, [1, 1, 1], [16, 8, 0], [wide] * 3]
    )
    check(b.tolist()[::-1] == [10 * r + i for i, r in enumerate(sources)], spec, "alltoallw", b)


def try_reductions(comm, spec):
    crestacoll.set_impl(comm, f"neighbor_*={spec}")
    sources = [BEFORE, (RANK - 2) % SIZE, RANK]
    mine, total = np.full(3, 1.0 + RANK), np.zeros(3)
    crestacoll.Neighbor_reduce(comm, mine, total)
    check((total == sum(1 + r for r in sources)).all(), spec, "reduce", total)
    crestacoll.Neighbor_reduce_begin(comm, mine, total, op=MPI.MAX).end()
    check((total == max(1 + r for r in sources)).all(), spec, "max", total)
    total[:] = mine
    crestacoll.Neighbor_reduce(comm, MPI.IN_PLACE, total)
    check((total == sum(1 + r for r in sources)).all(), spec, "in place", total)
    blocks, one = np.arange(3) + 10 * RANK, np.zeros(1, int)
    crestacoll.Neighbor_alltoall_reduce(comm, blocks, one)
    check(one[0] == sum(10 * r + i for i, r in enumerate(sources)), spec, "alltoall", one)
    one[0] = 0
    crestacoll.Neighbor_alltoall_reduce_begin(comm, blocks, one).end()
    check(one[0] == sum(10 * r + i for i, r in enumerate(sources)), spec, "alltoall begun", one)
    step = crestacoll.Neighbor_reduce_init(comm, mine, total)
    for turn in range(3):
        mine[:] = turn + RANK
        with step.replay():
            pass
        check((total == sum(turn + r for r in sources)).all(), spec, "persistent", turn)
    step.free()
    step = crestacoll.Neighbor_alltoall_reduce_init(comm, blocks, one, MPI.MIN)
    step.start()
    step.end()
    check(one[0] == min(10 * r + i for i, r in enumerate(sources)), spec, "persistent min")
    step.free()


def try_exchanges():
    pair = np.dtype([("cell", "i4"), ("when", "f8")])
    for dtype in ("f8", "i2", "F", pair, "f2"):
        mine = np.zeros(2, dtype)
        if dtype is pair:
            mine["cell"] = RANK
        else:
            mine[:] = RANK
        got = crestacoll.Exchange(WORLD, [(NEXT, mine), (0, mine[:1]), (0, mine[:0])], dtype)
        ones = [data for source, data in got if data.size == 2]
        check(len(ones) == 1 and ones[0].dtype == np.dtype(dtype), dtype, "types")
        value = ones[0]["cell"][1] if dtype is pair else ones[0][1]
        check(value == BEFORE, dtype, "value", value)
        count = 1 + 2 * SIZE if RANK == 0 else 1
        check(len(got) == count, dtype, "messages", len(got))
        check([s for s, _ in got] == sorted(s for s, _ in got), dtype, "order")
    several = [crestacoll.Exchange_begin(WORLD, {NEXT: [turn, RANK]}, int) for turn in range(4)]
    for turn in (2, 0, 3):
        with several[turn]:
            pass
        ((source, data),) = several[turn].messages
        check(source == BEFORE and data.tolist() == [turn, BEFORE], "several", turn)
    while not several[1].test():
        crestacoll.progress()
    check(several[1].end()[0][1][0] == 1, "tested")


def try_dropped():
    """One that is dropped is nobody's: what came in it is not taken for another's."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        request = crestacoll.Exchange_begin(WORLD, {NEXT: [-1.0]})
        del request
        gc.collect()
    request = crestacoll.Exchange_begin(WORLD, {NEXT: [5.0]})
    WORLD.Barrier()
    crestacoll.progress()
    ((source, data),) = request.end()
    check(source == BEFORE and data[0] == 5.0, "after one that was dropped", data)


def try_lists():
    everybody = list(range(SIZE))
    sent, got = np.zeros(2), np.zeros((SIZE, 2))
    cast = crestacoll.Multicast(WORLD, sent, [*everybody, MPI.PROC_NULL], got, everybody)
    for turn in range(3):
        sent[:] = turn, RANK
        got[:] = -1
        cast.start()
        told = []
        while new := cast.some():
            check(all((got[i] == (turn, i)).all() for i in new), "at once", turn)
            told += new
        check(sorted(told) == everybody and cast.testsome() is None, "told", told)
        cast.wait()
    cast.free()
    cast.free()
    counts = [i + 1 for i in everybody]
    sent = np.full(sum(counts), RANK)
    got = np.full(SIZE * (RANK + 2), -1)
    places = [i * (RANK + 2) for i in everybody]
    into = (got, [RANK + 1] * SIZE, places)
    many = crestacoll.Manytomany(WORLD, (sent, counts), everybody, into, everybody)
    with many:
        check(many.test() in (False, True), "test")
    for i in everybody:
        part = got[places[i] : places[i] + RANK + 2].tolist()
        check(part == [i] * (RANK + 1) + [-1], "many", part)
    many.free()


def try_recordings():
    comm = WORLD.Dup()
    crestacoll.set_impl(comm, "*=p2p")
    fields = [np.zeros(1) for _ in range(4)]
    sums = [np.zeros(SIZE) for _ in range(4)]
    with crestacoll.record(comm) as step:
        for field, every in zip(fields, sums, strict=True):
            crestacoll.Allgather(comm, field, every)
        crestacoll.Allreduce(comm, np.ones(3), np.zeros(3))  # whose arrays the recording keeps
    for turn in range(3):
        for i, field in enumerate(fields):
            field[0] = 10 * turn + i + RANK
        with step.replay():
            pass
        for i, every in enumerate(sums):
            check((every == 10 * turn + i + np.arange(SIZE)).all(), "replay", turn, i)
    info = step.info()
    check(info.calls == 5 and info.merged == 5, info)
    check(SIZE == 1 or info.replayed < info.recorded, info)
    step.free()
    step.free()
    comm.Free()


def main():
    comm = graph()
    for spec in ("p2p", "shm", "nonblock"):
        try_moves(comm, spec)
        try_reductions(comm, spec)
    comm.Free()
    try_exchanges()
    try_dropped()
    try_lists()
    try_recordings()
    if RANK == 0:
        print("checks:", checks)
    sys.exit(wrong > 0)


main()
