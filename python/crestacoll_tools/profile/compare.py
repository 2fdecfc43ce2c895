# SPDX-License-Identifier: BSD-3-Clause
"""What changed between two programs, OLD and NEW, by profiles of several runs of each: the run,
where its time goes, collectives, and calls by their place.

Times are compared by their logarithms. The interval of their ratio is Welch's, from the scatter of
the runs on both sides, which may differ. Half of the error is the run's; all other lines share the
other half (Bonferroni).
"""

import math
from dataclasses import dataclass
from statistics import fmean, geometric_mean, variance

from crestacoll_tools.base.text import counted, word
from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.profile import mpitime, placenames, profiles
from crestacoll_tools.race import racestats

SCHEMA = "crestacoll-compare-1"
ERROR = 0.01  # of everything that is said together
FEWEST = 3  # runs of a side: fewer show too little of the noise
SMALL = 0.01  # of the run: lines that take less on both sides are not compared
ALMOST = 0.5  # a bound beyond this says nothing
MOST_SHOWN = 10.0
RUN, TIME, COLLECTIVE, CALL = "run", "time of a rank", "collective", "call"
SLOWER, FASTER, SAME, UNKNOWN = "slower", "faster", "no change shown", "not enough runs"


@dataclass(frozen=True)
class Line:
    """Times of one thing, one of each run, 0 where a run does not have it; how much longer NEW
    takes, as a fraction, with its interval: None where it cannot be told.
    """

    kind: str
    name: str
    old: tuple
    new: tuple
    change: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def lost_us(self):
        return typical(self.new) - typical(self.old)

    @property
    def verdict(self):
        if self.low is None:
            return UNKNOWN
        return SLOWER if self.low > 0 else FASTER if self.high < 0 else SAME


def typical(times):
    """The geometric mean, of which intervals are; the mean where a run lacks it."""
    return geometric_mean(times) if min(times) > 0 else fmean(times)


def welch(old, new, level):
    """(change, low, high) of positive times, as fractions of those of OLD."""
    sides = [[math.log(us) for us in side] for side in (old, new)]
    errors = [variance(side) / len(side) for side in sides]
    centre, both = fmean(sides[1]) - fmean(sides[0]), sum(errors)
    half = 0.0
    if both > 0:
        parts = (e * e / (len(side) - 1) for e, side in zip(errors, sides, strict=True))
        degrees = int(both * both / sum(parts))  # rounded down, as tables have it
        half = math.sqrt(both) * racestats.t_quantile((1 + level) / 2, max(1, degrees))
    ends = (centre, centre - half, min(centre + half, racestats.MOST))
    return tuple(math.expm1(end) for end in ends)


def judged(line, level):
    """The line with its interval, if the runs of both sides allow one."""
    if min(len(line.old), len(line.new)) < FEWEST or min(line.old + line.new) <= 0:
        return line
    return Line(line.kind, line.name, line.old, line.new, *welch(line.old, line.new, level))


def parts_of(data):
    """{(kind, name): microseconds of a rank} of a run, without its calls by place."""
    wall = data["wall_s"] * 1e6
    if "calls" in data:
        times = {group: us for group, us, _ in mpitime.picture(data)}
    else:
        inside = profiles.total_us(data)
        times = {"outside collectives": max(0.0, wall - inside), mpitime.COLLECTIVES: inside}
    found = {(RUN, RUN): wall} | {(TIME, name): us for name, us in times.items()}
    by_collective = profiles.shares(
        data, lambda r: f"{profiles.label(r)} {profiles.communicator(r)}"
    )
    return found | {(COLLECTIVE, name): group["us"] for name, group in by_collective.items()}


def lines_of(old, new):
    """The Lines that are compared: the run, then what takes a share of it worth looking at."""
    runs = [parts_of(data) for data in (*old, *new)]
    if all("calls" in data for data in (*old, *new)):
        for run, sites in zip(runs, placenames.by_place([*old, *new]), strict=True):
            run |= {(CALL, name): us for name, us in sites.items()}
    names = list(dict.fromkeys(key for run in runs for key in run))
    lines = []
    for kind, name in names:
        times = tuple(run.get((kind, name), 0.0) for run in runs)
        lines.append(Line(kind, name, times[: len(old)], times[len(old) :]))
    wall = next(line for line in lines if line.kind == RUN)
    least = [SMALL * fmean(side) for side in (wall.old, wall.new)]
    return [
        line
        for line in lines
        if fmean(line.old) >= least[0] or fmean(line.new) >= least[1]
    ]


def compare(old, new):
    """The Lines with their intervals, the run first."""
    lines = lines_of(old, new)
    others = racestats.corrected(1 - ERROR / 2, len(lines) - 1)
    return [judged(line, 1 - ERROR / 2 if line.kind == RUN else others) for line in lines]


def need_alike(sides):
    """Runs that can be compared: `sides` are those of OLD and NEW, as Sources."""
    seen = {}
    for source in (*sides[0], *sides[1]):
        data = source.data
        key = (data["wall_s"], repr(data["records"]))
        if key in seen:
            raise Problem(f"{source.name} is the same run as {seen[key]}: it counts once", USAGE)
        seen[key] = source.name
        first = sides[0][0]
        if data["ranks"] != first.data["ranks"]:
            ranks = f"{first.data['ranks']}, {source.name} of {data['ranks']}"
            raise Problem(f"{first.name} is a profile of {ranks} ranks: compare like runs", USAGE)


