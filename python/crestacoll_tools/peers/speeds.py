# SPDX-License-Identifier: BSD-3-Clause
"""Virtual machines change under a benchmark: two of its cores share a cache at one time and none at
another, and small messages take four times as long. A speed is known by what crestacoll-floor
measures; only what was measured at one and the same is compared.
"""

import json
import subprocess
from dataclasses import dataclass

from crestacoll_tools.base.ui import TEXT, Problem
from crestacoll_tools.builds import machine
from crestacoll_tools.builds.builds import clean_environment
from crestacoll_tools.peers.table import floor_of

SAMPLES = 200


@dataclass
class Speeds:
    """Numbers speeds from 1 in the order in which they are met; `known` holds the exchange of each.
    Keeps what the floor was in `folder`, a file for each speed.
    """

    program: str
    folder: object

    def __post_init__(self):
        self.known = [floor_of(self.floors(k))["exchange"] for k in self.numbers()]

    def path(self, number):
        return self.folder / f"speed-{number}" / "floor.json"

    def numbers(self):
        k = 1
        while self.path(k).exists():
            yield k
            k += 1

    def in_order(self):
        """Their numbers, the shortest exchange first."""
        return sorted(self.numbers(), key=lambda k: self.known[k - 1] or 0.0)

    def floors(self, number):
        """What crestacoll-floor gave each time."""
        return json.loads(self.path(number).read_text(encoding="utf-8"))

    def now(self):
        """The number of the speed at which the machine runs now."""
        records = measure(self.program)
        exchange = floor_of([records])["exchange"]
        number = self.match(exchange)
        path = self.path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        before = self.floors(number) if path.exists() else []
        path.write_text(json.dumps([*before, records]), encoding="utf-8")
        return number

    def match(self, exchange):
        """The number of the speed with such an exchange, a new one if there is none."""
        if exchange is None:  # a single core
            exchange = 1.0
        number = self.number_of(exchange)
        if number is None:
            self.known.append(exchange)
        return number or len(self.known)

    def number_of(self, exchange):
        """The number of a known speed; None if there is none."""
        for k, known in enumerate(self.known):
            if machine.same_speed(exchange, known or 1.0):
                return k + 1
        return None


def measure(program):
    done = subprocess.run(
        [program, str(SAMPLES)],
        capture_output=True,
        **TEXT,
        env=clean_environment(),
        check=False,
    )
    if done.returncode:
        raise Problem(f"{program} failed: exit code {done.returncode}")
    return read(done.stdout)


def read(text):
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if line["type"] == "record"]
