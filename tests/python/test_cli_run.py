# SPDX-License-Identifier: BSD-3-Clause
"""`crestacoll run` with real programs: choice, profile, exit codes, signals."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from conftest import ROOT
from crestacoll_tools import cli
from crestacoll_tools.base import optional
from crestacoll_tools.builds import builds
from crestacoll_tools.launch import supervise
from crestacoll_tools.profile import profiles

PYTHON = sys.executable


def checksum(text):
    return re.search(r"checksum: (\S+)", text)[1]


def test_the_answer_is_the_same_and_the_profile_holds_the_calls(
    crestacoll, build, turbulence, tmp_path
):
    command = [build.launcher, "-n", "2", *turbulence, "--procs", "1x2"]
    plain = subprocess.run(
        command, capture_output=True, text=True, env=builds.clean_environment(), check=True
    )
    ran = crestacoll("run", "--impl", "*=nonblock", "--profile", "p.json", "--", *command)
    assert ran.returncode == 0, ran.stderr
    assert checksum(ran.stdout) == checksum(plain.stdout)
    data = profiles.load(tmp_path / "p.json")
    found = {(r["collective"], r["communicator"], r["implementation"]) for r in data["records"]}
    assert {("alltoall", "row", "nonblock"), ("alltoall", "col", "nonblock")} <= found
    assert os.listdir(tmp_path) == ["p.json"]


def test_it_starts_without_what_takes_long_to_load():
    words = ["import sys", "sys.path[0] = sys.argv[1]", "import crestacoll_tools.cli.run"]
    words = [PYTHON, "-c", "; ".join([*words, "print(*sys.modules)"]), str(ROOT / "python")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"hashlib", "jsonschema", "matplotlib", "numpy", "rich"}


def test_a_linked_program_needs_no_preload(crestacoll, build, turbulence, tmp_path):
    """With both, one library wrote the profile of the other."""
    program, *rest = turbulence
    if not Path(f"{program}_cresta").exists():
        pytest.skip(f"{program}_cresta is not built")
    words = [build.launcher, "-n", "2", f"{program}_cresta", *rest]
    ran = crestacoll("run", "--impl", "*=nonblock", "--profile", "p.json", "--", *words)
    assert ran.returncode == 0, ran.stderr
    records = profiles.load(tmp_path / "p.json")["records"]
    found = {(r["collective"], r["implementation"]) for r in records}
    assert ("alltoall", "nonblock") in found
    dry = crestacoll("run", "--dry-run", "--", *words)
    assert "LD_PRELOAD" not in dry.stdout


def test_rules_from_a_file_and_json_summary(crestacoll, build, turbulence, tmp_path):
    (tmp_path / "rules").write_text("# mine\nalltoall=nonblock\n*=mpi\n")
    words = [build.launcher, "-n", "1", *turbulence]
    ran = crestacoll("run", "--impl", "@rules", "--json", "s.json", "--", *words)
    assert ran.returncode == 0, ran.stderr
    summary = json.loads((tmp_path / "s.json").read_text())
    assert summary["mpi"] == build.family and "0.1.0" in summary["loaded"]
    assert f"CRESTA_IMPL=@{tmp_path}/rules" in " ".join(summary["command"]).replace(
        "CRESTA_IMPL ", "CRESTA_IMPL="
    )


@pytest.mark.parametrize(
    "options, variables, expected",
    [
        ((), {}, True),
        (("--tuning", "none"), {}, True),
        (("--impl", "*=mpi"), {}, False),
        (("--profile", "p.json"), {}, False),
        (("--report",), {}, False),
        ((), {"CRESTA_IMPL": "*=mpi"}, False),
        ((), {"CRESTA_PROFILE": "p.json"}, False),
    ],
)
def test_auto_where_nothing_else_is_asked(
    crestacoll, build, turbulence, options, variables, expected
):
    ran = crestacoll("run", "--dry-run", *options, "--", build.launcher, *turbulence, **variables)
    assert ran.returncode == 0, ran.stderr
    assert bool(re.search(r"CRESTA_IMPL[= ]auto\b", ran.stdout)) == expected, ran.stdout


@pytest.mark.parametrize("command", ["run", "explore", "bisect"])
def test_options_end_where_the_program_begins(command):
    """With and without `--`, as for mpirun."""
    found = cli.main.get_command(None, command)
    words = ["./app", "-n", "2", "--json", "--report", "--help"]
    for separator in ([], ["--"]):
        given = optional.attached(found, [*separator, *words])
        assert list(found.make_context(command, given).params["command"]) == words


def test_without_launcher(crestacoll, turbulence):
    assert crestacoll("run", "--impl", "*=nonblock", "--", *turbulence).returncode == 0


def test_srun_gets_the_rules_in_a_file(crestacoll, build, turbulence, tmp_path):
    """A stand-in for srun that does what --export says."""
    srun = tmp_path / "srun"
    srun.write_text(
        f"#!{PYTHON}\nimport os, sys\nexport = sys.argv[1].split('=', 1)[1].split(',')\n"
        "os.environ.update(dict(e.split('=', 1) for e in export if '=' in e))\n"
        "print(os.environ['CRESTA_IMPL'], open(os.environ['CRESTA_IMPL'][1:]).read())\n"
        "sys.stdout.flush()\nos.execv(sys.argv[4], sys.argv[4:])\n"
    )
    srun.chmod(0o755)
    ran = crestacoll("run", "--impl", "alltoall=nonblock,*=mpi", "--", srun, "-n", "1", *turbulence)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("@") and "alltoall=nonblock,*=mpi" in ran.stdout


def test_a_program_without_mpi_is_reported(crestacoll, build):
    ran = crestacoll("run", "--", build.launcher, "-n", "1", "true")
    assert ran.returncode == 124
    assert "no rank loaded crestacoll" in ran.stderr
    assert crestacoll("run", "--no-check", "--", build.launcher, "-n", "1", "true").returncode == 0


def test_the_wrong_launcher_is_reported(crestacoll, build, turbulence):
    others = [b for b in builds.all_builds() if b.family != build.family]
    if not others:
        pytest.skip("only one MPI is built")
    ran = crestacoll("run", "--", others[0].launcher, "-n", "2", *turbulence)
    assert ran.returncode == 125 and "every rank would run alone" in ran.stderr


def test_exit_codes_are_kept(crestacoll, build):
    ran = crestacoll("run", "--", build.launcher, "-n", "1", "sh", "-c", "exit 7")
    assert ran.returncode == 7
    ran = crestacoll("run", "--mpi", build.family, "--", "sh", "-c", "kill -9 $$")
    assert ran.returncode == 128 + 9


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["run", "--", "no-such-command"], 127, "not found"),
        (["run", "--impl", "@none", "--", "mpirun", "true"], 2, "no file none"),
        (["run", "--profile", "no/p.json", "--", "mpirun", "true"], 2, "no such folder"),
        (["run"], 2, "Missing argument"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_mistakes_are_explained(crestacoll, words, code, said):
    if not builds.all_builds():
        pytest.skip("nothing is built")
    ran = crestacoll(*words)
    assert ran.returncode == code
    assert said in ran.stderr and "Traceback" not in ran.stderr


def runs_sleep(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"sleep\0")
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_the_program(number, tmp_path, build):
    words = [ROOT / "bin" / "crestacoll", "run", "--mpi", build.family, "--", "sleep", "30"]
    # What runs in the background of a script ignores SIGINT, and so does all that it starts.
    heard = partial(signal.signal, number, signal.SIG_DFL)
    with subprocess.Popen(
        words,
        cwd=tmp_path,
        env=builds.clean_environment(),
        start_new_session=True,
        preexec_fn=heard,
    ) as job:
        children = Path(f"/proc/{job.pid}/task/{job.pid}/children")
        while job.poll() is None and not any(map(runs_sleep, children.read_text().split())):
            time.sleep(0.05)
        job.send_signal(number)
        assert job.wait() == 128 + number
    assert os.listdir(tmp_path) == []


def test_supervised_exit_codes():
    assert supervise.run(["sh", "-c", "exit 3"], dict(os.environ)) == 3
    assert supervise.run(["sh", "-c", "kill -TERM $$"], dict(os.environ)) == 143


def test_through_a_symbolic_link(tmp_path):
    link = tmp_path / "cc"
    link.symlink_to(ROOT / "bin" / "crestacoll")
    done = subprocess.run([link, "--version"], cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout.startswith("crestacoll")


def test_without_venv_it_says_what_to_do(tmp_path):
    (tmp_path / "bin").mkdir()
    copy = tmp_path / "bin" / "crestacoll"
    copy.write_text((ROOT / "bin" / "crestacoll").read_text())
    copy.chmod(0o755)
    done = subprocess.run([copy, "info"], capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "make setup" in done.stderr


def test_off(crestacoll, build, turbulence, tmp_path):
    """It says so, once, and starts what stands there; others leave the variable out."""
    words = [build.launcher, "-n", "2", *turbulence, "--procs", "1x2"]
    options = ["--impl", "*=no_such", "--json", "s.json"]
    ran = crestacoll("run", *options, "--", *words, CRESTA_OFF="1")
    assert ran.returncode == 0 and checksum(ran.stdout), ran.stderr
    assert ran.stderr.count("crestacoll:") == 1 and "CRESTA_OFF=1 is set" in ran.stderr
    summary = json.loads((tmp_path / "s.json").read_text())
    assert summary["command"] == [str(w) for w in words] and summary["library"] is None
    said = crestacoll("explain", "allreduce", "-n", "4", CRESTA_OFF="1")
    assert said.returncode == 0 and "CRESTA_OFF=1 is left out" in said.stderr
