# SPDX-License-Identifier: BSD-3-Clause
"""CRESTA_TUNING on real ranks: whose rules win, who reads, files from elsewhere, wrong files."""

import json
import subprocess

import pytest
from library_runs import each_build, good, implementations, messages, profiled, run

pytestmark = [each_build, pytest.mark.by_turns]

RULES = [
    {"collective": "allreduce", "bytes": [8, 1024], "implementation": "nonblock"},
    {"collective": "bcast", "implementation": "p2p"},
]


def here(build):
    """Machine and MPI as the library names them."""
    program = build / "bin" / "crestacoll-tuning"
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["here"]


def tuning(build, path, rules=RULES, **changed):
    """Writes a file for this machine and MPI, or for others; its path."""
    made = here(build) | changed
    head = {"machine": {"cpu": made["cpu"], "cores": made["cores"]}, "mpi": made["mpi"]}
    head |= {"date": "2026-11-22", "crestacoll": "0.1.0"}
    data = {"schema": "crestacoll-tuning-1", "head": head, "rules": rules}
    path.write_text(json.dumps(data, indent=1))
    return path


def told(done):
    """The one message of a job that its file stops, with exit code 2."""
    assert done.returncode == 2, done.stderr
    assert len(messages(done)) == 1, done.stderr
    return messages(done)[0]


def test_its_rules_choose(build, tmp_path):
    env = {"CRESTA_TUNING": str(tuning(build, tmp_path / "t.json"))}
    steps = ["allreduce=8", "allreduce=4096", "bcast=8", "alltoall=8"]
    records = profiled(build, tmp_path, "script", *steps, env=env)
    assert implementations(records, "allreduce") == {8: "nonblock", 4096: "mpi"}
    assert implementations(records, "bcast") == {8: "p2p"}
    assert implementations(records, "alltoall") == {8: "mpi"}


def test_the_log_names_file_and_rule(build, tmp_path):
    path = tuning(build, tmp_path / "mine.json")
    env = {"CRESTA_TUNING": str(path), "CRESTA_LOG": "info"}
    done = good(run(build, "script", "allreduce=8", env=env))
    assert "(CRESTA_TUNING=mine.json: allreduce[8-1024]=nonblock)" in done.stderr, done.stderr


def test_precedence(build, tmp_path):
    rules = [{"collective": c, "implementation": "p2p"} for c in ("allreduce", "bcast")]
    env = {
        "CRESTA_IMPL": "allreduce=shm",
        "CRESTA_TUNING": str(tuning(build, tmp_path / "t.json", rules)),
    }
    steps = ["set=*=nonblock", "allreduce=8", "bcast=8", "alltoall=8"]
    records = profiled(build, tmp_path, "script", *steps, env=env)
    assert implementations(records, "allreduce") == {8: "shm"}, "the user's"
    assert implementations(records, "bcast") == {8: "p2p"}, "the tuning file's"
    assert implementations(records, "alltoall") == {8: "nonblock"}, "the program's"
    assert {r["collective"]: r["rule"] for r in records} == {
        "allreduce": "CRESTA_IMPL: allreduce=shm",
        "bcast": "CRESTA_TUNING=t.json: bcast=p2p",
        "alltoall": "CRESTA_Set_impl: *=nonblock",
    }


def test_communicators_and_ranks(build, tmp_path):
    rules = [
        {"collective": "allreduce", "communicator": "a=b,*", "implementation": "nonblock"},
        {"collective": "allreduce", "ranks": [3, "inf"], "implementation": "p2p"},
    ]
    env = {"CRESTA_TUNING": str(tuning(build, tmp_path / "t.json", rules))}
    steps = ["allreduce=8", "dup", "name=a=b,c", "allreduce=8", "world", "split", "name=few"]
    records = profiled(build, tmp_path, "script", *steps, "allreduce=8", ranks=3, env=env)
    assert implementations(records, "allreduce", "MPI_COMM_WORLD") == {8: "p2p"}
    assert implementations(records, "allreduce", "a=b,c") == {8: "nonblock"}
    assert implementations(records, "allreduce", "few") == {8: "mpi"}


