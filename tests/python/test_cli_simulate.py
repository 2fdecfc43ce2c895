# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll simulate`: what it prints, draws and refuses."""

import json

import pytest
from click.testing import CliRunner
from crestacoll_tools import cli, schemas
from crestacoll_tools.builds import builds

MACHINE = {
    "schema": "crestacoll-machine-1",
    "name": "a test",
    "source": "made up",
    "ranks_per_node": 4,
    "levels": {
        "node": {"latency": 1e-7, "send": 1e-7, "receive": 1e-7},
        "network": {"latency": 1e-6, "send": 2e-7, "receive": 2e-7, "byte": 1e-10, "gap": 1e-8},
    },
    "copy": {"byte": 5e-11},
    "reduce": {"byte": 1e-10},
    "round": 2e-8,
}


@pytest.fixture(autouse=True)
def needs_build():
    if not builds.all_builds():
        pytest.skip("nothing is built")


def simulate(folder, *words, machine=None):
    (folder / "m.json").write_text(json.dumps(machine or MACHINE))
    given = [] if "--machine" in words else ["--machine", str(folder / "m.json")]
    return CliRunner().invoke(cli.main, ["simulate", *words, *given])


def test_all_algorithms_are_compared(tmp_path):
    shown = simulate(tmp_path, *"allreduce -n 16,48 --bytes 8,64K".split())
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("simulated, machine a test (")
    assert "error unknown: never compared with measured times" in shown.output
    assert "allreduce of 64K bytes, 48 ranks" in shown.output
    assert "swing" in shown.output and "needs a power of two of processes" in shown.output
    lines = shown.output.split("allreduce of 8 bytes, 16 ranks")[1].splitlines()[2:]
    assert " 1.00 " in lines[0]  # the best comes first


def test_json_names_machine_and_word(tmp_path):
    shown = simulate(tmp_path, *"alltoall -n 64 --impl p2p,hier:lanes --bytes 1K --json".split())
    data = json.loads(shown.output)
    assert data["simulated"] is True and data["machine"]["name"] == "a test"
    assert [p["implementation"] for p in data["points"]] == ["p2p", "hier:lanes"]
    assert all(p["refused"] is None and p["time_s"] > 0 for p in data["points"])
    assert data["per_node"] == 4


def test_skew_has_a_spread(tmp_path):
    words = "bcast -n 64 --impl p2p:binomial --skew uniform:50us --seeds 9 --json".split()
    (point,) = json.loads(simulate(tmp_path, *words).output)["points"]
    assert 0 < point["p10_s"] < point["p90_s"] and point["time_s"] <= point["p90_s"]
    table = simulate(tmp_path, *words[:-1]).output
    assert "p10 to p90" in table


def test_queues_cost_time(tmp_path):
    words = "alltoall -n 64 --impl p2p:pairwise --bytes 64K --json".split()
    times = [
        json.loads(simulate(tmp_path, *words, *more).output)["points"][0]["time_s"]
        for more in ([], ["--no-queues"])
    ]
    assert times[0] > 2 * times[1]  # four ranks share an interface


def test_how_busy_interfaces_are(tmp_path):
    """All comes to one node: its interface carries messages one way, nearly all the time."""
    network = {"latency": 1e-9, "byte": 1e-9, "gap": 1e-7}
    machine = MACHINE | {"levels": {"node": {}, "network": network}, "copy": {}, "round": 0}
    words = "gather -n 33 --per-node 1 --impl p2p:linear --bytes 1000".split()
    for more in ([], ["--skew", "uniform:1us"]):
        shown = simulate(tmp_path, *words, *more, "--json", machine=machine)
        (point,) = json.loads(shown.output)["points"]
        assert 0.97 < point["busiest_interface"] <= 1
    shown = simulate(tmp_path, *words, "--no-queues", machine=machine)
    assert shown.output.splitlines()[-1].split()[-1] == "-"
    shown = simulate(tmp_path, *words, "--no-queues", "--json", machine=machine)
    assert json.loads(shown.output)["points"][0]["busiest_interface"] is None


