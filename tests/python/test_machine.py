# SPDX-License-Identifier: BSD-3-Clause
"""Whether other programs use the cores."""

import subprocess
import sys

import pytest
from crestacoll_tools.builds import machine
from crestacoll_tools.explore import words


@pytest.mark.quiet
def test_a_busy_loop_is_seen():
    if machine.core_ticks() is None:
        pytest.skip("no /proc/stat")
    others = machine.Others()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as loop:
        others.look()
        loop.kill()
    assert machine.is_shared(others.found())


@pytest.mark.parametrize(
    "others, shared",
    [
        (None, False),
        ({"busy": None, "stolen": 0.01}, False),
        ({"busy": 0.02, "stolen": None}, False),
        ({"busy": 0.5, "stolen": 0.0}, True),
        ({"busy": None, "stolen": 0.2}, True),
    ],
)
def test_shared_is_said_in_words(others, shared):
    assert machine.is_shared(others) == shared
    lines = words.shared({"others": others})
    assert bool(lines) == shared and all("The machine is shared: " in li for li in lines)
