# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll check`: what is right passes, what is wrong is reported, nothing runs instead."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import giving_way
from crestacoll_tools.bench import checkjob
from crestacoll_tools.builds.builds import Build
from crestacoll_tools.cli import check

pytestmark = pytest.mark.by_turns

LANGUAGES = ["C", "Fortran"]


@pytest.fixture
def crestacoll(in_process):
    """Its jobs are processes all the same."""
    return in_process


def test_fine(crestacoll, build):
    words = "check allreduce,gatherv --impl nonblock,shm -n 2,3 --seconds 0.1 --mpi".split()
    ran = crestacoll(*words, build.name, "--json=c.json")
    assert ran.returncode == 0, ran.stderr + ran.stdout
    lines = [line.split() for line in ran.stdout.splitlines()]
    for name in "mpi", "nonblock", "shm":
        assert [name, "fine", "2"] in [line[:3] for line in lines]
    assert "Error" not in ran.stdout


def test_everything_is_tried_and_counted(crestacoll, build):
    words = "check scatter,exscan --impl mpi,p2p --seconds 0.1 --json --mpi".split()
    data = json.loads(crestacoll(*words, build.name).stdout)
    found = data["builds"][0]["verdicts"]
    cells = {(v["language"], v["ranks"], v["collective"], v["implementation"]) for v in found}
    spoken = checkjob.languages(build)
    assert len(cells) == len(found) == len(spoken) * 2 * 2 * 2
    assert all(v["status"] == "fine" and v["calls"] > 0 and v["refused"] == 0 for v in found)


def test_what_cannot_run_is_told_and_does_not_pass(crestacoll, build):
    """Swing wants a power of two: no algorithm runs under its name."""
    words = "check allreduce --impl p2p:swing -n 3 --seconds 0.1 --mpi".split()
    ran = crestacoll(*words, build.name, "--json=c.json")
    assert ran.returncode == 0
    line = next(li for li in ran.stdout.splitlines() if li.startswith("p2p:swing"))
    assert line.split()[:5] == ["p2p:swing", "not", "here", "0", "0"]
    assert "needs a power of two of processes; p2p runs instead" in ran.stdout


def test_calls_that_are_refused_are_counted(crestacoll, build):
    """A ring needs an operation that commutes: the others pass, these are not counted as right."""
    words = "check allreduce --impl p2p:ring -n 2 --seconds 5 --language c --json --mpi".split()
    data = json.loads(crestacoll(*words, build.name).stdout)
    ring = next(v for v in data["builds"][0]["verdicts"] if v["implementation"] == "p2p:ring")
    assert ring["status"] == "fine" and 0 < ring["refused"] < ring["calls"]
    assert ring["why"] == "needs a commutative operation"


def test_each_algorithm_has_its_own_reason(crestacoll, build):
    words = "check reduce --impl p2p:chain,p2p:rabenseifner,p2p:binomial -n 3 --seconds 3".split()
    data = json.loads(crestacoll(*words, "--language", "c", "--json", "--mpi", build.name).stdout)
    found = {v["implementation"]: v["why"] for v in data["builds"][0]["verdicts"]}
    assert found["p2p:chain"] == "needs a commutative operation or the first rank as root"
    assert found["p2p:rabenseifner"] == "needs a commutative operation or the last rank as root"
    assert found["p2p:binomial"] == found["mpi"] == ""


def test_a_failing_operation_is_an_error(crestacoll, build):
    """The second: a machine that has no time for more problems comes to it, too."""
    words = "check alltoallv --impl p2p -n 2 --seconds 0.1 --timeout 15 --mpi".split()
    ran = crestacoll(*words, build.name, CRESTA_DEBUG="fail=2")
    assert ran.returncode == 1
    assert "Error in CRESTA_Alltoallv: p2p, rank " in ran.stdout
    assert "Error in CRESTA_Alltoallv: p2p, Fortran" in ran.stdout
    assert "Error in CRESTA_Alltoallv: mpi" not in ran.stdout


@pytest.fixture
def wrong(build, monkeypatch):
    """Runs `check` with the programs of tests/mpi/wrong.c; (exit code, output, verdicts)."""
    named = {"crestacoll-check": "wrong-check", "crestacoll-check-fortran": "wrong-check-fortran"}
    folder = build.folder / "tests" / "bin"
    if not (folder / "wrong-check").exists():
        pytest.skip(f"{build.name} is built without tests")
    real = Build.program

    def program(self, name):
        return folder / named[name] if name in named else real(self, name)

    monkeypatch.setattr(Build, "program", program)

    def run(collective, implementation, *more):
        words = [collective, "--impl", implementation, "-n", "2", "--mpi", build.name, *more]
        words += ["--seconds", "0.1", "--timeout", "3", "--json=c.json"]
        with CliRunner().isolated_filesystem() as scratch:
            done = CliRunner(env=giving_way()).invoke(check.command, words)
            data = json.loads((Path(scratch) / "c.json").read_text())
        return done.exit_code, done.output, data["builds"][0]["verdicts"]

    return run


