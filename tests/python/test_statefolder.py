# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a long command: one process works in it at a time."""

import subprocess
import sys

import pytest
from crestacoll_tools.base import statefolder
from crestacoll_tools.base.ui import Problem

HOLDER = """
import sys, time
from crestacoll_tools.explore import state
held = state.new(sys.argv[1], ["a"], {})
print("there", flush=True)
time.sleep(600)
"""


class Folder(statefolder.StateFolder):
    SCHEMA, HOLDS = "crestacoll-explore-1", "an exploration"


@pytest.fixture
def other(tmp_path):
    """A process that works in tmp_path/x."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "x")],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert process.stdout.readline() == b"there\n"
    yield process
    process.kill()
    process.communicate()


def test_two_processes_do_not_share_a_folder(other, tmp_path):
    for open_it in (Folder.resumed, lambda folder: Folder.new(folder, {})):
        with pytest.raises(Problem, match=f"process {other.pid} on .* is working in") as found:
            open_it(tmp_path / "x")
        assert found.value.exit_code == 2


def test_a_killed_process_leaves_its_folder(other, tmp_path):
    other.kill()
    other.wait()
    with Folder.resumed(tmp_path / "x") as found:
        assert found.data["command"] == ["a"]


def test_what_is_no_folder_of_the_kind_stays_as_it_is(tmp_path):
    with pytest.raises(Problem, match="nothing to resume"):
        Folder.resumed(tmp_path / "y")
    assert not (tmp_path / "y").exists()
