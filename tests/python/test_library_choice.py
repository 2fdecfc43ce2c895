# SPDX-License-Identifier: BSD-3-Clause
"""The choice from outside: CRESTA_IMPL, CRESTA_Set_impl, what the profile says was used."""

import pytest
from library_runs import each_build, good, implementations, messages, profiled, run

pytestmark = [each_build, pytest.mark.by_turns]

WRONG = [
    ("alltoall=nonsense", ["nonsense", "possible: mpi, nonblock"]),
    ("nonsense=mpi", ["nonsense", "allreduce"]),
    ("alltoall", ["alltoall"]),
    ("bcast[8-4]=mpi", ["[8-4]"]),
    ("gatherv[1-8]=mpi", ["gatherv", "size"]),
    ("alltoallw[1K-inf]=mpi", ["alltoallw", "size"]),
    ("allreduce[4X-8]=mpi", ["4X"]),
    ("bcast(3-2)=mpi", ["(3-2)"]),
    ("*@=mpi", ["@"]),
    ("@/does/not/exist", ["/does/not/exist"]),
    ("@/tmp", ["CRESTA_IMPL=@/tmp", "Is a directory"]),
]


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("spec, words", WRONG[:1])
def test_a_wrong_spec_stops_the_job(build, ranks, spec, words):
    done = run(build, "script", "allreduce=8", ranks=ranks, env={"CRESTA_IMPL": spec})
    assert done.returncode != 0
    assert len(messages(done)) == 1, done.stderr
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize("spec, words", WRONG[1:], ids=lambda value: str(value))
def test_what_is_wrong_is_named(build, spec, words):
    done = run(build, "script", "allreduce=8", env={"CRESTA_IMPL": spec})
    assert done.returncode != 0
    assert len(messages(done)) == 1, done.stderr
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize("ranks, wrong", [(2, 1), (4, 0), (4, 3)])
def test_wrong_on_one_rank_only(build, ranks, wrong):
    done = run(
        build,
        "script",
        "allreduce=8",
        ranks=ranks,
        rank_env={wrong: {"CRESTA_IMPL": "alltoall=nonsense"}},
    )
    assert done.returncode != 0
    assert len(messages(done)) == 1, done.stderr
    assert f"rank {wrong}" in done.stderr and "nonsense" in done.stderr, done.stderr


def test_size_ranges(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "allreduce=1023",
        "allreduce=1024",
        "allreduce=65536",
        "allreduce=131072",
        env={"CRESTA_IMPL": "allreduce[1K-64K]=nonblock"},
    )
    assert implementations(records, "allreduce") == {
        512: "mpi",
        1024: "nonblock",
        65536: "nonblock",
        131072: "mpi",
    }


def test_both_ends_are_included_and_inf(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "bcast=0",
        "bcast=4",
        "bcast=8",
        "bcast=1000000",
        env={"CRESTA_IMPL": "bcast[0-0]=nonblock,bcast[8-inf]=nonblock"},
    )
    assert implementations(records, "bcast") == {
        0: "nonblock",
        4: "mpi",
        8: "nonblock",
        524288: "nonblock",
    }


def test_a_range_on_everything_spares_what_has_no_size(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "gatherv=64",
        "bcast=64",
        env={"CRESTA_IMPL": "*[1-1K]=nonblock,*=mpi"},
    )
    assert implementations(records, "gatherv") == {64: "mpi"}
    assert implementations(records, "bcast") == {64: "nonblock"}


def test_names(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "allreduce=8",
        "dup",
        "name=row",
        "allreduce=8",
        "world",
        "dup",
        "name=rows",
        "allreduce=8",
        "world",
        "dup",
        "name=a-row-b",
        "allreduce=8",
        env={"CRESTA_IMPL": "allreduce@row=nonblock"},
    )
    assert implementations(records, "allreduce", "row") == {8: "nonblock"}
    assert implementations(records, "allreduce", "rows") == {8: "mpi"}
    assert implementations(records, "allreduce", "a-row-b") == {8: "mpi"}
    assert implementations(records, "allreduce", "MPI_COMM_WORLD") == {8: "mpi"}


