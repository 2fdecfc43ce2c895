# SPDX-License-Identifier: BSD-3-Clause
"""One table of all that was measured: a row for each collective, size and way of measuring."""

import csv
import statistics
from dataclasses import astuple, dataclass, field, fields

from crestacoll_tools.base import outputs
from crestacoll_tools.base.text import counted
from crestacoll_tools.peers.mpis import OURS, PEERS, SETTINGS

SLOW = ("mpich", "mpich5")
SMALL = 512  # bytes, to which a cache line decides and not a copy


@dataclass(frozen=True)
class Point:
    """What is measured, and how."""

    ranks: int
    timing: str
    root: str
    buffers: str
    calls: str
    skew_us: float
    collective: str
    bytes: int

    @classmethod
    def of(cls, record):
        return cls(**{f.name: record[f.name] for f in fields(cls)})


@dataclass(frozen=True)
class Times:
    """Microseconds of a call: of each figure the median over the launches."""

    median: float
    p10: float
    p90: float


@dataclass
class Row:
    """For each MPI its own time, and that of crestacoll on it; those that failed are not there.
    `own` has other settings of the MPIs, too. `speed`: of the machine, counted from 1. `line`: the
    exchange of a cache line just before and after the calls of crestacoll on Open MPI 5, in
    microseconds; None if ranks cannot measure it.
    """

    point: Point
    own: dict = field(default_factory=dict)
    cresta: dict = field(default_factory=dict)
    speed: int = 1
    line: float | None = None
    complete: bool = True  # no MPI is missing

    @property
    def best(self):
        """The least of the MPIs' own times, whatever their setting."""
        return min((t.median for t in self.own.values()), default=None)

    @property
    def ours(self):
        return self.cresta[OURS].median if OURS in self.cresta else None

    @property
    def ratio(self):
        """Time on Open MPI 5 with crestacoll by the best MPI's, if all were measured so."""
        return self.ours / self.best if self.complete and self.ours and self.best else None

    def on(self, mpi):
        """The ratio of crestacoll to the MPI below it, measured in one job."""
        if mpi not in self.own or mpi not in self.cresta:
            return None
        return self.cresta[mpi].median / self.own[mpi].median


def mark_incomplete(rows):
    """Those that some MPI has not done: they show nothing beside the fastest MPI. Where ranks share
    cores, MPICH takes 100 times as long as others, and the time may end before all is measured.
    """
    every = [peer for peer in PEERS if any(peer.name in row.own for row in rows)]
    for row in rows:
        ranks, size = row.point.ranks, row.point.bytes
        needed = {peer.name for peer in every if peer.measures(ranks, size)}
        row.complete = needed - (set() if ranks == 2 else set(SLOW)) <= set(row.own)
    return rows


def of_launches(records):
    """Times from the records of one point, MPI and implementation, one a launch."""
    keys = ("median_us", "p10_us", "p90_us")
    return Times(*(statistics.median(r[key] for r in records) for key in keys))


def line_of(records):
    """Median over the launches; jobs run at other moments than crestacoll-floor does."""
    beside = [statistics.mean(r["line_us"]) for r in records if "line_us" in r]
    return statistics.median(beside) if beside else None


def rows_of(results, speed=1):
    """Rows in the order in which they were measured first. A wrong result has no time."""
    found = {}
    for result in results:
        for record in result["records"]:
            if record["verified"] and record["samples"]:
                where = (result["mpi"], record["implementation"])
                found.setdefault(Point.of(record), {}).setdefault(where, []).append(record)
    rows = []
    for point, measured in found.items():
        row = Row(point, speed=speed)
        for (mpi, implementation), records in measured.items():
            side = row.own if implementation == "mpi" else row.cresta
            side[mpi] = of_launches(records)
            if mpi == OURS and implementation != "mpi":
                row.line = line_of(records)
        rows.append(row)
    return rows


def wrong_of(results):
    """What was not the MPI's own result, one line each."""
    return sorted(
        {
            f"{r['implementation']} {r['collective']} of {r['bytes']} bytes,"
            f" {counted(r['ranks'], 'rank')}, on {result['mpi']}"
            for result in results
            for r in result["records"]
            if not r["verified"]
        }
    )


def floor_of(launches):
    """{"exchange": us, "copy": {"4096": us, ...}} from the records of crestacoll-floor."""
    found = {}
    for record in (r for launch in launches for r in launch):
        found.setdefault((record["what"], record["bytes"]), []).append(record["median_us"])
    medians = {key: statistics.median(values) for key, values in found.items()}
    return {
        "exchange": next((us for (what, _), us in medians.items() if what == "exchange"), None),
        "copy": {str(n): us for (what, n), us in medians.items() if what == "copy"},
    }


def floor_at(point, floor):
    """What two ranks that need something of each other cannot go below; None if unknown."""
    if point.ranks != 2 or floor["exchange"] is None:
        return None
    if point.bytes <= SMALL:
        return floor["exchange"]
    copy = floor["copy"].get(str(point.bytes))
    return None if copy is None else floor["exchange"] + copy


POINT = [f.name for f in fields(Point)]
FIGURES = [f.name for f in fields(Times)]
# Whose times: of each MPI, and of each other setting of one.
SIDES = [
    *((peer.name, side) for peer in PEERS for side in ("own", "cresta")),
    *((setting.name, "own") for setting in SETTINGS),
]


def columns(name, side):
    return [f"{name}_{side}_{figure}_us" for figure in FIGURES]


def short(number):
    return "" if number is None else f"{number:.4g}"


def write_csv(rows, floors, path):
    """Floor, of the row's speed, and ratio are in it for readers; read_csv forms them anew."""
    with outputs.beside(path) as made, made.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        heads = [head for side in SIDES for head in columns(*side)]
        out.writerow(["speed", *POINT, *heads, "line_us", "floor_us", "ratio"])
        for row in rows:
            cells = []
            for name, side in SIDES:
                times = getattr(row, side).get(name)
                cells += map(short, astuple(times) if times else [None] * len(FIGURES))
            ends = row.line, floor_at(row.point, floors[row.speed - 1]), row.ratio
            out.writerow([row.speed, *astuple(row.point), *cells, *map(short, ends)])


def read_csv(path):
    with path.open(newline="") as file:
        return mark_incomplete([read_row(line) for line in csv.DictReader(file)])


def read_row(line):
    kinds = {f.name: f.type for f in fields(Point)}
    point = Point(**{name: kinds[name](line[name]) for name in POINT})
    row = Row(point, speed=int(line["speed"]))
    row.line = float(line["line_us"]) if line.get("line_us") else None  # older tables have none
    for name, side in SIDES:
        cells = [line[head] for head in columns(name, side)]
        if all(cells):
            getattr(row, side)[name] = Times(*map(float, cells))
    return row
