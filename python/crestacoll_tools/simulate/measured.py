# SPDX-License-Identifier: BSD-3-Clause
"""Measured times beside simulated ones: the points of `crestacoll bench --json` whose schedules are
known, those of p2p:ALGORITHM and hier:ALGORITHM.
"""

import collections
import dataclasses
import json
from pathlib import Path

from crestacoll_tools import schemas
from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.simulate import jobs

CALLS = 8  # at least, of a simulated batch; the first ones do not count
FIRST = 2


@dataclasses.dataclass(frozen=True)
class Point:
    collective: str
    bytes: int
    implementation: str
    ranks: int
    hosts: int
    rotates: bool  # the root moves on with each call
    seconds: float  # measured, of a call

    @property
    def nodes(self):
        return jobs.nodes_words(self.ranks, -(-self.ranks // self.hosts))

    def name(self):
        size = "" if self.collective == "barrier" else f" {self.bytes}"
        where = f"{counted(self.ranks, 'rank')}, {counted(self.hosts, 'host')}"
        return f"{self.collective}{size} {self.implementation}, {where}"

    def steps(self):
        """Calls one after the other, as bench makes them; as often from each root."""
        count = -(-(CALLS - FIRST) // self.ranks) * self.ranks + FIRST if self.rotates else CALLS
        size = 0 if self.collective == "barrier" else self.bytes
        return [
            jobs.Call(
                self.collective,
                size,
                self.implementation,
                self.ranks,
                root=k % self.ranks if self.rotates else 0,
            )
            for k in range(count)
        ]


def load(path, crowded=False):
    """The points of a result of `crestacoll bench`, and {why: how many were skipped}; those with
    more ranks than cores only where `crowded`.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise Problem(f"cannot read {path}: {e}") from e
    wrong = schemas.problems("bench", data)
    if wrong:
        raise Problem(f"{path} is not a result of `crestacoll bench --json`: {wrong[0]}")
    hosts = {job["mpi"]: job["hosts"] for job in data["jobs"]}
    cores = data["machine"].get("allowed_cores", 0)
    reasons = [(r, unusable(r, cores, crowded)) for r in data["records"]]
    found = [point_of(r, hosts[r["mpi"]]) for r, why in reasons if not why]
    skipped = collections.Counter(why for _, why in reasons if why)
    if not found:
        skipped_for = "; ".join(f"{count} skipped: {why}" for why, count in skipped.items())
        raise Problem(f"{path}: no point that can be simulated ({skipped_for or 'it has none'})")
    return found, skipped


def unusable(record, cores, crowded):
    """Why the simulator has nothing to compare with a record; None if it has."""
    if not has_schedule(record):
        return (
            "not an algorithm by name, such as --impl p2p:ring,hier:leaders, with calls one after"
            " the other (--timing back_to_back)"
        )
    # Hosts of a bench are parts of one machine, and share its cores.
    if not crowded and (record["oversubscribed"] or record["ranks"] > cores > 0):
        return "more ranks than cores, which the model does not have (--crowded takes them)"
    if record["skew_us"] != 0:
        return "ranks began late (--skew)"
    if not record["verified"]:
        return "its results were not verified"
    return None if record["median_us"] > 0 else "a time of 0"


def has_schedule(record):
    model, _, algorithm = record["implementation"].partition(":")
    blocking = record.get("calls", "blocking") == "blocking"
    usual = blocking and record["timing"] != "synchronised" and record["buffers"] in ("hot", "none")
    return bool(model in ("p2p", "hier") and algorithm and usual)


def point_of(record, hosts):
    return Point(
        collective=record["collective"],
        bytes=record["bytes"],
        implementation=record["implementation"],
        ranks=record["ranks"],
        hosts=hosts,
        rotates=record.get("root") == "rotate",
        seconds=1e-6 * record["median_us"],
    )


def simulate(build, machine, point, limits=jobs.Limits()):
    """Seconds of a call of this point on a machine."""
    steps = point.steps()
    job = jobs.text(machine, point.ranks, point.nodes, steps)
    ends = [end[2] for end in jobs.run(build, job, limits)["end"]]
    return (ends[-1] - ends[FIRST - 1]) / (len(steps) - FIRST)
