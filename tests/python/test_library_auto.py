# SPDX-License-Identifier: BSD-3-Clause
"""`auto` in CRESTA_IMPL: what the profile says was used."""

import json

from library_runs import each_build, good, implementations, messages, profiled, run

pytestmark = each_build

AUTO = ("script", "alltoall=8", "allreduce=8", "alltoall=65536", "gatherv=8")


def test_auto_is_shm_where_that_is_known_to_be_faster(build, tmp_path):
    records = profiled(build, tmp_path, *AUTO, env={"CRESTA_IMPL": "auto"})
    assert implementations(records, "alltoall") == {8: "shm", 65536: "mpi"}
    assert implementations(records, "allreduce") == {8: "shm"}
    assert set(implementations(records, "gatherv").values()) == {"mpi"}


def test_auto_alone_goes_after_the_program_and_as_a_rule_before_it(build, tmp_path):
    for spec, expected in (("auto", "nonblock"), ("*=auto", "shm")):
        arguments = ("script", "set=allreduce=nonblock", *AUTO[1:])
        records = profiled(build, tmp_path, *arguments, env={"CRESTA_IMPL": spec})
        assert implementations(records, "allreduce") == {8: expected}, spec
        assert implementations(records, "alltoall") == {8: "shm", 65536: "mpi"}, spec


def test_auto_without_shared_memory_is_the_mpi_and_says_nothing(build):
    env = {"CRESTA_IMPL": "auto", "CRESTA_SHM_MEMORY": "0", "CRESTA_FALLBACK": "error"}
    done = good(run(build, *AUTO, env=env))
    assert messages(done) == []


SEVERAL = ("script", "reduce_scatter=524288", "reduce_scatter=65536", "bcast=524288")


def test_auto_is_hier_between_nodes_where_that_is_known_to_be_faster(build, tmp_path):
    """Only on nodes as they were measured; what is said of them is in docs/results/hosts.md."""
    for nodes, chosen in (("2x2", "hier"), ("4x1", "mpi"), ("1+3", "mpi"), ("4", "mpi")):
        env = {"CRESTA_IMPL": "auto", "CRESTA_NODES": nodes}
        records = profiled(build, tmp_path, *SEVERAL, ranks=4, env=env)
        expected = {524288: chosen, 65536: "mpi"}
        assert implementations(records, "reduce_scatter") == expected, nodes
        assert implementations(records, "bcast") == {524288: "mpi"}, nodes


def sent(build, tmp_path, step, **more):
    """What went between nodes, and what was said."""
    path = tmp_path / "p.json"
    env = {"CRESTA_IMPL": "auto", "CRESTA_NODES": "2x2", "CRESTA_FALLBACK": "error"}
    env |= {"CRESTA_PROFILE": str(path)} | more
    done = good(run(build, "script", step, ranks=4, env=env))
    return json.loads(path.read_text())["records"][0]["between_nodes"], messages(done)


def test_auto_leaves_to_the_mpi_what_hier_was_not_measured_with(build, tmp_path):
    """An operation of the program; nodes whose ranks share no memory, of which nothing is said."""
    found, said = sent(build, tmp_path, "reduce_scatter=524288")
    assert found["messages"] > 0 and said == []
    assert sent(build, tmp_path, "own_scatter=524288") == (None, [])
    assert sent(build, tmp_path, "reduce_scatter=524288", CRESTA_SHM_MEMORY="4K") == (None, [])
