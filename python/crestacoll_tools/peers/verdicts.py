# SPDX-License-Identifier: BSD-3-Clause
"""What crestacoll on Open MPI 5 is to reach, and whether it does: bounds for the ratio to the best
of the MPIs at any of their settings, for single points and for geometric means.
"""

import math
from dataclasses import dataclass, field

from crestacoll_tools.base.text import counted
from crestacoll_tools.peers.mpis import OURS
from crestacoll_tools.peers.series import PREFIX, ROOTED, SYMMETRIC
from crestacoll_tools.peers.table import SLOW, SMALL, Point

K, M = 1 << 10, 1 << 20
NEAR = 0.1  # us: cores between which a line crosses faster share a cache
SOON = 0.04  # us: what little calls may take beyond the floor, or the MPI
TIMES = 100  # how much faster than MPICH's own waiting


@dataclass
class Verdict:
    target: str
    found: str
    met: bool | None  # None: nothing of it was measured
    missed: list = field(default_factory=list)  # of Miss, the worst first


@dataclass
class Miss:
    """A point beyond its bound."""

    point: Point
    factor: float
    mpi: str = OURS  # what crestacoll runs on


def plain(row):
    """Measured in one of the two ways that the targets mean."""
    return usual(row) and row.point.calls == "blocking"


def usual(row):
    return row.point.timing == "back_to_back" and row.point.buffers != "cold"


def begun(row):
    """Begins that ended at once."""
    return usual(row) and row.point.calls == "begun"


def written(row):
    """The data was written again before each call."""
    return row.point.buffers == "written"


def one_way(row):
    """Data goes in one direction, so that a rank may run ahead."""
    p = row.point
    if not plain(row):
        return False
    return p.collective in PREFIX or (p.collective in ROOTED and p.root == "fixed")


def symmetric(row):
    return plain(row) and row.point.collective in SYMMETRIC and not one_way(row)


def between(row, ranks, low, high):
    return plain(row) and row.point.ranks == ranks and low <= row.point.bytes <= high


def bound(row):
    """Microseconds that this point may take; None if no target speaks of it."""
    best, p = row.best, row.point
    if best is None or not plain(row):
        return None
    if p.ranks in (4, 8):
        return 1.05 * best if symmetric(row) and p.bytes <= 2 * M else None
    if p.ranks != 2:
        return None
    if one_way(row) and p.bytes <= SMALL:
        return best + SOON
    return best if written(row) else 1.05 * best


def mean(ratios):
    """Geometric."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def beyond(rows):
    """What takes longer than it may."""
    limits = [(row, bound(row)) for row in rows]
    return worst_first(
        Miss(row.point, row.ours / limit)
        for row, limit in limits
        if limit and row.ours and row.ours > limit
    )


def worst_first(misses):
    return sorted(misses, key=lambda miss: -miss.factor)


def measured(rows):
    return [row for row in rows if row.ratio is not None]


def judge(target, rows, most=None):
    """`most`: of the geometric mean; None: only single points count."""
    have = measured(rows)
    if not have:
        return Verdict(target, "not measured", None)
    missed = beyond(have)
    found = f"{len(have) - len(missed)} of {len(have)} points"
    met = not missed
    if most is not None:
        ratio = mean([row.ratio for row in have])
        found = f"mean {ratio:.2f}; {found}"
        met = met and ratio <= most
    if len(have) < len(rows):
        found += f"; {len(rows) - len(have)} not measured"
    return Verdict(target, found, met, missed)


def near(floor):
    """Do the cores share a cache? None on a machine of one core."""
    return floor["exchange"] and floor["exchange"] < NEAR


def line_floor(rows, floor):
    """Against the exchange that the same processes measured just before and after."""
    most = f"{1e3 * SOON:.0f} ns more than" if near(floor) else "1.3x"
    target = f"allreduce of 8 bytes, 2 ranks: at most {most} the exchange of a cache line"
    for row in rows:
        p = row.point
        if between(row, 2, 8, 8) and p.collective == "allreduce" and not written(row) and row.ours:
            if row.line is None:
                break
            may = row.line + SOON if near(floor) else 1.3 * row.line
            missed = [] if row.ours <= may else [Miss(p, row.ours / may)]
            found = f"{1e3 * (row.ours - row.line):.0f} ns more, {row.ours / row.line:.2f}x"
            return Verdict(target, found, not missed, missed)
    return Verdict(target, "not measured", None)


def waiting(rows):
    """Against MPICH where ranks have to share cores."""
    target = f"crestacoll on MPICH there: at least {TIMES}x faster than MPICH's own calls"
    gains = [
        (row.point, 1 / row.on(mpi), mpi)
        for row in rows
        for mpi in SLOW
        if (between(row, 4, 0, 32 * K) or between(row, 8, 0, 32 * K)) and symmetric(row)
        if row.on(mpi)
    ]
    if not gains:
        return Verdict(target, "not measured", None)
    missed = worst_first(Miss(at, TIMES / gain, mpi) for at, gain, mpi in gains if gain < TIMES)
    average = mean([gain for _, gain, _ in gains])
    found = f"mean {average:.0f}x; {len(gains) - len(missed)} of {len(gains)} points"
    return Verdict(target, found, not missed, missed)


def verdicts(rows, floor):
    """The verdicts on what was measured at one speed of the machine."""

    def some(ranks, low, high, *keep):
        return [r for r in rows if between(r, ranks, low, high) and all(k(r) for k in keep)]

    def reused(row):
        return not written(row)

    small = 0.5 if near(floor) else 0.65
    return [
        judge(
            f"written again, symmetric calls, 8 to 512 B, 2 ranks: geometric mean at most {small};"
            " none above 1.0",
            some(2, 0, SMALL, written, symmetric),
            small,
        ),
        line_floor(rows, floor),
        judge(
            "one-directional calls, 8 to 512 B, 2 ranks: none above 1.0, or 40 ns more",
            some(2, 0, SMALL, one_way),
        ),
        judge(
            "written again, 4 to 256 KiB, 2 ranks: geometric mean at most 0.6; none above 1.0",
            some(2, 4 * K, 256 * K, written),
            0.6,
        ),
        judge(
            "written again, 2 and 8 MiB, 2 ranks: geometric mean at most 0.85; none above 1.0",
            some(2, 2 * M, 8 * M, written),
            0.85,
        ),
        judge(
            "not written again, 2 ranks: none above 1.05",
            [r for r in some(2, 0, 8 * M, reused) if symmetric(r) or r.point.bytes > SMALL],
        ),
        *(
            judge(
                f"symmetric calls, {sizes}, {counted(ranks, 'rank')}: geometric mean at most"
                f" {most}; none above 1.05",
                some(ranks, low, high, symmetric),
                most,
            )
            for ranks in (4, 8)
            for sizes, low, high, most in (
                ("8 B to 32 KiB", 0, 32 * K, 0.5),
                ("256 KiB to 2 MiB", 256 * K, 2 * M, 0.85),
            )
        ),
        waiting(rows),
    ]
