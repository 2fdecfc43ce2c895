# SPDX-License-Identifier: BSD-3-Clause
"""import crestacoll: collectives against mpi4py's own, requests, errors, ends."""

import re

import pytest
from api_runs import HERE, ROOT, good, launch

HEAD = """
import sys, warnings
import numpy as np
import crestacoll
from mpi4py import MPI
comm = MPI.COMM_WORLD
"""


def program(build, folder, text, **more):
    path = folder / "program.py"
    path.write_text(HEAD + text)
    return launch(build, folder, path, **more)


@pytest.mark.parametrize("way", ["link", "preload"])
def test_all_collectives(build, tmp_path, way):
    ranks = 3 if build.family == "openmpi" and way == "link" else 2
    models = "mpi,nonblock,p2p,shm,hier"
    # Without the thread MPICH's ranks would share two cores among four that never wait.
    done = good(
        launch(build, tmp_path, HERE / "api_calls.py", way, models, ranks=ranks, CRESTA_ASYNC="off")
    )
    assert int(re.search(r"checks: (\d+)", done.stdout)[1]) > 1000


@pytest.mark.parametrize("way", ["alone", "run"])
def test_example(build, tmp_path, way):
    before = [ROOT / "bin" / "crestacoll", "run", "--"] if way == "run" else []
    done = good(launch(build, tmp_path, ROOT / "examples/python/transpose.py", 50, before=before))
    assert "100 x 100, norm 577307, 0 wrong" in done.stdout


def test_begins_run_what_the_rule_says(build, tmp_path):
    text = """
crestacoll.set_impl(comm, "*=p2p")
with crestacoll.Allreduce_begin(comm, np.ones(4), np.zeros(4)):
    pass
"""
    done = good(program(build, tmp_path, text, CRESTA_LOG="info"))
    assert "allreduce_begin" in done.stderr and "split-phase: p2p runs" in done.stderr


@pytest.mark.parametrize("rule", ["nonblock", "p2p:pairwise"])
def test_blocks_as_they_come(build, tmp_path, rule):
    text = f"""
crestacoll.set_impl(comm, "*={rule}")
n, me = comm.size, comm.rank
send, recv = np.arange(n * 5.0).reshape(n, 5) + 100 * me, np.zeros((n, 5))
request = crestacoll.Alltoall_begin(comm, send, recv)
told = []
while ranks := request.some():
    told += ranks
    for rank in ranks:
        assert (recv[rank] == np.arange(5.0) + 5 * me + 100 * rank).all(), rank
assert sorted(told) == list(range(n)), told
assert request.some() == [] and request.testsome() is None
request.end()
assert request.some() == [] and request.testsome() is None
request = crestacoll.Allreduce_begin(comm, np.ones(4), np.zeros(4))
MPI.COMM_SELF.Set_errhandler(MPI.ERRORS_RETURN)
try:
    request.some()
except MPI.Exception as wrong:
    assert wrong.Get_error_class() == MPI.ERR_REQUEST
else:
    assert False
request.end()
"""
    good(program(build, tmp_path, text))


def test_preload_reaches_mpi4pys_own_calls(build, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import crestacoll\ncrestacoll.preload()\nfrom mpi4py import MPI\nimport numpy as np\n"
        "for i in range(3): MPI.COMM_WORLD.Allreduce(np.ones(2), np.zeros(2))\n"
        "MPI.COMM_WORLD.allgather('an object')\n"
    )
    profile = tmp_path / "p.json"
    good(launch(build, tmp_path, path, CRESTA_PROFILE=str(profile)))
    import crestacoll

    frame = {r["collective"]: r["calls"] for r in crestacoll.load_profile(profile)["records"]}
    assert frame["allreduce"] == 3 and "allgather" in frame


def test_preload_comes_too_late(build, tmp_path):
    text = """
try:
    crestacoll.preload()
except RuntimeError as e:
    assert "too late" in str(e)
    print("refused")
"""
    assert good(program(build, tmp_path, text)).stdout.count("refused") == 2


