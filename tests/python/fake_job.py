# SPDX-License-Identifier: BSD-3-Clause
"""The job of `crestacoll explore` with a stand-in for launcher, program and library."""

import sys
from pathlib import Path

FAKE = Path(__file__).parent / "fake_racer.py"
ALGORITHMS = {"alltoall": [{"name": "bruck"}, {"name": "pairwise"}]}
DESCRIPTION = {
    "models": [
        *({"name": n, "works": True, "algorithms": {}} for n in ("mpi", "nonblock", "persist")),
        *({"name": n, "works": True, "algorithms": ALGORITHMS} for n in ("p2p", "shm", "os")),
        {"name": "caf", "works": False, "algorithms": {}},
    ]
}


class Build:
    description = DESCRIPTION


class FakeJob:
    """Starts the stand-in as `Job` would start a launcher."""

    build = Build()

    def __init__(self, command, mpi=None):
        # It needs no packages, and starts dozens of times.
        self.words = [sys.executable, "-E", "-S", str(FAKE), *command]

    def addresses(self):
        return []

    def with_settings(self, settings):
        return self.words, settings
