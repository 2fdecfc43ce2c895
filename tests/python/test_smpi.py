# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll simulate --smpi`: what is written for SimGrid's SMPI, and what SMPI makes of it; the
comparison of tools/smpi_compare.py, and docs/lab/simulator.md.
"""

import importlib
import json
import shutil
import sys
import xml.etree.ElementTree as xml

import pytest
from conftest import ROOT
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.builds import builds
from crestacoll_tools.simulate import jobs, smpi, sweep

sys.path.insert(0, str(ROOT / "tools"))
tool = importlib.import_module("smpi_compare")

NODE = {"latency": 3e-7, "send": 1e-7, "receive": 2e-7, "send_byte": 1e-9}
NETWORK = {"latency": 2e-6, "send": 1e-6, "receive": 3e-6, "gap": 1e-6, "byte": 1e-9, "eager": 999}
MACHINE = {
    "schema": "crestacoll-machine-1",
    "name": "of the test",
    "source": "made up",
    "file": "test.json",
    "levels": {"node": NODE, "network": NETWORK},
    "copy": {"each": 5e-9},
    "reduce": {"byte": 2e-9},
    "round": 1e-8,
}
BANDWIDTH = 16 / 1e-9


@pytest.fixture(scope="module", name="built")
def find_build():
    found = builds.all_builds()
    return found[0] if found else pytest.skip("nothing is built")


def write(built, folder, name, size, ranks=4, per_node=2, **more):
    """The time here, and the files."""
    collective, _, implementation = name.partition(" ")
    setting = sweep.Setting(**({"machine": MACHINE, "per_node": per_node} | more))
    call = jobs.Call(collective, size, implementation, ranks)
    time = smpi.write(built, setting, call, folder)
    return time, {path.name: path.read_text() for path in folder.iterdir()}


def test_the_trace_of_a_rank_line_by_line(built, tmp_path):
    """Rank 0 exchanges 8 bytes within the node, then between nodes; it copies or reduces in rounds
    of their own.
    """
    bytes_there = round((1e-6 + 8e-9) * BANDWIDTH) - 16
    files = write(built, tmp_path, "allreduce p2p:recursive_doubling", 8)[1]
    expected = f"""\
0 init
0 sleep {1e-7 + 8e-9:.15g}
0 isend 1 0 0
0 irecv 1 0 0
0 sleep 1e-08
0 wait 1 0 0
0 sleep 2e-07
0 wait 0 1 0
0 sleep {(16e-9 + 1e-8) + 1e-6:.15g}
0 isend 2 0 {bytes_there}
0 irecv 2 0 {bytes_there}
0 sleep 1e-08
0 wait 2 0 0
0 sleep 3e-06
0 wait 0 2 0
0 sleep {(16e-9 + 1e-8) + (5e-9 + 1e-8):.15g}
0 finalize
"""
    assert files["rank0.txt"] == expected
    others = {f"rank{r}.txt" for r in range(4)} | {"platform.xml", "README.txt", "replay.sh"}
    assert set(files) == others | {"hosts.txt", "traces.txt"}
    assert files["hosts.txt"].split() == ["node0", "node0", "node1", "node1"]
    assert files["traces.txt"].split() == [f"rank{r}.txt" for r in range(4)]


def test_ranks_that_begin_late_and_calls_that_follow(built, tmp_path):
    """The first rank begins at 0, the other one up to a second later."""
    skew = jobs.Skew("uniform", 1.0)
    files = write(built, tmp_path, "bcast p2p:linear", 8, ranks=2, skew=skew, calls=2)[1]
    traces = [files[f"rank{r}.txt"].splitlines() for r in range(2)]
    assert sum("isend" in line for line in traces[0]) == 2
    sleeps = [float(line.split()[2]) for lines in traces for line in lines if "sleep" in line]
    assert sum(1e-5 < s < 1 for s in sleeps) == 1


def cluster(files):
    return xml.fromstring(files["platform.xml"].split("\n", 2)[2]).find("cluster").attrib


def test_the_platform(built, tmp_path):
    """The gap is in the size of a message, so that the links are faster by it."""
    queues = cluster(write(built, tmp_path / "a", "bcast p2p:linear", 8)[1])
    assert queues["radical"] == "0-1" and queues["sharing_policy"] == "SPLITDUPLEX"
    assert float(queues["bw"].removesuffix("Bps")) == pytest.approx(BANDWIDTH)
    assert float(queues["lat"].removesuffix("s")) == pytest.approx((2e-6 - 1e-6) / 2)
    assert float(queues["loopback_lat"].removesuffix("s")) == pytest.approx(3e-7)
    free = cluster(write(built, tmp_path / "b", "bcast p2p:linear", 8, queues=False)[1])
    assert float(free["bb_bw"].removesuffix("Bps")) == pytest.approx(BANDWIDTH)
    assert float(free["bb_lat"].removesuffix("s")) == pytest.approx(2e-6)
    assert free["bb_sharing_policy"] == "FATPIPE"


def test_what_waits_for_its_receiver(built, tmp_path):
    """SMPI's limit lies between the messages, and those above it take three latencies and a gap."""
    small = write(built, tmp_path / "a", "bcast p2p:linear", 999)[1]["replay.sh"]
    limit = round((1e-6 + 999e-9) * BANDWIDTH) - 16 + 1
    assert f"async-small-thresh:{limit} " in small and "lat-factor" not in small
    files = write(built, tmp_path / "b", "bcast p2p:linear", 1000)[1]
    limit = round((1e-6 + 1000e-9) * BANDWIDTH) - 16
    assert f"send-is-detached-thresh:{limit} " in files["replay.sh"]
    assert f"lat-factor:0:1;{limit + 15}:5.0" in files["replay.sh"]  # 5 * 1e-6 + gap = 3 * 2e-6
    assert "goes on when it has arrived" in files["README.txt"]