def test_names_with_stars(build, tmp_path):
    steps = [
        step
        for name in ("row", "rows", "a-row-b", "column")
        for step in ("world", "dup", f"name={name}", "allreduce=8")
    ]
    records = profiled(build, tmp_path, "script", *steps, env={"CRESTA_IMPL": "*@*row*=nonblock"})
    assert {
        name: implementations(records, "allreduce", name)[8]
        for name in ("row", "rows", "a-row-b", "column")
    } == {"row": "nonblock", "rows": "nonblock", "a-row-b": "nonblock", "column": "mpi"}


def test_names_that_differ_are_no_name(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "dup",
        "name+=row",
        "allreduce=8",
        env={"CRESTA_IMPL": "*@row*=nonblock"},
    )
    assert implementations(records, "allreduce") == {8: "mpi"}
    assert not [record for record in records if record["communicator"].startswith("row")]


def test_numbers_of_processes(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "allreduce=8",
        "split",
        "name=half",
        "allreduce=8",
        ranks=4,
        env={"CRESTA_IMPL": "allreduce(2-3)=nonblock"},
    )
    assert implementations(records, "allreduce", "half") == {8: "nonblock"}
    assert implementations(records, "allreduce", "MPI_COMM_WORLD") == {8: "mpi"}


def test_first_match_wins(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "allreduce=8",
        "bcast=8",
        env={"CRESTA_IMPL": "allreduce=mpi,allreduce=nonblock,*=nonblock"},
    )
    assert implementations(records, "allreduce") == {8: "mpi"}
    assert implementations(records, "bcast") == {8: "nonblock"}


def test_case_of_collectives_and_newlines(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "allreduce=8",
        "bcast=8",
        env={"CRESTA_IMPL": "AllReduce=nonblock\nBCAST=mpi"},
    )
    assert implementations(records, "allreduce") == {8: "nonblock"}
    assert implementations(records, "bcast") == {8: "mpi"}


def test_rules_in_a_file(build, tmp_path):
    rules = tmp_path / "rules"
    rules.write_text(
        "# what is chosen\nallreduce[0-1K]=nonblock, bcast=nonblock\n\n*=mpi # the rest\n"
    )
    records = profiled(
        build,
        tmp_path,
        "script",
        "allreduce=8",
        "allreduce=4096",
        "bcast=8",
        "alltoall=8",
        env={"CRESTA_IMPL": f"@{rules}"},
    )
    assert implementations(records, "allreduce") == {8: "nonblock", 4096: "mpi"}
    assert implementations(records, "bcast") == {8: "nonblock"}
    assert implementations(records, "alltoall") == {8: "mpi"}


def test_the_program_chooses(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "dup",
        "name=mine",
        "set=allreduce=nonblock",
        "allreduce=8",
        "dup",
        "name=copy",
        "allreduce=8",
    )
    assert implementations(records, "allreduce", "mine") == {8: "nonblock"}
    assert implementations(records, "allreduce", "copy") == {8: "mpi"}, "duplicates do not inherit"


def test_the_program_changes_its_mind(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "set=allreduce=nonblock",
        "allreduce=8",
        "set=",
        "allreduce=64",
        "set=allreduce=nonblock",
        "allreduce=1024",
    )
    assert implementations(records, "allreduce") == {8: "nonblock", 64: "mpi", 1024: "nonblock"}


def test_the_environment_goes_before_the_program(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "set=*=nonblock",
        "allreduce=8",
        "bcast=8",
        env={"CRESTA_IMPL": "allreduce=mpi"},
    )
    assert implementations(records, "allreduce") == {8: "mpi"}
    assert implementations(records, "bcast") == {8: "nonblock"}, (
        "what the user leaves open is the program's"
    )


def test_a_wrong_spec_of_the_program(build):
    done = good(run(build, "script", "return", "set=alltoall=nonsense", "allreduce=8"))
    assert "set: MPI_ERR_ARG" in done.stdout
    assert len(messages(done)) == 1 and "nonsense" in done.stderr, done.stderr


def test_a_spec_of_the_program_that_differs(build):
    done = good(run(build, "script", "return", "set@1=alltoall=nonblock", "allreduce=8", ranks=3))
    assert "set: MPI_ERR_ARG" in done.stdout
    assert len(messages(done)) == 1, done.stderr


def test_a_wrong_spec_of_the_program_is_fatal_by_default(build):
    done = run(build, "script", "set=alltoall=nonsense", "allreduce=8")
    assert done.returncode != 0
    assert "nonsense" in done.stderr


