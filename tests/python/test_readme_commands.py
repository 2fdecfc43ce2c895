# SPDX-License-Identifier: BSD-3-Clause
"""The README's table of questions: its commands as they stand there, and what a reader sees first.
Those that take longer are run by the tests that the page's marks name.
"""

import os
import re
import subprocess

import pytest
from conftest import ROOT, giving_way
from library_runs import AS_ROOT

from crestacoll import builds, tuning

ROWS = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and "`bin/crestacoll" in line]
COMMANDS = [c for row in ROWS for c in re.findall(r"`(bin/crestacoll [^`]+)`", row)]
# The begin of a command, and what its first screen has to show.
SHOWN = {
    "info": ["MPIs found", r"mpi +yes", r"shm +yes", "environment variables"],
    "run --validate": ["validate: "],
    "run --io": ["MPI-IO"],
    "run --watchdog 60": [],
    "tuning check FILE": ["would use 1 rule$"],
    "tuning show FILE": ["allreduce +.* nonblock"],
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A folder with bin/crestacoll, a program and a tuning file, and a reader's environment."""
    build = (builds.all_builds() or pytest.skip("nothing is built"))[0]
    at = tmp_path_factory.mktemp("reader")
    (at / "path").mkdir()
    (at / "bin").mkdir()
    (at / "bin/crestacoll").symlink_to(ROOT / "bin/crestacoll")
    more = "--oversubscribe" if build.family == "openmpi" else ""
    (at / "path/mpirun").write_text(f'#!/bin/sh\nexec {build.launcher} {more} "$@"\n')
    (at / "path/mpirun").chmod(0o755)
    program = [build.cache["MPI_C_COMPILER"], ROOT / "tests/package/plain_sum.c", "-o"]
    subprocess.run([*program, at / "your_program"], check=True)
    rule = {"collective": "allreduce", "implementation": "nonblock"}
    tuning.write(at / "FILE", tuning.head(build.description["mpi"]["library"]), [rule])
    path = f"{at / 'path'}{os.pathsep}{os.environ['PATH']}"
    return at, builds.clean_environment(PATH=path, **AS_ROOT, **giving_way())


def test_the_table_has_them():
    for start in SHOWN:
        assert sum(c.startswith(f"bin/crestacoll {start}") for c in COMMANDS) == 1, start


@pytest.mark.parametrize("start", SHOWN)
def test_a_reader_sees(start, reader):
    at, environment = reader
    text = next(c for c in COMMANDS if c.startswith(f"bin/crestacoll {start}"))
    done = subprocess.run(["bash", "-c", text], cwd=at, env=environment, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=600, check=False)
    screen = done.stdout + done.stderr
    assert done.returncode == 0, screen
    for pattern in SHOWN[start]:
        assert re.search(pattern, screen, re.MULTILINE), f"no {pattern} in:\n{screen}"
    assert "Traceback" not in screen and " no: " not in screen, screen