@pytest.mark.parametrize(
    "collective, implementation, found",
    [
        ("alltoallv", "p2p:pairwise", "receive buffer"),  # wrong data
        ("bcast", "p2p:chain", "no end"),  # hangs
        ("scan", "p2p:linear", ""),  # breaks off
        ("gather", "p2p:linear", "return code"),  # fails
    ],
)
def test_what_is_wrong_is_told(wrong, collective, implementation, found):
    code, output, verdicts = wrong(collective, implementation)
    assert code == 1
    start = f"Error in CRESTA_{collective.capitalize()}: {implementation}, "
    assert f"\n{start}" in output
    errors = {lang: [] for lang in LANGUAGES}
    for v in verdicts:
        errors[v["language"]] += v["errors"]
        assert v["status"] == ("fine" if v["implementation"] == "mpi" else "wrong"), v
    for language in LANGUAGES:
        mine = [e for e in errors[language] if e.startswith(start) and found in e]
        assert mine, errors
        assert ("Fortran" in mine[0]) == (language == "Fortran")


def test_what_comes_after_is_still_checked(wrong):
    """Jobs that hang, break off or end early are followed by others."""
    impl = "bcast=p2p:chain,scan=p2p:linear,gather=p2p:linear,p2p:binomial,nonblock"
    code, _, verdicts = wrong("bcast,gather,scan", impl, "--language", "c")
    assert code == 1
    status = {(v["collective"], v["implementation"]): v["status"] for v in verdicts}
    broken = {("bcast", "p2p:chain"), ("scan", "p2p:linear"), ("gather", "p2p:linear")}
    assert {cell for cell, s in status.items() if s == "wrong"} == broken
    fine = {cell for cell, s in status.items() if s == "fine"}
    assert {("scan", "nonblock"), ("bcast", "p2p:binomial"), ("gather", "mpi")} <= fine


def test_the_program_alone(build):
    """Without Python: exit code and words are the same."""
    program = build.program("crestacoll-check")
    shown = subprocess.run([program, "--list", "--all"], capture_output=True, text=True, check=True)
    listed = [line.removeprefix("trying: ") for line in shown.stdout.splitlines()]
    for m in build.description["models"]:
        for collective, algorithms in m["algorithms"].items():
            for a in algorithms if m["works"] else []:
                assert f"{collective}={m['name']}:{a['name']}" in listed
    for words in ["--impl", "nonsense"], ["--collectives", "nonsense"], ["--nonsense"]:
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "nonsense" in done.stderr


@pytest.mark.parametrize(
    "words, said",
    [
        (["check", "nonsense"], "no collective 'nonsense'"),
        (["check", "bcast", "--impl", "nonsense"], "no implementation 'nonsense'"),
        (["check", "--impl", "p2p", "--all"], "exclude each other"),
        (["check", "-n", "0"], "numbers from 1 to 64"),
        (["check", "--mpi", "nonsense"], "no build for 'nonsense'"),
    ],
)
def test_mistakes_are_explained(crestacoll, build, words, said):
    ran = crestacoll(*words)
    assert ran.returncode == 2 and said in ran.stderr


def test_lines_become_verdicts():
    job = checkjob.Job(None, "Fortran", 2)
    listener = checkjob.Listener(job, lambda: None)
    heard = [
        "trying: bcast=p2p",
        "fine: bcast=p2p: 12 calls, 3 refused",
        "not here: scan=os: no window (p2p runs instead)",
        "trying: gather=p2p:a?b=1&c=2",
        "Error in CRESTA_Gather: p2p:a?b=1&c=2, Fortran, rank 1, and so on",
        "left out: a fault",
    ]
    assert all(listener.hear(line) for line in heard) and not listener.hear("noise of an MPI")
    listener.broke_off(139)
    fine, absent, wrong = listener.verdicts
    assert (fine.calls, fine.refused, fine.status) == (12, 3, "fine")
    assert (absent.why, absent.instead) == ("no window", "p2p")
    assert (wrong.collective, wrong.implementation) == ("gather", "p2p:a?b=1&c=2")
    assert wrong.errors[0] == heard[4] and "139" in wrong.errors[1]
    assert listener.left_out == ["a fault"]
