# SPDX-License-Identifier: BSD-3-Clause
"""crestacoll installed from a wheel: its libraries are in the package, one folder for each binary
interface of MPI, and which of them fits an MPI library is found out by loading both.
"""

from __future__ import annotations

import functools
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

LIB = Path(__file__).parent / "lib"
PRELOAD = LIB / "libcrestacoll-preload.so"  # chooses in the process: wheel/front.c
START = LIB / "crestacoll-start"


def is_wheel() -> bool:
    return PRELOAD.exists()


@dataclass(frozen=True)
class Fit:
    """What crestacoll-start says of a library: the interface that fits, and the MPI's version; or
    why none fits.
    """

    interface: str = ""
    version: str = ""
    why: str = ""


@functools.cache
def fit(library: str) -> Fit:
    """Which of our libraries fits an MPI library."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CRESTA_")}
    try:
        done = subprocess.run(
            [START, library],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="backslashreplace",
            env=clean,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        return Fit(why=f"{START} does not work: {e}")
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) < 2:
        return Fit(why=done.stderr.strip().removeprefix("crestacoll: "))
    return Fit(interface=lines[0], version=lines[1])
