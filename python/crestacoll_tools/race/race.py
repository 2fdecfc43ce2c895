# SPDX-License-Identifier: BSD-3-Clause
"""Racing inside the program: the file that asks the library for it (CRESTA_RACE), and the lines
that the library writes meanwhile. All that the tools know of both formats is here.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

HEAD = "crestacoll race 1"
MOST_ARMS = 16
LONGEST_NAME = 31
VARIABLE = "CRESTA_RACE"


@dataclass(frozen=True)
class Arm:
    """A set of rules that takes part. `number` is that of the arm among all that its race ever
    had: the library gets it with as much of the name as it takes.
    """

    name: str
    rules: str
    number: int = 0

    @property
    def label(self):
        kept = re.sub(r"[^!-~]|[\"\\]", "_", self.name)
        return f"{self.number}:{kept}"[:LONGEST_NAME]


def number_of(label):
    """The number of an arm, from what the library calls it; None if that is no label."""
    number, colon, _ = label.partition(":")
    return int(number) if colon and number.isdigit() else None


@dataclass(frozen=True)
class Race:
    """What is asked for. The first arm is the reference."""

    arms: tuple
    seconds: float = 0.0
    seed: int = 1
    block_ms: float = 1.0
    watch_ms: float = 500.0
    drop: bool = True
    confirm: bool = True
    calls: int = 0  # of a block, where arms take turns by calls (turns.py); 0: by steps
    youth: int = 32

    def text(self, output):
        if not 2 <= len(self.arms) <= MOST_ARMS:
            raise ValueError(f"a race has 2 to {MOST_ARMS} arms, not {len(self.arms)}")
        lines = [
            HEAD,
            f"output {output}",
            f"seconds {self.seconds:g}",
            f"seed {self.seed}",
            f"block_ms {self.block_ms:g}",
            f"watch_ms {self.watch_ms:g}",
            f"drop {int(self.drop)}",
            f"confirm {int(self.confirm)}",
            *([f"calls {self.calls}", f"youth {self.youth}"] if self.calls else []),
            *(f"arm {arm.label} {arm.rules}" for arm in self.arms),
        ]
        return "\n".join(lines) + "\n"

    def write(self, path, output):
        Path(path).write_text(self.text(output), encoding="utf-8", errors="surrogateescape")


@dataclass(frozen=True)
class Round:
    """Blocks of all arms that took part, in order of time."""

    phase: str
    steps: int
    order: tuple
    step_s: tuple
    at_s: float

    def means(self, names):
        """{name of the arm: seconds per step, mean of its blocks}."""
        found = {}
        for arm, seconds in zip(self.order, self.step_s):
            found.setdefault(names[arm], []).append(seconds)
        return {name: sum(values) / len(values) for name, values in found.items()}

    @property
    def seconds(self):
        return self.steps * sum(self.step_s)

    @property
    def all_steps(self):
        return self.steps * len(self.order)


@dataclass
class Log:
    """What came back so far. `all_names`: of all arms that the race ever had, by their numbers.
    `bad` counts lines that could not be read.
    """

    all_names: list = field(default_factory=list)
    start: dict | None = None
    none: dict | None = None
    end: dict | None = None
    verdict: dict | None = None
    phase: str = "screen"
    round_steps: int = 0  # that a round of this phase has, two blocks of each arm
    rounds: list = field(default_factory=list)
    first: str | None = None  # arm that ran for the first time, with nothing behind it
    warm: dict = field(default_factory=dict)  # arm: seconds of its first step
    dropped: dict = field(default_factory=dict)  # arm: the event
    at_s: float = 0.0
    bad: int = 0
    names: list = field(init=False, default_factory=list)  # of the arms of `start`

    def __post_init__(self):
        if self.start:
            self.name_arms()

    def name_arms(self):
        """Once: each line of the thousands that follow asks for them."""
        self.names = [self.name_of(label) for label in self.start["arms"]]

    def name_of(self, label):
        number = number_of(label)
        known = number is not None and number < len(self.all_names)
        return self.all_names[number] if known else label

    @property
    def step_s(self):
        """Seconds of a step with the reference, in the middle of what was measured; None before."""
        reference = [r.means(self.names).get(self.names[0]) for r in self.rounds[:1000]]
        known = sorted(s for s in reference if s is not None)
        return known[len(known) // 2] if known else None

    def means(self, phase=None):
        """[{name: seconds per step}] of the rounds, or of those of one phase."""
        return [r.means(self.names) for r in self.rounds if phase in (None, r.phase)]

    @property
    def racing_s(self):
        """Seconds of the program in which it raced."""
        return sum(r.seconds for r in self.rounds)

    @property
    def coverage(self):
        """The share of the time since the first step that the program spent in rounds; None where
        that is not known. Small if what repeats is a small part of the program.
        """
        since = self.at_s - self.start["at_s"] if self.start else 0.0
        return min(1.0, self.racing_s / since) if since > 0 else None

    @property
    def steps(self):
        return sum(r.all_steps for r in self.rounds)

    def add_line(self, line):
        """A line that is cut or unknown is counted, and changes nothing."""
        try:
            event = json.loads(line)
            self.first = None
            getattr(self, f"on_{event['event']}", self.on_other)(event)
            self.at_s = float(event.get("at_s", self.at_s))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            self.bad += 1

    def on_start(self, event):
        names = event["arms"]
        if not all(isinstance(n, str) for n in names):
            raise TypeError("arms")
        self.start = event
        self.name_arms()

    def on_none(self, event):
        self.none = event

    def on_first(self, event):
        self.first = self.names[event["arm"]]

    def on_warm(self, event):
        self.warm[self.names[event["arm"]]] = float(event["first_s"])

    def on_round(self, event):
        order, seconds = tuple(event["order"]), tuple(map(float, event["step_s"]))
        if len(order) != len(seconds) or not order:
            raise ValueError("a round with different lists")
        if not all(0 <= arm < len(self.names) for arm in order):
            raise IndexError("an arm that does not exist")
        phase = event.get("phase", "screen")
        self.rounds.append(
            Round(phase, int(event["steps"]), order, seconds, float(event["at_s"]))
        )

    def on_drop(self, event):
        self.dropped[self.names[event["arm"]]] = event

    def on_phase(self, event):
        self.phase = event["phase"]
        self.round_steps = 2 * len(event.get("arms", ())) * int(event.get("steps", 0))

    def on_verdict(self, event):
        self.verdict = event

    def on_end(self, event):
        self.end = event

    def on_other(self, event):
        """An event of a later version is passed over."""


class Tail:
    """Follows a file that grows; a line counts when it is complete."""

    def __init__(self, path, all_names=()):
        self.path, self.log = Path(path), Log(list(all_names))
        self.place, self.rest = 0, b""

    def read(self):
        """Takes what is new; True if there was something."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.place)
                new = file.read()
        except OSError:
            return False
        self.place += len(new)
        *lines, self.rest = (self.rest + new).split(b"\n")
        for line in lines:
            if line.strip():
                self.log.add_line(line.decode("utf-8", errors="replace"))
        return bool(new)


def read(path, all_names=()):
    """The whole Log of a file, also of one that a killed program left."""
    tail = Tail(path, all_names)
    tail.read()
    return tail.log