@pytest.mark.parametrize(
    "changed, value", [("cpu", "Fast One"), ("cores", 31415), ("mpi", "Other MPI v7")]
)
def test_made_elsewhere(build, tmp_path, changed, value):
    """One warning that names both, and defaults; unless forced."""
    path = tuning(build, tmp_path / "t.json", **{changed: value})
    env = {"CRESTA_TUNING": str(path), "CRESTA_PROFILE": str(tmp_path / "p.json")}
    done = good(run(build, "script", "allreduce=8", ranks=3, env=env))
    records = json.loads((tmp_path / "p.json").read_text())["records"]
    assert implementations(records, "allreduce") == {8: "mpi"}
    assert len(messages(done)) == 1, done.stderr
    assert f"{path} is not used" in done.stderr and "force:FILE" in done.stderr
    assert str(value) in done.stderr and str(here(build)[changed]) in done.stderr, done.stderr
    env["CRESTA_TUNING"] = f"force:{path}"
    done = good(run(build, "script", "allreduce=8", ranks=3, env=env))
    records = json.loads((tmp_path / "p.json").read_text())["records"]
    assert implementations(records, "allreduce") == {8: "nonblock"}
    assert not messages(done), done.stderr


def test_rules_from_elsewhere_need_not_exist_here(build, tmp_path):
    rules = [{"collective": "allreduce", "implementation": "hypercube"}]
    path = tuning(build, tmp_path / "t.json", rules, cpu="Fast One")
    done = good(run(build, "script", "allreduce=8", env={"CRESTA_TUNING": str(path)}))
    assert len(messages(done)) == 1 and "is not used" in done.stderr
    done = run(build, "script", "allreduce=8", env={"CRESTA_TUNING": f"force:{path}"})
    assert 'no implementation "hypercube"; possible: mpi' in told(done)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_truncated(build, tmp_path, ranks):
    path = tuning(build, tmp_path / "t.json")
    text = path.read_text()
    path.write_text(text[: text.index("nonblock") + 4])
    done = run(build, "script", "allreduce=8", ranks=ranks, env={"CRESTA_TUNING": str(path)})
    line = text[: text.index('"nonblock"')].count("\n") + 1
    assert f"{path}: line {line}, column " in told(done)
    assert "this string does not end" in done.stderr


@pytest.mark.parametrize("rank_0_only", [False, True])
def test_too_large(build, tmp_path, rank_0_only):
    path = tuning(build, tmp_path / "t.json", RULES * 80000)
    assert path.stat().st_size > 10_000_000
    folder = tmp_path / "empty"
    folder.mkdir()
    where = {0: tmp_path, 1: folder if rank_0_only else tmp_path}
    env = {"CRESTA_TUNING": "t.json"}
    done = run(build, "script", "allreduce=8", env=env, rank_folder=where)
    assert "t.json: line " in told(done)
    assert "here it exceeds the 4194304 bytes that a tuning file may have" in done.stderr


def test_as_large_as_may_be(build, tmp_path):
    sizes = [*(i % 2000 for i in range(35999)), 35999]  # the library keeps the text of each once
    rules = [{"collective": "bcast", "bytes": [i, i], "implementation": "p2p"} for i in sizes]
    path = tuning(build, tmp_path / "t.json", rules)
    assert 3_000_000 < path.stat().st_size < 4 << 20
    env = {"CRESTA_TUNING": str(path)}
    records = profiled(build, tmp_path, "script", "bcast=35999", "bcast=36000", env=env)
    assert {r["implementation"] for r in records if r["collective"] == "bcast"} == {"p2p", "mpi"}


@pytest.mark.parametrize(
    "name, said", [("none.json", "No such file or directory"), ("", "Is a directory")]
)
def test_no_file(build, tmp_path, name, said):
    path = f"{tmp_path}/{name}"
    done = run(build, "script", "allreduce=8", ranks=3, env={"CRESTA_TUNING": path})
    assert told(done).endswith(f"CRESTA_TUNING={path}: cannot read this file: {said}")


