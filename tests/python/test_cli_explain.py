# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll explain`: what is counted, what is shown, and what is said about mistakes."""

import json

import pytest
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.builds import builds
from crestacoll_tools.cli import explain
from crestacoll_tools.explain import schedules

pytestmark = pytest.mark.by_turns


@pytest.fixture
def crestacoll(in_process):
    """It only reads what is built."""
    return in_process


def asked(crestacoll, build, *words):
    ran = crestacoll("explain", *words, "--mpi", build.name, "--json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_one_schedule(crestacoll, build):
    words = "alltoall --bytes 4K -n 7 --impl p2p:bruck --schedule 3".split()
    data = asked(crestacoll, build, *words)
    (bruck,) = data["algorithms"]
    assert (data["bytes"], data["processes"], data["root"]) == (4096, 7, None)
    assert (bruck["rounds"], bruck["chain"], bruck["messages"]) == (3, 3, 21)
    assert bruck["bytes"] == 21 * 3 * 4096
    sends = [s for s in bruck["rank"]["steps"] if s["kind"] == "send"]
    assert [s["peer"] for s in sends] == [4, 5, 0]
    assert sum(s["bytes"] for s in sends) == bruck["rank"]["bytes_sent"]
    shown = crestacoll("explain", *words).stdout
    assert "tmp[28672..40960] -> 4" in shown and "p2p:bruck?k=2" in shown
    assert len([li for li in shown.splitlines() if " copy " in li or " send " in li]) == 30


def test_parameters_and_ranks_that_differ(crestacoll, build):
    words = "bcast --root 2 --bytes 100K -n 8 --impl p2p:chain?segment=1024".split()
    (chain,) = asked(crestacoll, build, *words)["algorithms"]
    assert chain["params"][0]["value"] == 1024 and chain["params"][0]["default"] == 65536
    assert chain["messages"] == 700 and chain["chain"] == 106
    assert chain["ranks"]["messages_sent"] == {"min": 0, "max": 100}
    assert "0..100K" in crestacoll("explain", *words).stdout


def test_what_crosses_the_caches_of_a_node(crestacoll, build):
    """Two memories, four caches at each, 16 cores at each: rank i is on core i."""
    words = "allreduce --bytes 8 -n 128 --node-shape 2x4x16".split()
    data = asked(crestacoll, build, *words)
    found = {a["name"]: a for a in data["algorithms"]}
    assert found["recursive_doubling"]["to_another_cache"] == 3 * 128  # ranks 16, 32, 64 away
    assert found["recursive_doubling"]["to_another_memory"] == 128
    assert data["node"]["groups"] == 8
    assert list(data["node"]["shm"].values()) == [296, 56, 32]
    shown = crestacoll("explain", *words, COLUMNS="250").stdout
    assert "another memory" in shown and "shm, for small data on 2x4x16: 296 cache lines" in shown
    few = asked(crestacoll, build, *"allreduce -n 4 --node-shape 1x2x2".split())["node"]
    assert few["groups"] == 1 and list(few["shm"].values()) == [12, 8, 0]
    wrong = crestacoll("explain", "allreduce", "--node-shape", "2x4")
    assert wrong.returncode == 2 and "such as 2x4x16" in wrong.stderr
    small = crestacoll(*"explain allreduce -n 9 --node-shape 2x2x2".split())
    assert small.returncode == 2 and "a node of 8 cores has no room for 9 ranks" in small.stderr


def test_what_goes_between_nodes(crestacoll, build):
    words = "allgather --bytes 8K -n 8 --nodes 2x4".split()
    data = asked(crestacoll, build, *words)
    found = {a["name"]: a for a in data["algorithms"]}
    least = 8 * 8192  # each block once into the other node
    assert {found[n]["bytes_between_nodes"] for n in ("leaders", "lanes")} == {least}
    assert found["leaders"]["messages_between_nodes"] == 2
    assert found["lanes"]["messages_between_nodes"] == 8
    assert found["ring"]["bytes_between_nodes"] == 2 * 7 * 8192
    assert data["nodes"] == "2x4" and data["preset"] == "leaders"
    shown = crestacoll("explain", *words, COLUMNS="250").stdout
    assert "hier:leaders" in shown and "8 ranks on nodes 2x4" in shown
    one = crestacoll("explain", *words, "--impl", "hier:leaders", "--schedule", "0").stdout
    assert "bytes between nodes" in one and "64K" in one
    spread = asked(crestacoll, build, *"alltoall --bytes 8 -n 4 --nodes 0,1,0,1".split())
    assert {a["name"]: a for a in spread["algorithms"]}["leaders"]["messages_between_nodes"] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nodes", "2y4"], "such as 2x4, or 3+5"),
        (["--nodes", "2x3"], "2x3 places 6 ranks, and there are 8"),
        (["--impl", "hier"], "say where the ranks are: --nodes 2x4"),
        (["--impl", "p2p:leaders"], "leaders wants to know where the ranks are"),
        (["--nodes", "2x4", "--impl", "p2p"], "only the algorithms of hier have one"),
    ],
)
def test_nodes_that_cannot_be(crestacoll, words, said):
    ran = crestacoll("explain", "allreduce", *words)
    assert ran.returncode == 2 and said in " ".join(ran.stderr.split())


