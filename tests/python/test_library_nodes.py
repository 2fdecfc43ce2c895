# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on several nodes, which CRESTA_NODES imposes on those of this machine."""

import pytest
from library_runs import each_build, implementations, messages, profiled, run

pytestmark = each_build

HIER = {"CRESTA_IMPL": "*=hier", "CRESTA_LOG": "info"}


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ("2x2", "is on 2 nodes with 2 ranks each"),
        ("1+3", "is on 2 nodes with 1 to 3 ranks each"),
        ("0,1,0,1", "is on 2 nodes with 2 ranks each, not one after the other"),
        ("4x1", "is on 4 nodes with 1 ranks each"),
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
