# SPDX-License-Identifier: BSD-3-Clause
"""`auto` in CRESTA_IMPL: what the profile says was used."""

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


def test_auto_leaves_calls_between_nodes_to_the_mpi(build, tmp_path):
    """What was measured of them is in docs/lab/hosts.md."""
    steps = ("script", "reduce_scatter=524288", "bcast=524288", "bcast=8")
    env = {"CRESTA_IMPL": "auto", "CRESTA_NODES": "2x2"}
    records = profiled(build, tmp_path, *steps, ranks=4, env=env)
    assert implementations(records, "reduce_scatter") == {524288: "mpi"}
    assert set(implementations(records, "bcast").values()) == {"mpi"}
