# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll tuning`, and `crestacoll run` with tuning files."""

import json

import pytest
from crestacoll_tools.builds import builds
from crestacoll_tools.rules import tuning

pytestmark = pytest.mark.by_turns

RULES = [
    {
        "collective": "alltoall",
        "bytes": [0, 4096],
        "implementation": "nonblock",
        "changes_rounding": True,
        "note": "by hand",
        "earned": {"arms": ["mpi", "p2p"], "blocks": 12, "gain": 0.125, "low": 0.1, "high": 0.15},
    },
    {"collective": "*", "communicator": "row", "implementation": "nonblock"},
]


def made(build, path, rules=RULES, **head):
    ours = tuning.head(build.description["mpi"]["library"])
    tuning.write(path, ours | head, rules)
    return path


def test_check(in_process, build, tmp_path):
    made(build, tmp_path / "t.json")
    ran = in_process("tuning", "check", "t.json", "--mpi", build.name)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout == f"{build.name}: would use 2 rules\n"


def test_check_says_what_never_wins(in_process, build, tmp_path):
    rules = [RULES[1], {"collective": "bcast", "communicator": "row", "implementation": "p2p"}]
    made(build, tmp_path / "t.json", rules)
    ran = in_process("tuning", "check", "t.json", "--mpi", build.name)
    assert ran.returncode == 0
    assert "never wins: bcast@row=p2p, because of *@row=nonblock\n" in ran.stdout


def test_check_of_a_file_from_elsewhere(in_process, build, tmp_path):
    rules = [{"collective": "bcast", "implementation": "hypercube"}]
    made(build, tmp_path / "t.json", rules, mpi="Other MPI 7")
    ran = in_process("tuning", "check", "t.json", "--mpi", build.name)
    assert ran.returncode == 0, "it is not used, and harms nobody"
    assert "would not use it: it was made for Other MPI 7, and this is" in ran.stdout
    assert "force:FILE would fail: t.json: line " in ran.stdout and "hypercube" in ran.stdout


def test_check_finds_what_ranks_would(in_process, build, tmp_path):
    made(build, tmp_path / "t.json", [{"collective": "bcast", "implementation": "hypercube"}])
    ran = in_process("tuning", "check", "t.json", "--json", "--mpi", build.name)
    data = json.loads(ran.stdout)
    assert ran.returncode == 1 and len(data["problems"]) == 1
    assert "no implementation" in data["problems"][0] and "line " in data["problems"][0]


@pytest.mark.parametrize("text, said", [("{", "line 1, column 2"), ("[]", "expected an object")])
def test_check_of_no_tuning_file(in_process, build, tmp_path, text, said):
    (tmp_path / "t.json").write_text(text)
    ran = in_process("tuning", "check", "t.json", "--mpi", build.name)
    assert ran.returncode == 1 and said in ran.stdout and "Traceback" not in ran.stderr


def test_show(in_process, build, tmp_path):
    made(build, tmp_path / "t.json")
    ran = in_process("tuning", "show", "t.json")
    assert ran.returncode == 0, ran.stderr
    first, *_, one, other = ran.stdout.splitlines()
    assert first.startswith("made on ") and tuning.read(tmp_path / "t.json")["head"]["mpi"] in first
    assert one.split()[:5] == ["1", "alltoall", "0-4K", "all", "all"]
    assert "12.5%" in one and "10.0% to 15.0%" in one and "mpi, p2p" in one
    assert "other rounding; by hand" in one
    assert other.split() == ["2", "*", "all", "all", "row", "nonblock", "-", "-", "-", "-"]


def test_diff(in_process, build, tmp_path):
    made(build, tmp_path / "a.json")
    made(build, tmp_path / "b.json", [RULES[0] | {"implementation": "shm"}])
    assert in_process("tuning", "diff", "a.json", "a.json").returncode == 0
    ran = in_process("tuning", "diff", "a.json", "b.json", "--json")
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["differences"] == [
        {"point": ["alltoall", "0-4K", "all", "all"], "a": "nonblock", "b": "shm"},
        {"point": ["*", "all", "all", "row"], "a": "nonblock", "b": None},
    ]
    assert len(in_process("tuning", "diff", "a.json", "b.json").stdout.splitlines()) == 3