def test_plain_calls_stay_the_mpis(build, tmp_path):
    """Linked, a call of mpi4py's own is none of crestacoll's: ranks may differ in that."""
    text = """
if comm.rank == 0:
    crestacoll.link()
got = np.zeros(1)
comm.Allreduce(np.ones(1), got)
assert got[0] == 2
half = comm.Split(comm.rank)
crestacoll.set_impl(half, "*=p2p")
comm.Allreduce(np.ones(1), got)
print(f"good {got[0]}")
"""
    assert good(program(build, tmp_path, text)).stdout.count("good") == 2


ERRORS = """
def refused(kind, call, *words):
    try:
        call()
    except kind as e:
        assert all(w in str(e) for w in words), e
        return e
    raise AssertionError(f"no {kind}")

e = refused(MPI.Exception, lambda: crestacoll.set_impl(comm, "allreduce=nonsense"))
assert e.Get_error_class() == MPI.ERR_ARG
square = np.zeros((4, 4))
refused((ValueError, BufferError), lambda: crestacoll.Bcast(comm, square[:, 0]), "contiguous")
refused(ValueError, lambda: crestacoll.Allreduce(comm, np.ones(2), np.ones(3)), "mismatch")
refused(TypeError, lambda: crestacoll.Bcast(comm, 7))
refused(TypeError, lambda: crestacoll.Allreduce(7, square, square))
refused(TypeError, lambda: crestacoll.set_impl(7, "*=p2p"), "communicator")
e = refused(MPI.Exception, lambda: crestacoll.Bcast(comm, np.ones(1), root=99))
assert e.Get_error_class() == MPI.ERR_ROOT
e = refused(MPI.Exception, lambda: crestacoll.Bcast_begin(comm, np.ones(1), root=99))
assert e.Get_error_class() == MPI.ERR_ROOT
refused(MPI.Exception, lambda: crestacoll.Barrier(MPI.COMM_NULL))
refused(ValueError, lambda: crestacoll.free_mem(square), "alloc_mem")
refused(ValueError, lambda: crestacoll.alloc_mem(comm, -1))
array = crestacoll.alloc_mem(comm, (2, 3), "i4")
assert array.shape == (2, 3) and array.dtype == "i4" and not array.any()
crestacoll.free_mem(array)
refused(ValueError, lambda: crestacoll.free_mem(array), "freed")
text = bytearray(100)
request = crestacoll.Bcast_begin(comm, text)
refused(BufferError, lambda: text.append(1))
request.end()
text.append(1)
try:
    with crestacoll.Barrier_begin(comm) as request:
        raise KeyError
except KeyError:
    assert request.test()
print("good")
"""


def test_errors(build, tmp_path):
    done = good(program(build, tmp_path, ERRORS))
    assert done.stdout.count("good") == 2
    assert done.stderr.count("no implementation") == 1, done.stderr


def test_dropped_requests_end(build, tmp_path):
    """Functions of atexit run last in, first out: the one of this program after crestacoll's. The
    arrays that are sent live in their requests only."""
    text = """
import atexit
warnings.simplefilter("always")
got = [np.zeros(1000) for _ in range(4)]
def look():
    assert held.test()
    assert [a[0] for a in got] == [0, 2, 4, 2], got
    print("ended")
atexit.register(look)
for k in range(3):
    crestacoll.Allreduce_begin(comm, np.full(1000, float(k)), got[k])
held = crestacoll.Allreduce_begin(comm, np.ones(1000), got[3])
"""
    done = good(program(build, tmp_path, text))
    assert done.stdout.count("ended") == 2
    assert done.stderr.count("ResourceWarning") == 6, done.stderr
    assert "Allreduce_begin was dropped before its end" in done.stderr


def test_other_threads_run_while_one_waits(build, tmp_path):
    text = """
import threading
crestacoll.set_impl(comm, "*=p2p")
go = threading.Event()
if comm.rank == 0:
    request = crestacoll.Barrier_begin(comm)
    def release():
        go.wait()
        comm.send(None, 1)      # rank 1 begins only now
    thread = threading.Thread(target=release)
    thread.start()
    go.set()
    request.end()
    thread.join()
else:
    comm.recv(source=0)
    crestacoll.Barrier_begin(comm).end()
print("good")
"""
    assert good(program(build, tmp_path, text)).stdout.count("good") == 2