def test_neighbours_cannot_be_said(crestacoll):
    ran = crestacoll("explain", "neighbor_alltoall", "-n", "4")
    said = " ".join((ran.stdout + ran.stderr).split())
    assert ran.returncode != 0 and "depends on the neighbours" in said


def test_messages_of_neighbours(crestacoll, build):
    """26 blocks of a stencil in 6 messages; of a torus with dimensions of 2 one for each rank."""
    words = "neighbor_alltoall --bytes 64 -n 27 --topology stencil:3".split()
    found = {a["name"]: a for a in asked(crestacoll, build, *words)["algorithms"]}
    sent = {name: a["busiest"]["messages"] for name, a in found.items()}
    assert sent == {"combined": 26, "linear": 26, "dimensions": 6}
    assert found["dimensions"]["bytes"] == 27 * 54 * 64
    assert found["linear"]["bytes"] == 27 * 26 * 64
    words = "neighbor_alltoall --bytes 64 -n 4 --topology torus:2".split()
    found = {a["name"]: a for a in asked(crestacoll, build, *words)["algorithms"]}
    assert (found["combined"]["messages"], found["linear"]["messages"]) == (8, 16)
    assert not found["dimensions"]["usable"]
    words = "neighbor_allgather -n 7 --topology random:3 --impl p2p:linear --schedule 2".split()
    (linear,) = asked(crestacoll, build, *words)["algorithms"]
    assert linear["messages"] == 21 and linear["ranks"]["messages_sent"] == {"min": 3, "max": 3}


@pytest.mark.parametrize("words, said", [
    ("neighbor_alltoall --topology torus:5", "torus:1 to torus:4"),
    ("alltoall --topology torus:2", "does not depend on a topology"),
])
def test_topologies_that_cannot_be(crestacoll, words, said):
    ran = crestacoll("explain", *words.split(), "-n", "4")
    assert ran.returncode == 2 and said in " ".join((ran.stdout + ran.stderr).split())


@pytest.mark.parametrize("ranks", [1, 2, 5, 8, 33])
def test_every_algorithm_of_every_collective(build, ranks):
    """All run without a mistake, and what is counted goes together."""
    algorithms = 0
    for collective in build.measured:
        try:
            data = explain.ask(build, [collective, ranks], {"bytes": 1000})
        except Problem as e:
            assert "has no algorithm" in e.message
            continue
        for a in data["algorithms"]:
            algorithms += 1
            assert a["error"] == "" and a["usable"] == (a["reason"] == "")
            if a["usable"]:
                assert a["ranks"]["rounds"]["max"] == a["rounds"] <= a["chain"]
                assert (a["messages"] == 0) == (ranks == 1)
    assert algorithms > 40


def test_a_table_compares(crestacoll, build):
    shown = crestacoll("explain", "allgather", "-n", "5", "--mpi", build.name).stdout
    (line,) = [li for li in shown.splitlines() if "neighbor_exchange" in li]
    assert "needs an even number of processes" in line
    (ring,) = [li.split() for li in shown.splitlines() if "p2p:ring" in li]
    assert ring[1:8] == ["4", "4", "4", "4K", "20", "20K", "0"]
    alone = crestacoll(*"explain allgather -n 5 --impl p2p:neighbor_exchange".split())
    assert alone.returncode == 0
    assert "neighbor_exchange needs an even number of processes" in alone.stdout


