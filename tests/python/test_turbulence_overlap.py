# SPDX-License-Identifier: BSD-3-Clause
"""The turbulence code with transposes that travel while other fields are transformed."""

import re
import subprocess

import pytest
from crestacoll_tools.bench import benchjob
from crestacoll_tools.builds import builds

pytestmark = pytest.mark.by_turns

GRID = ["--grid", "16x18x8", "--steps", "3", "--procs", "1x2"]


def run(build, name, *words, **variables):
    program = build.program(name)
    if not program.exists():
        pytest.skip(f"{program} is not built")
    command = [*benchjob.launch_words(build, 2), str(program), *GRID, *words]
    env = builds.clean_environment(**variables)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=True)
    return re.search(r"checksum: (\w+)", done.stdout)[1], done.stdout


@pytest.mark.parametrize("name", ["turbulence", "turbulence_cresta"])
def test_overlap_changes_no_bit(build, name):
    checksum, text = run(build, name)
    assert "time_alltoall" in text
    for variables in (
        {},
        {"CRESTA_ASYNC": "thread"},
        {"CRESTA_ASYNC": "thread", "CRESTA_IMPL": "*=p2p"},
        {"CRESTA_ASYNC": "thread", "CRESTA_IMPL": "*=os", "CRESTA_PROTECTED_BUFFER": "1"},
    ):
        overlapped, text = run(build, name, "--overlap", **variables)
        assert overlapped == checksum, variables
        assert "time_begin_" in text and "time_alltoall" not in text