@pytest.mark.parametrize("ranks, other", [(2, 1), (4, 2)])
def test_ranks_with_different_files(build, tmp_path, ranks, other):
    names = [str(tuning(build, tmp_path / name)) for name in ("a.json", "b.json")]
    env, rank_env = {"CRESTA_TUNING": names[0]}, {other: {"CRESTA_TUNING": names[1]}}
    done = run(build, "script", "allreduce=8", ranks=ranks, env=env, rank_env=rank_env)
    told(done)
    assert f"    rank {other}: CRESTA_TUNING={names[1]}\n" in done.stderr, done.stderr
    assert f"    rank 0: CRESTA_TUNING={names[0]}\n" in done.stderr, done.stderr


@pytest.mark.parametrize("other", [0, 1])
def test_only_one_rank_has_it(build, tmp_path, other):
    rank_env = {other: {"CRESTA_TUNING": str(tuning(build, tmp_path / "t.json"))}}
    done = run(build, "script", "allreduce=8", rank_env=rank_env)
    assert "the environment must be the same on all ranks" in told(done)


@pytest.mark.parametrize("elsewhere", [None, [{"collective": "*", "implementation": "nope"}]])
def test_rank_0_reads_for_all(build, tmp_path, elsewhere):
    """The others may have no such file, or another by this name."""
    folder = tmp_path / "other"
    folder.mkdir()
    tuning(build, tmp_path / "t.json")
    if elsewhere:
        tuning(build, folder / "t.json", elsewhere)
    where = {0: tmp_path, 1: folder, 2: folder}
    env = {"CRESTA_TUNING": "t.json", "CRESTA_PROFILE": str(tmp_path / "p.json")}
    done = good(run(build, "script", "allreduce=8", ranks=3, env=env, rank_folder=where))
    records = json.loads((tmp_path / "p.json").read_text())["records"]
    assert implementations(records, "allreduce") == {8: "nonblock"}
    assert not messages(done), done.stderr


def test_where_ranks_have_not_met_each_reads(build, tmp_path):
    """MPI_Init does not pass through the library, as in a program of sessions."""
    path = tuning(build, tmp_path / "t.json")
    env = {"CRESTA_TUNING": str(path), "CRESTA_LOG": "info"}
    done = good(run(build, "script", "past", "allreduce=8", env=env))
    assert "(CRESTA_TUNING=t.json: allreduce[8-1024]=nonblock)" in done.stderr, done.stderr


def test_where_ranks_have_not_met_texts_are_compared(build, tmp_path):
    folder = tmp_path / "other"
    folder.mkdir()
    tuning(build, tmp_path / "t.json")
    tuning(build, folder / "t.json", RULES[:1])
    where, env = {0: tmp_path, 1: folder}, {"CRESTA_TUNING": "t.json"}
    done = run(build, "script", "past", "allreduce=8", env=env, rank_folder=where)
    assert "the environment must be the same on all ranks" in told(done)
    assert done.stderr.count("text of CRESTA_TUNING=") == 2, done.stderr


def test_where_ranks_have_not_met_an_error_is_told_once(build, tmp_path):
    (tmp_path / "t.json").write_text("{\n oops}")
    env = {"CRESTA_TUNING": str(tmp_path / "t.json")}
    done = run(build, "script", "past", "allreduce=8", ranks=3, env=env)
    assert "t.json: line 2, column 2: expected a value, or the name of a member" in told(done)


def test_made_elsewhere_is_told_once_where_ranks_have_not_met(build, tmp_path):
    path = tuning(build, tmp_path / "t.json", cpu="Fast One")
    done = run(build, "script", "past", "allreduce=8", ranks=3, env={"CRESTA_TUNING": str(path)})
    assert len(messages(good(done))) == 1 and "is not used" in done.stderr, done.stderr


def test_a_spawned_world_reads_it_too(build, tmp_path):
    rules = [{"collective": "*", "implementation": "p2p"}]
    env = {"CRESTA_TUNING": str(tuning(build, tmp_path / "t.json", rules))}
    done = run(build, "spawn", ranks=1, env=env)
    if done.returncode == 77:
        pytest.skip("this MPI does not spawn here")
    good(done)
