# SPDX-License-Identifier: BSD-3-Clause
"""Standard input: every run of a program gets the same."""

import subprocess
import sys

CODE = """
import sys
from pathlib import Path
from crestacoll_tools.explore import given, runs
here = Path(sys.argv[1])
given.MOST = int(sys.argv[2])
code = "import sys; print(len(sys.stdin.read()))" if sys.argv[3] == "all" else "print(len(input()))"

class Job:
    def with_settings(self, settings):
        return [sys.executable, "-c", code], settings

stdin = given.Input(here)
for name in ("a", "b", "c"):
    runs.run(Job(), {}, here / name, 60, stdin=stdin)
print(*((here / name / "stdout").read_text().strip() for name in ("a", "b", "c")))
"""


def run(folder, most="1000000", reads="all", **stdin):
    return subprocess.run(
        [sys.executable, "-c", CODE, folder, most, reads],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **stdin,
    )


def test_what_comes_by_a_pipe_comes_to_each_run(tmp_path):
    """More than a pipe holds."""
    assert run(tmp_path, input="x" * 300_000).stdout == "300000 300000 300000\n"


def test_a_pipe_that_nobody_closes(tmp_path):
    """The first run is not kept waiting for the end of what it has read."""
    with subprocess.Popen(["sh", "-c", "echo hello; exec sleep 600"], stdout=subprocess.PIPE) as p:
        ran = run(tmp_path, reads="line", stdin=p.stdout)
        p.kill()
    assert ran.stdout == "5 5 5\n"


def test_a_file_is_read_from_its_beginning(tmp_path):
    (tmp_path / "in").write_text("abc")
    with open(tmp_path / "in", encoding="utf-8") as file:
        assert run(tmp_path, stdin=file).stdout == "3 3 3\n"


def test_too_much_to_keep_is_refused(tmp_path):
    ran = run(tmp_path, most="100000", input="x" * 300_000)
    assert ran.returncode != 0 and "put it into a file" in ran.stderr


def test_nothing(tmp_path):
    assert run(tmp_path, stdin=subprocess.DEVNULL).stdout == "0 0 0\n"
