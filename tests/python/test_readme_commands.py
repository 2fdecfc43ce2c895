# SPDX-License-Identifier: BSD-3-Clause
"""The README's table of questions: its commands as they stand there, and what a reader sees first.

What would take minutes gets a smaller --budget, or, where there is none, fewer repetitions of all
that it does; with `--in-full` (make nightly) each command is as it stands there.
"""

import json
import os
import re
import subprocess
import time

import pytest
from conftest import ROOT, giving_way
from crestacoll_tools.builds import builds
from crestacoll_tools.rules import tuning
from library_runs import AS_ROOT
from spoilt import RULES, Spoilt
from test_cli_simulate import MACHINE

ROWS = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and "`bin/crestacoll" in line]
COMMANDS = [c for row in ROWS for c in re.findall(r"`(bin/crestacoll [^`]+)`", row)]
# The begin of a command, and what its first screen has to show.
SHOWN = {
    "info": ["MPIs found", r"mpi +yes", r"shm +yes", "environment variables"],
    "explore": ["time step|Not enough time|No choice", r"nonblock"],
    "bench": [r"# crestacoll .* bench", "alltoall", r"^ +8 +shm +[0-9.]+"],
    "run --validate": ["validate: ", "sum "],
    "check": ["2 and 3 ranks, C", *(rf"^{m} +fine" for m in ("mpi", "nonblock", "p2p", "shm"))],
    "bisect": ["No setting is to blame: with all of them the program gives the right answer"],
    "reproduce FILE": ["no difference here"],
    "overlap": ["overlap of three definitions", "nonblock: ", "p2p: "],
    "explain": ["allreduce", "mpi"],
    "tune ": [r"tuning\.json|Nothing was measured", "Not enough time|No implementation"],
    "tuning check FILE": ["would use 1 rule$"],
    "tuning show FILE": ["allreduce +.* nonblock"],
    "place": ["4 ranks on"],
    "run --io": ["MPI-IO", "your_data|16.0 KiB|16 KiB"],
    "simulate": ["simulated, machine a test", "allreduce of .* 4096 ranks", "p2p:ring"],
    "atomics": ["mpi/crestacoll", r"fetch_and_op +one", r"fetch_and_op +all"],
    "threads": ["threads", *(rf" {m} +8 " for m in ("mpi", "shm", "p2p"))],
    "harness": ["64K"],
    "run --watchdog 60": ["sum "],
    "autopsy": ["4 of 4 ranks did not come to the end of MPI_Finalize", r"your_program[.+]",
                "The last calls of rank", "time of a rank"],
}
# What is added here to those that take longer: a budget. Those without one do all that they do by
# default, with each implementation under each MPI, but less often: check one collective in few
# cases (10 s of processors, all of them take minutes), atomics two batches, threads one turn (2 s).
SHORTER = {
    "explore": "--budget 12s",
    "bench": "--budget 4",
    "check": "allreduce --seconds 0.01",
    "overlap": "--budget 4",
    "tune ": "--budget 14s",
    "atomics": "--batches 2",
    "threads": "--turns 1 --ms 1",
    "harness": "--budget 2",
}
NOTHING = "nothing was measured of"  # beside much else: bench says so, and ends with 125
DEADLINE_S = 600


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A folder with bin/crestacoll and a program, and a reader's environment."""
    build = (builds.all_builds() or pytest.skip("nothing is built"))[0]
    at = tmp_path_factory.mktemp("reader")
    (at / "path").mkdir()
    (at / "bin").mkdir()
    (at / "bin/crestacoll").symlink_to(ROOT / "bin/crestacoll")
    more = "--oversubscribe" if build.family == "openmpi" else ""
    (at / "path/mpirun").write_text(f'#!/bin/sh\nexec {build.launcher} {more} "$@"\n')
    (at / "path/mpirun").chmod(0o755)
    program = [build.cache["MPI_C_COMPILER"], ROOT / "tests/python/your_program.c", "-o"]
    subprocess.run([*program, at / "your_program"], check=True)
    path = f"{at / 'path'}{os.pathsep}{os.environ['PATH']}"
    return build, at, builds.clean_environment(PATH=path, **AS_ROOT, **giving_way())


