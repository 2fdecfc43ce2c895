# SPDX-License-Identifier: BSD-3-Clause
"""The calls of a profile in classes (communicator, collective, size), and how they and the time
between them change with the number of ranks. docs/methods.md says the rules.
"""

import math
from dataclasses import dataclass, field

from crestacoll_tools.profile.profiles import label
from crestacoll_tools.rules.collectives import NEIGHBORS, UNSIZED
from crestacoll_tools.simulate import shapes
from crestacoll_tools.simulate.jobs import Skew

KEPT = 64  # bytes: calls with no more carry a few numbers, as many with any number of ranks
NUMBER = 8  # bytes: no call with data has less
# Their bytes are those of one block, and each rank has a block for each rank.
PER_RANK = ("alltoall", "alltoallv", "alltoallw", "reduce_scatter_block")


@dataclass
class Work:
    """A class of calls; times and numbers of calls are means over all ranks of the job."""

    collective: str
    mode: str
    communicator: str
    processes: int
    low: int
    high: int | None
    shape: shapes.Shape | None = None
    why: str = ""  # it is not simulated
    calls: float = 0.0  # in the whole run
    bytes: float = 0.0  # likewise
    seconds: float = 0.0  # likewise
    waits: list = field(default_factory=list)  # (calls, seconds of them spent waiting)
    ran: dict = field(default_factory=dict)  # implementation: seconds

    @property
    def label(self):
        return label({"collective": self.collective, "mode": self.mode})

    @property
    def size(self):
        """Bytes of a call in the mean."""
        return round(self.bytes / self.calls)

    @property
    def waiting(self):
        """Seconds of a call that a rank waits for late ones; None: not measured."""
        calls = sum(c for c, _ in self.waits)
        return sum(s for _, s in self.waits) / calls if calls else None

    @property
    def implementation(self):
        """What ran, or took most of the time of these calls."""
        return max(self.ran, key=self.ran.get)

    def lateness(self):
        """How late ranks come, so that they wait as they did."""
        if not self.waiting:
            return Skew()
        return Skew("uniform", self.waiting / waited(self.processes))


def waited(ranks):
    """How long they wait for the last one, in the mean, if each comes at any time between 0 and 1:
    the last comes at p / (p + 1), the others at 1 / 2.
    """
    return ranks / (ranks + 1) - 1 / 2


def of_profile(data, file):
    """[Work], those that took longest first."""
    parts = shapes.of_profile(data, file)
    found = {}
    for r in data["records"]:
        mine = [] if between(r) else parts.get((r["communicator"], r["processes"]), [])
        for part in mine or [shapes.Part(None, unknown(r), count=1)]:
            weight = part.weight(r["collective"], mine or [part])
            if weight and r["calls_total"]:
                add(found, r, part, weight, data["ranks"])
    return sorted(found.values(), key=lambda w: -w.seconds)


def between(record):
    """True for calls on intercommunicators, which no rule decides."""
    return record["mode"] == "blocking" and record.get("rule", "") is None


def unknown(record):
    """Why there is no communicator for a record."""
    if between(record):
        return "an intercommunicator"
    if record["processes"] == 1:
        return "a communicator of one process"
    return "the profile does not have the ranks of its communicator"


def add(found, record, part, weight, ranks):
    """Its part of a record, to the class that it is in."""
    r = record
    key = (r["collective"], r["mode"], r["communicator"], r["processes"], r["bytes_min"])
    work = found.setdefault((*key, part.shape), Work(*key, r["bytes_max"], part.shape))
    work.why = part.why
    if r["collective"] in NEIGHBORS:
        work.why = "the profile does not have its neighbours"
    if r["mode"] != "blocking":
        work.why = "it only starts: the profile does not have what comes before its end"
    of_rank = weight / ranks
    calls = of_rank * r["calls_total"]
    seconds = of_rank * r["ranks"] * r["time_us"]["mean"] * 1e-6
    work.calls += calls
    work.bytes += of_rank * r["bytes_total"]
    work.seconds += seconds
    work.ran[r["implementation"]] = work.ran.get(r["implementation"], 0.0) + seconds
    if r["wait_us"]:
        waited = of_rank * r["ranks"] * r["wait_us"]["mean"] * 1e-6
        work.waits.append((calls, min(waited, seconds)))


@dataclass(frozen=True)
class Scaling:
    """From the ranks of a profile to others. `grid`: {shape: shape there}."""

    then: int
    ranks: int
    strong: bool
    grid: dict

    @property
    def less(self):
        """What remains to a rank of its data and of its computation."""
        return self.then / self.ranks if self.strong else 1.0

    def seconds(self, seconds):
        """Seconds of computation at this scale, and of the lateness that comes from it."""
        return seconds * self.less

    def waiting(self, work):
        """Seconds of a call that a rank waits for late ones; None: not measured."""
        if work.waiting is None:
            return None
        return self.seconds(work.lateness().seconds) * waited(self.grid[work.shape].size)

    def factor(self, work):
        """By which the bytes of a call are multiplied."""
        if work.size <= KEPT:
            return 1.0
        blocks = 1.0
        if work.collective in PER_RANK:
            blocks = work.shape.size / self.grid[work.shape].size
        return self.less * blocks

    def bytes(self, work):
        return self.of_call(work, work.size)

    def of_call(self, work, size):
        """Bytes of a call of this class that had so many."""
        return max(round(size * self.factor(work)), min(size, NUMBER))

    def sizes(self, work):
        """Those of the class, as in a rule; None, None for calls without a common size."""
        if work.collective in UNSIZED:
            return None, None
        factor = self.factor(work)
        mean = self.bytes(work)
        low = min(math.ceil(work.low * factor), mean)
        return low, None if work.high is None else max(math.floor(work.high * factor), mean)
