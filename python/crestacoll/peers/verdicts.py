# SPDX-License-Identifier: BSD-3-Clause
"""What crestacoll on Open MPI 5 is to reach, and whether it does: bounds for the ratio to the best
of the MPIs, for single points and for geometric means.
"""

import math
from dataclasses import dataclass, field

from crestacoll.peers.mpis import OURS
from crestacoll.peers.series import PREFIX, ROOTED, SYMMETRIC
from crestacoll.peers.table import SMALL, Point

K, M = 1 << 10, 1 << 20
MIDDLE = 256 * K
HALVED = ["allreduce", "reduce", "reduce_scatter"]  # where all ranks can share the arithmetic
MPICHS = ["mpich", "mpich5"]
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
    """Measured in the way that the targets mean."""
    p = row.point
    return (p.timing, p.buffers) == ("back_to_back", "hot")


def one_way(row):
    """Data goes in one direction, so that a rank may run ahead."""
    p = row.point
    return p.collective in PREFIX or (p.collective in ROOTED and p.root == "fixed")


def symmetric(row):
    return row.point.collective in SYMMETRIC and not one_way(row)


def between(row, ranks, low, high):
    return plain(row) and row.point.ranks == ranks and low <= row.point.bytes <= high


def bound(row, floor):
    """Microseconds that this point may take; None if no target speaks of it."""
    best, p = row.best, row.point
    if best is None or not plain(row):
        return None
    if p.ranks in (4, 8):
        return best if symmetric(row) and p.bytes <= 32 * K else None
    if p.ranks != 2:
        return None
    if p.bytes <= SMALL:
        if one_way(row):
            return best + 0.04
        return max(0.8 * best, (floor["exchange"] or 0) + 0.1)
    if 4 * K <= p.bytes <= MIDDLE:
        return best
    if p.bytes == 2 * M:
        return (0.7 if p.collective in HALVED else 1.05) * best
    return None


def mean(ratios):
    """Geometric."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def beyond(rows, floor):
    """What takes longer than it may."""
    limits = [(row, bound(row, floor)) for row in rows]
    return worst_first(
        Miss(row.point, row.ours / limit)
        for row, limit in limits
        if limit and row.ours and row.ours > limit
    )


def worst_first(misses):
    return sorted(misses, key=lambda miss: -miss.factor)


def measured(rows):
    return [row for row in rows if row.ratio is not None]


def judge(target, rows, floor, most=None):
    """`most`: of the geometric mean; None: only single points count."""
    have = measured(rows)
    if not have:
        return Verdict(target, "not measured", None)
    missed = beyond(have, floor)
    found = f"{len(have) - len(missed)} of {len(have)} points"
    met = not missed
    if most is not None:
        ratio = mean([row.ratio for row in have])
        found = f"mean {ratio:.2f}; {found}"
        met = met and ratio <= most
    if len(have) < len(rows):
        found += f"; {len(rows) - len(have)} not measured"
    return Verdict(target, found, met, missed)


def line_floor(rows, floor):
    target = "allreduce of 8 bytes, 2 ranks: at most 1.4x the exchange of a cache line"
    for row in rows:
        p = row.point
        if between(row, 2, 8, 8) and p.collective == "allreduce" and row.ours:
            if floor["exchange"] is None:
                break
            times = row.ours / floor["exchange"]
            missed = [] if times <= 1.4 else [Miss(p, times / 1.4)]
            return Verdict(target, f"{times:.2f}x", not missed, missed)
    return Verdict(target, "not measured", None)


def waiting(rows):
    """Against MPICH where ranks have to share cores."""
    target = f"crestacoll on MPICH there: at least {TIMES}x faster than MPICH's own calls"
    gains = [
        (row.point, 1 / row.on(mpi), mpi)
        for row in rows
        for mpi in MPICHS
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
    def some(keep, ranks, low, high):
        return [row for row in rows if between(row, ranks, low, high) and keep(row)]

    def anything(_row):
        return True

    halved = [r for r in some(anything, 2, 2 * M, 2 * M) if r.point.collective in HALVED]
    return [
        judge(
            "symmetric calls, 8 to 512 B, 2 ranks: geometric mean at most 0.65; none above 0.8,"
            " or the exchange of a cache line + 0.1 us",
            some(symmetric, 2, 0, SMALL),
            floor,
            0.65,
        ),
        line_floor(rows, floor),
        judge(
            "one-directional calls, 8 to 512 B, 2 ranks: none above 1.0, or 40 ns more",
            some(one_way, 2, 0, SMALL),
            floor,
        ),
        judge(
            "4 to 256 KiB, 2 ranks: geometric mean at most 0.7; none above 1.0",
            some(anything, 2, 4 * K, MIDDLE),
            floor,
            0.7,
        ),
        judge(
            "2 MiB, 2 ranks: none above 1.05",
            [r for r in some(anything, 2, 2 * M, 2 * M) if r.point.collective not in HALVED],
            floor,
        ),
        judge(f"2 MiB, 2 ranks: {', '.join(HALVED)} at most 0.7", halved, floor),
        *(
            judge(
                f"symmetric calls, 8 B to 32 KiB, {ranks} ranks: geometric mean at most {most};"
                " none above 1.0",
                some(symmetric, ranks, 0, 32 * K),
                floor,
                most,
            )
            for ranks, most in ((4, 0.75), (8, 0.6))
        ),
        waiting(rows),
    ]