def run(reader, text, **variables):
    _, at, environment = reader
    done = subprocess.run(["bash", "-c", text], cwd=at, env=environment | variables,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=None if "30m" in text else DEADLINE_S, check=False)
    return done.returncode, done.stdout + done.stderr


def written(start):
    return next(c for c in COMMANDS if c.startswith(f"bin/crestacoll {start}"))


def make_input(reader, start):
    """The file that the command of the table reads."""
    build, at, _ = reader
    if start.startswith("tuning"):
        rule = {"collective": "allreduce", "implementation": "nonblock"}
        tuning.write(at / "FILE", tuning.head(build.description["mpi"]["library"]), [rule])
    elif start == "simulate":
        (at / "FILE").write_text(json.dumps(MACHINE))
    elif start == "reproduce FILE":
        spoilt = Spoilt(build, at)
        spoilt("run", "--impl", RULES, "--validate", "0.01", "--", *spoilt.program(steps=2))
        (at / "FILE").write_bytes((spoilt.folder / "crestacoll-difference-alltoall-1").read_bytes())
    elif start == "autopsy":
        make_a_job_die(reader)
    elif " p.json" in written(start):
        command = "bin/crestacoll run --profile p.json -- mpirun -n 4 ./your_program"
        code, told = run(reader, command)
        assert code == 0, told


def make_a_job_die(reader):
    """At a time limit, once all of its ranks are on their way."""
    _, at, _ = reader
    command = "bin/crestacoll run --profile p.json -- mpirun -n 4 ./your_program"
    for seconds in (4, 30, 200):
        text = f"timeout {seconds} {command}"
        _, told = run(reader, text, YOUR_PROGRAM_WAITS=str(at / "never"))
        if "4 of 4 ranks did not come" in told:
            return
    raise AssertionError(told)


def shortened(start):
    """The command of the table, with less time or less to do."""
    text = re.sub(r" --budget \S+", "", written(start))
    option = f" {SHORTER[start]}"
    return text.replace(" -- ", f"{option} -- ") if " -- " in text else text + option


def test_the_table_has_them():
    for start in SHOWN:
        assert sum(c.startswith(f"bin/crestacoll {start}") for c in COMMANDS) == 1, start
    assert set(SHORTER) <= set(SHOWN)
    others = [c for c in COMMANDS if not c.startswith(
        tuple(f"bin/crestacoll {start}" for start in [*SHOWN, "hang"]))]
    assert not others


@pytest.mark.parametrize("start", SHOWN)
def test_a_reader_sees(start, reader, request):
    in_full = request.config.getoption("--in-full", default=False)
    make_input(reader, start)
    is_shorter = start in SHORTER and not in_full
    code, screen = run(reader, shortened(start) if is_shorter else written(start))
    assert code == (125 if start == "bench" and NOTHING in screen else 0), screen
    for pattern in SHOWN[start]:
        assert re.search(pattern, screen, re.MULTILINE), f"no {pattern} in:\n{screen}"
    assert "Traceback" not in screen and " no: " not in screen, screen


def test_a_reader_asks_a_job_that_hangs(reader):
    """`hang PID`, beside the command of the same row, until each rank is where it stays."""
    _, at, environment = reader
    waits = environment | {"YOUR_PROGRAM_WAITS": str(at / "go on")}
    job = subprocess.Popen(["bash", "-c", f"exec {written('run --watchdog 60')}"], cwd=at,
                           env=waits, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    end, told = time.monotonic() + DEADLINE_S, ""
    try:
        while "ranks 0,2-3 wait in MPI_Alltoall" not in told and time.monotonic() < end:
            _, told = run(reader, written("hang PID").replace("PID", str(job.pid)))
            assert job.poll() is None, job.stdout.read()
    finally:
        (at / "go on").touch()
    said, _ = job.communicate(timeout=DEADLINE_S)
    assert job.returncode == 0 and "sum " in said, said
    assert "ranks 0,2-3 wait in MPI_Alltoall" in told and "rank 1" in told, told