def with_level(name, **costs):
    levels = MACHINE["levels"]
    return MACHINE | {"levels": levels | {name: levels.get(name, {}) | costs}}


def test_the_file_says_what_it_is(built, tmp_path):
    text = write(built, tmp_path, "bcast p2p:linear", 8)[1]["README.txt"]
    assert "simulated, machine of the test (test.json), error unknown" in text


@pytest.mark.parametrize(
    "machine, size, said",
    [
        (with_level("cache", ranks=2), 8, "levels node and network only"),
        (with_level("group", nodes=2), 8, "levels node and network only"),
        (with_level("network", gap=3e-6), 8, "gap of the network"),
        (with_level("node", eager=0), 8, "one limit of what waits"),
        (MACHINE, 1 << 28, "too large for SMPI"),
    ],
)
def test_what_smpi_cannot_do(built, tmp_path, machine, size, said):
    with pytest.raises((Problem, jobs.Refused), match=said):
        write(built, tmp_path, "bcast p2p:binomial", size, machine=machine)
    assert list(tmp_path.iterdir()) == []


def test_the_command(built, in_process, tmp_path):
    (tmp_path / "m.json").write_text(json.dumps({k: MACHINE[k] for k in MACHINE if k != "file"}))
    words = "simulate allreduce --machine m.json --per-node 2 --smpi d".split()
    done = in_process(*words, "-n", 4, "--impl", "p2p:ring")
    assert done.returncode == 0 and "wrote d; its replay.sh" in done.stdout
    again = in_process(*words, "-n", 4, "--impl", "p2p:ring")
    assert again.returncode == 2 and "d is not empty" in again.stderr
    many = in_process(*words, "-n", "4,8", "--impl", "p2p:ring")
    assert many.returncode == 2 and "one number of ranks, one size" in many.stderr


needs_smpi = pytest.mark.skipif(
    shutil.which("smpirun") is None, reason="no smpirun (Debian package libsimgrid-dev)"
)
REPLAYED = ["allreduce p2p:recursive_doubling", "allgather p2p:ring", "alltoall p2p:pairwise"]
REPLAYED += ["bcast p2p:binomial", "allreduce hier:lanes", "alltoall p2p:linear"]


@needs_smpi
@pytest.mark.parametrize("name", REPLAYED)
def test_smpi_without_queues_takes_the_same_time(built, tmp_path, name):
    """But the sender of a message that waits goes on a latency later, in 7 rounds at most."""
    for size, waits in ((8, False), (2000, True)):
        folder = tmp_path / str(size)
        time, _ = write(built, folder, name, size, ranks=8, queues=False)
        found = tool.replay(folder, 600)
        assert found == pytest.approx(time, rel=1e-3) or waits, size
        assert -1e-11 <= found - time <= 7 * NETWORK["latency"] + 1e-8, size


@needs_smpi
def test_smpi_with_queues(built, tmp_path):
    """Two nodes exchange what two ranks send at one time: one after the other is the same in both.
    Sharing, the first message arrives with the last.
    """
    time, _ = write(built, tmp_path, "allreduce p2p:recursive_doubling", 500)
    assert tool.replay(tmp_path, 600, tool.ONE_BY_ONE) == pytest.approx(time, rel=1e-3)
    assert tool.replay(tmp_path, 600) >= 0.999 * time


def test_points_that_have_not_changed_are_not_replayed(built, monkeypatch):
    setting = sweep.Setting(machine=MACHINE, per_node=2)
    call = jobs.Call("bcast", 8, "p2p:linear", 4)
    monkeypatch.setattr(tool, "replay", lambda *_: 7.0)
    fresh = tool.compare(built, setting, call, 60, None)
    assert [fresh[name] for name in tool.TIMES if name.startswith("smpi")] == ["7"] * 3
    known = fresh | {"smpi_fifo_s": "5"}
    assert tool.compare(built, setting, call, 60, known) == known
    assert tool.compare(built, setting, call, 60, known | {"free_s": "1"}) == fresh
    refused = jobs.Call("allreduce", 8, "hier:nonsense", 4)
    assert tool.compare(built, setting, refused, 60, None) is None


def made_up(implementation, ours, theirs):
    case = {"collective": "bcast", "ranks": 4, "per_node": 1, "bytes": 8}
    times = {"queues_s": ours, "smpi_fifo_s": theirs, "smpi_shared_s": None, "free_s": 1.0}
    return case | {"implementation": implementation, "smpi_free_s": 1.0} | times


def test_the_order_of_implementations():
    """a and c are apart here, a and b in SMPI; b and c are near each other in both."""
    rows = [made_up("a", 1.0, 2.0), made_up("b", 1.2, 1.0), made_up("c", 1.4, 1.1)]
    count, swapped = tool.swaps(rows, "fifo")
    assert count == 2
    names = [(x["implementation"], y["implementation"]) for x, y in swapped]
    assert names == [("a", "b"), ("a", "c")]
    assert tool.losses(rows, "fifo") == [pytest.approx(1.0)]
    assert tool.swaps(rows, "free") == (0, []) and tool.pairs(rows, "shared") == []


def test_the_page_has_what_the_tool_says():
    page = (ROOT / "docs" / "lab" / "simulator.md").read_text(encoding="utf-8")
    rows = tool.read(ROOT / "docs" / "lab" / "simulator.csv")
    lines = page.splitlines()
    for line in [*tool.summary(rows), tool.either(rows), *tool.beyond(rows)]:
        assert line in lines