def test_pcontrol_suspends_recording(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "allreduce=8",
        "pcontrol=0",
        "allreduce=8",
        "bcast=8",
        "pcontrol=1",
        "allreduce=8",
        env={"CRESTA_IMPL": "*=nonblock"},
    )
    calls = {
        record["collective"]: record["calls"] for record in records if record["mode"] == "blocking"
    }
    assert calls == {"allreduce": 2}


def test_pcontrol_does_not_suspend_the_choice(build):
    done = good(
        run(
            build,
            "script",
            "pcontrol=0",
            "allreduce=8",
            env={"CRESTA_IMPL": "allreduce=nonblock", "CRESTA_LOG": "info"},
        )
    )
    assert "nonblock" in done.stderr, done.stderr


def test_the_log_says_once_what_was_chosen(build):
    done = good(
        run(
            build,
            "script",
            "allreduce=8",
            "allreduce=8",
            "allreduce=8",
            env={"CRESTA_IMPL": "allreduce=nonblock", "CRESTA_LOG": "info"},
        )
    )
    chosen = [line for line in messages(done) if "allreduce" in line]
    assert len(chosen) == 1 and "nonblock" in chosen[0], done.stderr


def test_calls_and_bytes(build, tmp_path):
    records = profiled(
        build,
        tmp_path,
        "script",
        "allreduce=8",
        "allreduce=8",
        "iallreduce=8",
        "alltoall=100",
        ranks=3,
    )
    rows = {(record["collective"], record["mode"]): record for record in records}
    assert (
        rows["allreduce", "blocking"]["calls"] == 2
        and rows["allreduce", "blocking"]["calls_total"] == 6
    )
    assert rows["allreduce", "blocking"]["bytes_total"] == 48
    assert rows["allreduce", "nonblocking"]["calls"] == 1
    assert rows["alltoall", "blocking"]["bytes_total"] == 300, (
        "bytes of alltoall are those of a pair"
    )
    assert all(record["processes"] == 3 and record["ranks"] == 3 for record in records)


def test_a_profile_that_cannot_be_written(build):
    done = run(
        build, "script", "allreduce=8", env={"CRESTA_PROFILE": "/does/not/exist/profile.json"}
    )
    assert done.returncode != 0
    assert len(messages(done)) == 1 and "/does/not/exist" in done.stderr, done.stderr


def test_types_and_operations(build, tmp_path):
    """Each call runs what the rule for its class says, also after a call of another class."""
    rules = [
        *("allreduce{operation=noncommutative&type=other}=mpi", "allreduce{type=derived}=p2p"),
        *("allreduce{operation=rounding}=nonblock", "allreduce{type=integer}=shm"),
        *("*{operation=predefined}=persist", "*=mpi"),
    ]
    steps = ["sum=8", "isum=16", "sum=32", "allreduce=64", "ordered=128", "derived=256", "sum=512"]
    env = {"CRESTA_IMPL": ",".join(rules)}
    records = profiled(build, tmp_path, "script", *steps, "isum=1024", "bcast=8", env=env)
    ran = {8: "nonblock", 16: "shm", 32: "nonblock", 64: "persist", 128: "mpi", 256: "p2p"}
    assert implementations(records, "allreduce") == ran | {512: "nonblock", 1024: "shm"}
    assert implementations(records, "bcast") == {8: "mpi"}, "no reduction"


def test_nodes(build, tmp_path):
    """All ranks are on one node here; so also on a part of them, and after CRESTA_Set_impl."""
    rules = "allreduce{nodes=2-inf}=shm,allreduce{ranks_per_node=4}=nonblock,allreduce{nodes=1}=p2p"
    steps = ["allreduce=8", "split", "name=few", "set=bcast{ranks_per_node=2}=nonblock", "bcast=8"]
    env = {"CRESTA_IMPL": rules}
    records = profiled(build, tmp_path, "script", *steps, "allreduce=8", ranks=4, env=env)
    assert implementations(records, "allreduce", "MPI_COMM_WORLD") == {8: "nonblock"}
    assert implementations(records, "allreduce", "few") == {8: "p2p"}
    assert implementations(records, "bcast", "few") == {8: "nonblock"}


def test_nodes_asked_for_by_the_program_only(build, tmp_path):
    steps = ["allreduce=8", "set=allreduce{nodes=1}=p2p", "allreduce=64"]
    records = profiled(build, tmp_path, "script", *steps, ranks=2)
    assert implementations(records, "allreduce") == {8: "mpi", 64: "p2p"}