def test_merge(in_process, build, tmp_path):
    made(build, tmp_path / "a.json")
    made(build, tmp_path / "b.json", [RULES[0] | {"implementation": "shm"},
                                      {"collective": "alltoall", "implementation": "os"}])
    ran = in_process("tuning", "merge", "a.json", "b.json", "-o", "c.json")
    assert ran.returncode == 0, ran.stderr
    assert "left out of b.json: alltoall[0-4K]=shm\n" in ran.stdout
    assert "overlap: alltoall[0-4K]=nonblock wins over alltoall=os\n" in ran.stdout
    assert "overlap: *@row=nonblock wins over alltoall=os\n" in ran.stdout
    rules = tuning.read(tmp_path / "c.json")["rules"]
    assert [r["implementation"] for r in rules] == ["nonblock", "nonblock", "os"]


def test_merge_for_different_mpis(in_process, build, tmp_path):
    made(build, tmp_path / "a.json")
    made(build, tmp_path / "b.json", mpi="Other MPI 7")
    ran = in_process("tuning", "merge", "a.json", "b.json", "-o", "c.json")
    assert ran.returncode == 125 and "different machines or MPIs" in ran.stderr
    assert not (tmp_path / "c.json").exists()


def used(crestacoll, build, turbulence, *options, **variables):
    """The implementations of a run, and what it said."""
    words = [build.launcher, "-n", "2", *turbulence, "--procs", "1x2"]
    ran = crestacoll("run", "--profile", "p.json", *options, "--", *words, **variables)
    return ran


def implementations(tmp_path):
    records = json.loads((tmp_path / "p.json").read_text())["records"]
    return {r["implementation"] for r in records if r["collective"] == "alltoall"}


def test_run_with_a_file(crestacoll, build, turbulence, tmp_path):
    made(build, tmp_path / "t.json", [{"collective": "*", "implementation": "nonblock"}])
    ran = used(crestacoll, build, turbulence, "--tuning", "t.json", "--json", "s.json")
    assert ran.returncode == 0, ran.stderr
    assert implementations(tmp_path) == {"nonblock"}
    assert json.loads((tmp_path / "s.json").read_text())["tuning"] == str(tmp_path / "t.json")


def test_run_finds_a_file(crestacoll, build, turbulence, tmp_path):
    made(build, tmp_path / "crestacoll.json", [{"collective": "*", "implementation": "nonblock"}])
    ran = used(crestacoll, build, turbulence)
    assert ran.returncode == 0 and implementations(tmp_path) == {"nonblock"}, ran.stderr
    assert f"crestacoll: tuning file {tmp_path}/crestacoll.json" in ran.stderr
    ran = used(crestacoll, build, turbulence, "--tuning", "none")
    assert ran.returncode == 0 and implementations(tmp_path) == {"mpi"}, ran.stderr
    assert "tuning" not in ran.stderr


def test_run_prefers_what_it_is_told(crestacoll, build, turbulence, tmp_path):
    for name, implementation in (("crestacoll", "shm"), ("mine", "p2p"), ("theirs", "nonblock")):
        rules = [{"collective": "*", "implementation": implementation}]
        made(build, tmp_path / f"{name}.json", rules, mpi="Other MPI 7")
    theirs = {"CRESTA_TUNING": f"force:{tmp_path}/theirs.json"}
    ran = used(crestacoll, build, turbulence, **theirs)
    assert ran.returncode == 0 and implementations(tmp_path) == {"nonblock"}, ran.stderr
    ran = used(crestacoll, build, turbulence, "--tuning", "force:mine.json", **theirs)
    assert ran.returncode == 0 and implementations(tmp_path) == {"p2p"}, ran.stderr
    ran = used(crestacoll, build, turbulence, "--tuning", "mine.json")
    assert ran.returncode == 0 and implementations(tmp_path) == {"mpi"}, ran.stderr
    assert "made for Other MPI 7, and this is" in ran.stderr, "and a warning"


def test_run_without_a_file_sets_nothing(crestacoll, build, turbulence, tmp_path):
    words = [build.launcher, "-n", "1", *turbulence]
    ran = crestacoll("run", "--dry-run", "--", *words, XDG_CONFIG_HOME=str(tmp_path))
    assert ran.returncode == 0 and "CRESTA_TUNING" not in ran.stdout and ran.stderr == ""


def test_run_with_no_such_file(crestacoll):
    if not builds.all_builds():
        pytest.skip("nothing is built")
    ran = crestacoll("run", "--tuning", "none.json", "--", "mpirun", "true")
    assert ran.returncode == 2 and "no tuning file none.json" in ran.stderr
