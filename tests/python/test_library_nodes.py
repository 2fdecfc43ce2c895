# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on several nodes, which CRESTA_NODES imposes on those of this machine."""

import pytest
from crestacoll_tools.profile import profiles
from library_runs import each_build, good, implementations, messages, profiled, run

pytestmark = each_build

HIER = {"CRESTA_IMPL": "*=hier", "CRESTA_LOG": "info"}


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ("2x2", "is on 2 nodes with 2 ranks each"),
        ("1+3", "is on 2 nodes with 1 to 3 ranks each"),
        ("0,1,0,1", "is on 2 nodes with 2 ranks each, not one after the other"),
        ("4x1", "is on 4 nodes with 1 rank each"),
        ("4", None),
        ("auto", None),
    ],
)
def test_nodes_are_found(build, nodes, said):
    env = HIER | {"CRESTA_NODES": nodes}
    done = run(build, "script", "allreduce=8", "bcast=100000", "alltoall=64", ranks=4, env=env)
    assert done.returncode == 0, done.stderr
    assert "instead" not in done.stderr
    assert (" nodes with " in done.stderr) == (said is not None), done.stderr
    assert said is None or done.stderr.count(said) == 1, done.stderr


def test_all_ranks_have_a_place(build):
    done = run(build, "script", "allreduce=8", ranks=4, env=HIER | {"CRESTA_NODES": "3x1"})
    assert done.returncode != 0
    assert len(messages(done)) == 1, done.stderr
    assert "CRESTA_NODES=3x1: it places 3 ranks, and MPI_COMM_WORLD has 4" in done.stderr


def test_conditions_on_nodes(build, tmp_path):
    rules = "allreduce{nodes=3-inf}=shm,allreduce{nodes=2&ranks_per_node=2}=nonblock,*=mpi"
    env = {"CRESTA_IMPL": rules, "CRESTA_NODES": "2x2"}
    records = profiled(build, tmp_path, "script", "allreduce=8", ranks=4, env=env)
    assert implementations(records, "allreduce") == {8: "nonblock"}


def sent(build, tmp_path, env, *steps, ranks=4):
    """{collective, begun or not: what went between nodes} of a program on two nodes."""
    env = {"CRESTA_NODES": "2x2"} | env
    records = profiled(build, tmp_path, "script", *steps, ranks=ranks, env=env)
    return {(r["collective"], r["mode"]): r["between_nodes"] for r in records}


def test_what_goes_between_nodes_is_counted(build, tmp_path):
    """Leaders exchange 8 bytes both ways and send them once; every rank has a partner elsewhere in
    an ordinary allreduce; of the MPI's own calls nobody knows.
    """
    steps = ["allreduce=8", "allreduce=8", "bcast=64"]
    found = sent(build, tmp_path, {"CRESTA_IMPL": "*=hier"}, *steps)
    assert found["allreduce", "blocking"] == {"calls": 8, "messages": 4, "bytes": 32}
    assert found["bcast", "blocking"] == {"calls": 4, "messages": 1, "bytes": 64}
    rules = {"CRESTA_IMPL": "allreduce=p2p:recursive_doubling,*=mpi"}
    found = sent(build, tmp_path, rules, *steps)
    assert found["allreduce", "blocking"] == {"calls": 8, "messages": 8, "bytes": 64}
    assert found["bcast", "blocking"] is None
    found = sent(build, tmp_path, {"CRESTA_NODES": "4"}, *steps)
    assert found["bcast", "blocking"] == {"calls": 4, "messages": 0, "bytes": 0}


def test_sizes_that_ranks_are_told_are_messages_too(build, tmp_path):
    """The root tells all ranks what each gives: a broadcast; then the data come."""
    rules = {"CRESTA_IMPL": "gatherv=p2p:binomial,*=mpi"}
    found = sent(build, tmp_path, rules, "gatherv=16")["gatherv", "blocking"]
    sizes, data = 4 * 8, 2 * 16
    assert found == {"calls": 4, "messages": 2, "bytes": sizes + data}


def test_begun_calls_are_counted(build, tmp_path):
    rules = {"CRESTA_IMPL": "*=p2p:recursive_doubling", "CRESTA_ASYNC": "thread"}
    found = sent(build, tmp_path, rules, "begin=8", "barrier=0", "begin=8")
    assert found["allreduce", "nonblocking"] == {"calls": 4, "messages": 4, "bytes": 32}


def test_calls_that_are_not_recorded_do_not_count(build, tmp_path):
    steps = ["allreduce=8", "pcontrol=0", "allreduce=8", "bcast=64", "pcontrol=1", "allreduce=8"]
    found = sent(build, tmp_path, {"CRESTA_IMPL": "*=hier"}, *steps)
    assert found == {("allreduce", "blocking"): {"calls": 8, "messages": 4, "bytes": 32}}


def test_the_profile_names_nodes(build, tmp_path):
    env = {"CRESTA_NODES": "1+3", "CRESTA_PROFILE": str(tmp_path / "p.json")}
    good(run(build, "script", "allreduce=8", "split", "allreduce=8", ranks=4, env=env))
    data = profiles.load(tmp_path / "p.json")
    nodes = {tuple(c["members"][0]): tuple(c["nodes"].values()) for c in data["communicators"]}
    assert nodes == {(0, 1, 4): (2, 1, 3), (0, 2, 2): (2, 1, 1), (1, 2, 2): (1, 2, 2)}
    assert {r["processes"]: r["nodes"] for r in data["records"]} == {4: 2, 2: 2}


def test_ranks_of_two_nodes_share_no_memory(build):
    env = {"CRESTA_IMPL": "*=shm", "CRESTA_NODES": "2x2"}
    done = run(build, "script", "allreduce=8", ranks=4, env=env)
    assert done.returncode == 0 and "p2p runs instead" in done.stderr


@pytest.mark.parametrize(("policy", "code"), [("warn", 0), ("silent", 0), ("error", 1)])
def test_without_memory_for_a_node(build, policy, code):
    more = {"CRESTA_NODES": "2x2", "CRESTA_SHM_MEMORY": "4K", "CRESTA_FALLBACK": policy}
    env = {"CRESTA_IMPL": "*=hier"} | more
    done = run(build, "script", "allreduce=8", "bcast=64", ranks=4, env=env)
    assert (done.returncode != 0) == bool(code), done.stderr
    assert len(messages(done)) == (policy != "silent"), done.stderr
    assert policy == "silent" or "the ranks of a node share no memory" in done.stderr


@pytest.mark.parametrize(
    ("nodes", "memory", "said"),
    [
        ("2+1", "128M", "split-phase: hier runs"),
        ("0,1,0", "128M", "split-phase: hier runs"),
        ("3x1", "128M", "split-phase: hier runs"),
        ("2+1", "1M", "split-phase: p2p runs instead of hier: the ranks of a node share no memory"),
    ],
)
def test_begins_over_nodes(build, nodes, memory, said):
    more = {"CRESTA_NODES": nodes, "CRESTA_SHM_MEMORY": memory, "CRESTA_ASYNC": "thread"}
    done = run(build, "script", "set=*=hier", "begin=8", "begin=100000", ranks=3, env=HIER | more)
    assert done.returncode == 0 and said in done.stderr, done.stderr