def test_how_busy_the_link_of_a_group_is(tmp_path):
    """Groups of two nodes: half of an alltoall's messages and more pass the links of groups."""
    slow = {"latency": 1e-9, "byte": 1e-9}
    levels = {"node": {}, "group": {"nodes": 2, "latency": 1e-9}, "network": slow}
    machine = MACHINE | {"levels": levels, "copy": {}, "round": 0}
    words = "alltoall -n 4 --per-node 1 --impl p2p:linear --bytes 1000 --json".split()
    (point,) = json.loads(simulate(tmp_path, *words, machine=machine).output)["points"]
    assert 0.97 < point["busiest_interface"] <= 1


def test_a_picture(tmp_path):
    words = ["bcast", "-n", "8", "--bytes", "8,1K", "--plot", str(tmp_path / "a.svg")]
    shown = simulate(tmp_path, *words)
    assert shown.exit_code == 0 and "wrote" in shown.output
    text = (tmp_path / "a.svg").read_text()
    assert text.startswith("<?xml") and len(text) > 5000


@pytest.mark.parametrize(
    "words, said",
    [
        ("allreduce -n 8 --impl shm", "cannot simulate 'shm'"),
        ("nothing -n 8", "no collective 'nothing'"),
        ("bcast -n 8 --root 8", "root 8 is not one of 8 ranks"),
        ("bcast -n 4194305", "only up to 4194304"),
        ("bcast -n 8 --plot a.xyz", "ends with .png, .svg or .pdf"),
        ("bcast -n 8 --plot nosuch/a.png", "no such folder"),
        ("bcast -n 8x", "expected numbers of ranks"),
        ("bcast -n 8 --skew often", "expected uniform:TIME"),
        ("bcast", "expected COLLECTIVE or --profile FILE, with --ranks and --machine"),
        ("bcast -n 8 --machine nosuch.json", "cannot read the machine file nosuch.json"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, words, said):
    shown = simulate(tmp_path, *words.split())
    assert shown.exit_code in (2, 125) and said in shown.output, shown.output


def test_a_machine_file_that_is_none(tmp_path):
    machine = MACHINE | {"levels": {"node": {"speed": 1}}}
    shown = simulate(tmp_path, "bcast", "-n", "8", machine=machine)
    assert shown.exit_code == 125 and "not a machine file" in shown.output
    assert schemas.problems("machine", MACHINE) == []


@pytest.mark.parametrize(
    "level, costs",
    [
        ("cache", {}),
        ("cache", {"ranks": 2, "nodes": 2}),
        ("cache", {"ranks": 1 << 31}),
        ("group", {"ranks": 2}),
        ("node", {"ranks": 2}),
        ("network", {"nodes": 2}),
    ],
)
def test_levels_say_what_they_are_made_of(level, costs):
    machine = MACHINE | {"levels": MACHINE["levels"] | {level: costs}}
    (wrong, *_) = schemas.problems("machine", machine)
    assert level in wrong


def test_what_cannot_be_simulated_here(tmp_path):
    words = "allgather -n 8192 --impl p2p:ring --limit 1s".split()
    shown = simulate(tmp_path, *words)
    assert "takes more than 1 s to simulate" in shown.output and shown.exit_code == 1


def test_neighbours_need_a_topology(tmp_path):
    words = "neighbor_allgather -n 64 --bytes 1K --per-node 8".split()
    refused = simulate(tmp_path, *words)
    assert refused.exit_code == 2 and "neighbours of each rank" in refused.output
    shown = simulate(tmp_path, *words, "--topology", "random:12", "--json")
    points = {p["implementation"]: p for p in json.loads(shown.output)["points"]}
    assert all(p["topology"] == "random:12" for p in points.values())
    assert points["p2p:dimensions"]["refused"] is not None  # no stencil
    # 64 ranks, 7 other nodes: a block goes at most once into each
    assert points["hier:leaders"]["messages_between_nodes"] <= 64 * 7
    linear, combined = (points[f"p2p:{name}"] for name in ("linear", "combined"))
    assert linear["messages_between_nodes"] > 64 * 7
    assert combined["messages"] <= linear["messages"] == 64 * 12


def test_no_such_topology(tmp_path):
    shown = simulate(tmp_path, *"neighbor_alltoall -n 8 --topology ring:3".split())
    assert shown.exit_code == 2 and "torus:1 to torus:4" in shown.output
