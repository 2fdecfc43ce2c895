# SPDX-License-Identifier: BSD-3-Clause
"""import crestacoll: neighbourhood collectives and reductions, exchanges, lists, recordings."""

import re

import pytest
from api_runs import HERE, good, launch


@pytest.mark.parametrize("ranks", [1, 3])
def test_all(build, tmp_path, ranks):
    if ranks > 2 and build.family != "openmpi":
        ranks = 2  # MPICH's ranks hold the cores while they wait
    for way in ("link", "preload"):
        done = good(launch(build, tmp_path, HERE / "api_neighbors.py", way, ranks=ranks))
        assert int(re.search(r"checks: (\d+)", done.stdout)[1]) > 30


WRONG = """
import sys
import numpy as np
import crestacoll
from mpi4py import MPI
comm = MPI.COMM_WORLD
ring = comm.Create_cart([comm.size], [True])
array = np.zeros(4)
large = np.zeros(2**31, "b")  # nobody touches its memory
for call, arguments in (
    (crestacoll.Exchange, (comm, {comm.size: [1.0]})),
    (crestacoll.Exchange, (3, {})),
    (crestacoll.Multicast, (comm, [1, 2], [0], array, [0])),
    (crestacoll.Multicast, (comm, array, [0], array[::2], [0])),
    (crestacoll.Multicast, (comm, array, [0], array, [0, 0, 0])),
    (crestacoll.Manytomany, (comm, (array, [5]), [0], array, [0])),
    (crestacoll.Manytomany, (comm, array, [0], np.zeros(4, "i"), [0])),
    (crestacoll.Neighbor_reduce, (comm, array, array.copy())),
    (crestacoll.Neighbor_reduce, (ring, array, np.zeros(3))),
    (crestacoll.Neighbor_reduce, (ring, np.zeros(2, "S3"), np.zeros(2, "S3"))),
    (crestacoll.Neighbor_alltoall, (comm, array, array)),
    (crestacoll.Multicast, (comm, large, [0], large, [0])),
    (crestacoll.Neighbor_reduce, (ring, large, large)),
):
    try:
        call(*arguments)
        print("nothing was raised by", call)
    except (TypeError, ValueError) as error:
        print("raised:", error)
"""


def test_wrong_arguments_are_said(build, tmp_path):
    (tmp_path / "program.py").write_text(WRONG)
    done = good(launch(build, tmp_path, "program.py", ranks=1))
    said = done.stdout.splitlines()
    assert len(said) == 13 and all(line.startswith("raised: ") for line in said), done.stdout
    assert "is not a rank: the communicator has" in said[0] and "not contiguous" in said[3]
    assert "with a topology" in said[7] and "expected 4 elements" not in said[7]
    assert all("counts at most 2147483647" in line for line in said[11:])


FAILS = """
import sys
import crestacoll
if sys.argv[1] == "preload":
    crestacoll.preload()
from mpi4py import MPI
class FailsOnce:
    def __init__(self, request):
        self.request, self.calls = request, 0
    def end(self):
        self.request.end()
        self.calls += 1
        if self.calls == 1:
            raise MPI.Exception(MPI.ERR_OTHER)
request = crestacoll.Exchange_begin(MPI.COMM_SELF, {0: [1.0, 2.0]})
request._request = FailsOnce(request._request)
for turn in range(2):
    try:
        print("got", request.end())
    except MPI.Exception as error:
        print("raised:", error.Get_error_class() == MPI.ERR_OTHER)
"""


@pytest.mark.parametrize("way", ["link", "preload"])
def test_what_failed_once_fails_again(build, tmp_path, way):
    (tmp_path / "program.py").write_text(FAILS)
    done = good(launch(build, tmp_path, "program.py", way, ranks=1))
    assert done.stdout.count("raised: True") == 2, done.stdout