def signed(share):
    """'+5.2 %'"""
    text = f"{100 * share:+.1f} %" if share < MOST_SHOWN else f"> {100 * MOST_SHOWN:.0f} %"
    return text[1:] if text[1:] == "0.0 %" else text


def between(line):
    """'5.2 % (4.1 % to 6.3 %)', of a line that is slower or faster."""
    ends = sorted(abs(100 * end) for end in (line.low, line.high))
    return f"{abs(100 * line.change):.1f} % ({ends[0]:.1f} % to {ends[1]:.1f} %)"


def worst(lines):
    """What is slower and costs most, as near to the source as is known; None if nothing is."""
    slower = [line for line in lines if line.kind != RUN and line.verdict == SLOWER]
    order = [TIME, COLLECTIVE, CALL]
    return max(slower, key=lambda x: (order.index(x.kind), x.lost_us), default=None)


def verdict(lines):
    """(SLOWER, FASTER, SAME or UNKNOWN, a sentence)"""
    run, where = lines[0], worst(lines)
    runs = [len(run.old), len(run.new)]
    if min(runs) < FEWEST:
        why = "with one run of a side, the noise is not known" if min(runs) == 1 else (
            "two runs of a side show too little of the noise"
        )
        return UNKNOWN, f"Not enough runs: {why}. Profile {FEWEST} runs of each or more."
    if run.verdict == FASTER:
        return FASTER, f"NEW is faster: the run takes {between(run)} less."
    because = f"{word(where.name)} takes {between(where)} longer" if where else ""
    if run.verdict == SLOWER:
        more = f"; {because}" if where else ""
        return SLOWER, f"NEW is slower: the run takes {between(run)} longer{more}."
    if where:
        bound = f"the run by {100 * run.high:.1f} % at most"
        return SLOWER, f"NEW is slower in part: {because}, {bound}."
    if run.high > ALMOST:
        told = f"the noise could hide that NEW is slower by {100 * run.high:.0f} %"
        return UNKNOWN, f"Not enough runs: {told}. Profile more, with nothing else on the machine."
    return SAME, f"No change shown: NEW is not slower than OLD by more than {100 * run.high:.1f} %."


def as_json(sides, lines):
    said, text = verdict(lines)
    names = [[str(source.name) for source in side] for side in sides]
    return {
        "schema": SCHEMA,
        "old": names[0],
        "new": names[1],
        "ranks": sides[0][0].data["ranks"],
        "verdict": said,
        "text": text,
        "lines": [
            {
                **{"kind": line.kind, "name": line.name, "verdict": line.verdict},
                **{"old_us": list(line.old), "new_us": list(line.new)},
                **{"change": line.change, "low": line.low, "high": line.high},
            }
            for line in lines
        ],
    }


HEADS = (">OLD", ">NEW", ">change", ">from", ">to", ">of run")


def cells(line, wall):
    """What a table shows of a line."""
    old, new = typical(line.old), typical(line.new)
    shown = {SLOWER: SLOWER, FASTER: FASTER}.get(line.verdict, "")
    if old <= 0 or new <= 0:
        shown = "only in " + ("NEW" if old <= 0 else "OLD")
    known = line.low is not None
    return (
        word(line.name),
        profiles.seconds(old) if old > 0 else "-",
        profiles.seconds(new) if new > 0 else "-",
        signed(new / old - 1) if old > 0 and new > 0 else "-",
        signed(line.low) if known else "-",
        signed(line.high) if known else "-",
        signed(line.lost_us / wall),
        shown,
    )


def show(sides, lines, top=None):
    """The verdict, then what changed, the largest change first."""
    from crestacoll_tools.base.ui import out, show as show_table, table

    wall = typical(lines[0].old)
    out.print(verdict(lines)[1], soft_wrap=True)
    told = [
        f"{name}: {counted(len(side), 'run')}, {', '.join(sorted({mpi_of(s) for s in side}))}"
        for name, side in zip(("OLD", "NEW"), sides, strict=True)
    ]
    out.print(f"{'; '.join(told)}; {counted(sides[0][0].data['ranks'], 'rank')}", soft_wrap=True)
    for kind in (TIME, COLLECTIVE, CALL):
        chosen = [line for line in lines if line.kind == kind]
        chosen.sort(key=lambda line: -abs(line.lost_us))
        first = lines[:1] if kind == TIME else []
        if not chosen:
            continue
        out.print()
        made = table(kind, *HEADS, "")
        for line in [*first, *chosen[:top]]:
            made.add_row(*cells(line, wall))
        show_table(made)
        if top and len(chosen) > top:
            out.print(f"... and {len(chosen) - top} more (--all)")
    out.print(LEGEND, style="dim", soft_wrap=True)


LEGEND = (
    "OLD, NEW: time of a rank, geometric mean of the runs; from, to: the change is in this"
    f" interval; one is wrong in {100 * ERROR:.0f} % of comparisons; of run: what is lost, as a"
    f" share of OLD's run; lines below {100 * SMALL:.0f} % of the run are left out"
)


def mpi_of(source):
    return profiles.mpi_name(source.data)