def test_bytes_are_rounded_to_elements(crestacoll, build):
    data = asked(crestacoll, build, *"reduce --bytes 100 -n 6".split())
    assert (data["bytes"], data["bytes_asked"], data["element"]) == (104, 100, 8)
    shown = crestacoll(*"explain reduce --bytes 100 -n 6".split()).stdout
    assert "104 bytes in elements of 8 bytes (rounded up from 100)" in shown


def test_large_sizes_cost_nothing(crestacoll, build):
    data = asked(crestacoll, build, *"alltoallv --bytes 1G -n 100 --impl p2p:pairwise".split())
    pairwise = next(a for a in data["algorithms"] if a["name"] == "pairwise")
    assert pairwise["bytes"] == 100 * 99 << 30


@pytest.fixture
def any_build():
    """Where the build does not matter and the test would take its time twice."""
    return builds.all_builds()[0] if builds.all_builds() else pytest.skip("nothing is built")


def test_what_is_too_large_is_told(crestacoll, any_build):
    """... and the others are compared all the same."""
    ran = crestacoll(*"explain alltoall --bytes 64G -n 8 --json".split())
    found = {a["name"]: a for a in json.loads(ran.stdout)["algorithms"]}
    assert ran.returncode == 125 and "chunked: " in ran.stderr
    assert found["chunked"]["too_large"] and found["chunked"]["error"]
    assert found["pairwise"]["bytes"] == 8 * 7 << 36 and not found["pairwise"]["error"]


@pytest.mark.parametrize(
    "words, said",
    [
        ("nonsense", "no collective 'nonsense'; there are: barrier, "),
        ("alltoall --impl p2p:nonsense", "no algorithm 'nonsense'; there are: bruck, "),
        ("alltoall --impl p2p:bruck?x=1", "no parameter 'x'; there are: k (2 to 64, else 2)"),
        ("alltoall --impl p2p:bruck?k=1", "k: 1 is not possible, only 2 to 64"),
        ("alltoall --impl p2p:bruck?k=", "k: '' is no number"),
        ("alltoall --impl p2p:bruck?k", "write NAME=VALUE"),
        ("alltoall --impl p2p:", "names no algorithm"),
        ("alltoall --impl p2p?k=3", "names no algorithm"),
        ("alltoall --impl nonblock", "nonblock has no schedule"),
        ("alltoall --impl mpi", "mpi has no schedule"),
        ("alltoall --impl foo", "no implementation 'foo'"),
        ("alltoall --schedule 0", "--schedule needs one algorithm"),
        ("alltoall -n 4 --impl p2p:bruck --schedule 4", "4 is not possible, only 0 to 3"),
        ("bcast -n 4 --root 4", "root: 4 is not possible, only 0 to 3"),
        ("bcast -n 4 --root -1", "root: -1 is not possible, only 0 to 3"),
        ("alltoall --root 0", "alltoall has no root"),
        ("alltoall -n 0", "number of processes: 0 is not possible, only 1 to 512"),
        ("alltoall -n 513", "number of processes: 513 is not possible, only 1 to 512"),
        ("alltoall --bytes 4T", "'4T' is not a size"),
        ("alltoall --bytes 9999G", "bytes: "),
        ("alltoall --mpi nonsense", "no build for 'nonsense'"),
    ],
)
def test_mistakes_are_explained(crestacoll, any_build, words, said):
    ran = crestacoll("explain", *words.split())
    assert ran.returncode == 2 and said in ran.stderr


def test_steps_are_shown_as_the_printer_of_schedules_does():
    a, b = ({"base": base, "begin": 0, "end": 8} for base in ("in", "tmp"))
    assert schedules.what({"kind": "send", "peer": 3, "from": a}) == "in[0..8] -> 3"
    assert schedules.what({"kind": "recv", "peer": 3, "to": b}) == "tmp[0..8] <- 3"
    assert schedules.what({"kind": "copy", "from": a, "to": b}) == "in[0..8] to tmp[0..8]"
    assert schedules.what({"kind": "reduce", "from": a, "to": b}) == "in[0..8] into tmp[0..8]"
