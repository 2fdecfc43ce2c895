# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll.profile(): what it counts, beside a profile of the whole run and after errors."""

import json

import pytest
from api_runs import ROOT, good, launch
from crestacoll_tools.profile import profiles

CALLS = """
import sys
import crestacoll
from crestacoll import _native
if sys.argv[1] == "preload":
    crestacoll.preload()
from mpi4py import MPI
import json
import numpy as np

comm = MPI.COMM_WORLD
one, sum = np.ones(4), np.zeros(4)
call = comm.Allreduce if _native.is_preloaded() else (
    lambda *a: crestacoll.Allreduce(comm, *a))
half = comm.Split(comm.rank % 2)
half.Set_name("half")

def calls(found, name):
    return [(r["calls"], r["ranks"], r["calls_total"], r["bytes_total"])
            for r in found["records"] if r["collective"] == name]

def repeat(n):
    for i in range(n):
        call(one, sum)
        crestacoll.Bcast(half, sum)

repeat(5)
assert (sum == comm.size).all()
with crestacoll.profile() as found:
    assert found == {}
    repeat(3)
    crestacoll.Allgather_begin(comm, one, np.zeros(4 * comm.size)).end()
repeat(2)
assert calls(found, "allreduce") == [(3, 2, 6, 6 * 32)], found
assert calls(found, "bcast") == [(3, 2, 6, 6 * 32)], found
assert calls(found, "allgather") == [(1, 2, 2, calls(found, "allgather")[0][3])], found
assert comm.bcast(found) == found

with crestacoll.profile() as found:
    pass
assert found["records"] == []

try:
    with crestacoll.profile() as found:
        try:
            with crestacoll.profile():
                pass
        except RuntimeError as e:
            assert "another" in str(e)
        raise KeyError
except KeyError:
    assert found == {}
crestacoll.set_impl(comm, "allreduce=p2p")
with crestacoll.profile() as found:
    repeat(200)
assert calls(found, "allreduce")[0][0] == 200
row = [r for r in found["records"] if r["collective"] == "allreduce"][0]
assert row["implementation"].startswith("p2p") and row["wait_us"]["samples"] > 0, row
repeat(1)
if comm.rank == 0:
    json.dump(found, open("block.json", "w"))
print("good")
"""


@pytest.mark.parametrize("way", ["link", "preload", "run"])
def test_profile(build, tmp_path, way):
    (tmp_path / "program.py").write_text(CALLS)
    run = [ROOT / "bin" / "crestacoll", "run", "--profile", "all.json", "--"]
    done = good(launch(build, tmp_path, "program.py", way, before=run if way == "run" else ()))
    assert done.stdout.count("good") == 2
    block = profiles.load(tmp_path / "block.json")
    assert block["timeline"] is None and block["ranks"] == 2
    if way == "run":  # 5 + 3 + 2 + 200 + 1, whatever was counted besides
        whole = json.loads((tmp_path / "all.json").read_text())
        rows = [r for r in whole["records"] if r["collective"] == "allreduce"]
        assert sum(r["calls"] for r in rows if r["bytes_min"] == 32) == 211
