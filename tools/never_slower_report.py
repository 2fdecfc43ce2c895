# SPDX-License-Identifier: BSD-3-Clause
"""never_slower_report.py - the figures of never_slower.py, which defines them, its verdict and its
tables.
"""
import math
import statistics
from collections import defaultdict

import numpy as np
from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.builds import machine

MPI, CONTROL = "mpi", "control"
FACTOR, LEAST_US = 0.03, 0.04  # what a point may be slower: of the time, or microseconds
LEVEL, DRAWS = 0.95, 500
POINT = ("mpi", "ranks", "buffers", "candidate", "collective", "bytes")


def noise(control, mpi):
    """See above. The draws are the same each time, so that a file of results can be checked."""
    difference = np.asarray(control, dtype=float) - np.asarray(mpi, dtype=float)
    n = len(difference)
    length = math.isqrt(n)
    starts = np.random.default_rng(17).integers(0, n, (DRAWS, -(-n // length)))
    drawn = (starts[:, :, None] + np.arange(length)) % n
    medians = np.median(difference[drawn.reshape(DRAWS, -1)[:, :n]], axis=1)
    return float(np.quantile(np.concatenate([medians, -medians]), LEVEL))


def figures(us, candidate):
    """What is kept of the rounds {name: [microseconds]} about a candidate."""
    found = {}
    for title, name in (("mpi", MPI), ("control", CONTROL), ("candidate", candidate)):
        found[f"{title}_median_us"] = float(np.median(us[name]))
        found[f"{title}_p90_us"] = float(np.quantile(us[name], 0.9))
    found["excess_us"] = float(np.median(np.subtract(us[candidate], us[MPI])))
    found["noise_us"] = noise(us[CONTROL], us[MPI])
    return {name: float(f"{value:.6g}") for name, value in found.items()}


def shortfall(line):
    """Above 0: the candidate is slower in this run."""
    allowed = max(FACTOR * line["mpi_median_us"], LEAST_US)
    return line["excess_us"] - line["noise_us"] - allowed


def falls_short(lines):
    """Whether a point does, by all of its runs."""
    wrong = any(not line["verified"] for line in lines)
    return wrong or statistics.median(map(shortfall, lines)) > 0


def geometric_mean(lines):
    """Over the points, of each the median of its runs; None without points."""
    ratios = [
        statistics.median(x["candidate_median_us"] / x["mpi_median_us"] for x in runs)
        for runs in by(lines, *POINT).values()
    ]
    return statistics.geometric_mean(ratios) if ratios else None


def by(lines, *names):
    found = defaultdict(list)
    for line in lines:
        found[tuple(line[n] for n in names)].append(line)
    return found


def with_speeds(lines):
    """The lines with the speed at which they were taken: a typical exchange of a cache line."""
    known, made = [], []
    for line in lines:
        us = statistics.mean(x or 1.0 for x in line["exchange_us"])
        same = next((k for k in known if machine.same_speed(us, k)), None)
        if same is None:
            same = us
            known.append(us)
        made.append(line | {"speed": same})
    return made


def print_short(points):
    """The points that fall short, the worst first."""
    short = {where: lines for where, lines in points.items() if falls_short(lines)}
    for where, lines in sorted(short.items(), key=lambda i: -worst(i[1])):
        mpi, ranks, buffers, candidate, collective, size = where
        us = {n: statistics.median(x[f"{n}_us"] for x in lines)
              for n in ("mpi_median", "control_median", "candidate_median", "excess", "noise")}
        print(f"{candidate} {collective} {format_size(size)}, {ranks} ranks, {mpi}, {buffers}"
              f" ({lines[0]['ran'] or 'not known what ran'}):"
              f" mpi {us['mpi_median']:.3f}, control {us['control_median']:.3f},"
              f" candidate {us['candidate_median']:.3f} us; excess {us['excess']:+.3f},"
              f" noise {us['noise']:.3f}, shortfall"
              f" {', '.join(f'{shortfall(x):+.3f}' for x in lines)}"
              + ("" if all(x["verified"] for x in lines) else "; WRONG RESULT"))
    return len(short)


def worst(lines):
    """The shortfall of a point, in times of the MPI's own."""
    return statistics.median(shortfall(x) / x["mpi_median_us"] for x in lines)


def print_summary(lines):
    """A row for each MPI, number of ranks, kind of buffers and speed of the machine."""
    row = "{:10} {:10} {:>5}  {:8} {:>12} {:>6} {:>6} {:>9} {:>8} {:>9}".format
    print(row("candidate", "mpi", "ranks", "buffers", "exchange us", "points", "short", "time/mpi",
              "not mpi", "time/mpi"))
    groups = by(lines, "candidate", "mpi", "ranks", "buffers", "speed")
    for where, mine in [*sorted(groups.items()), *totals(lines)]:
        other = [x for x in mine if x["ran"] not in (None, MPI)]
        unknown = any(x["ran"] is None for x in mine)
        points = by(mine, *POINT)
        short = sum(map(falls_short, points.values()))
        name, mpi, ranks, buffers, speed = where
        print(row(name, mpi, ranks, buffers, f"{speed:.3f}", len(points), short,
                  ratio(geometric_mean(mine)), "?" if unknown else len(by(other, *POINT)),
                  "?" if unknown else ratio(geometric_mean(other))))


def totals(lines):
    """All together, for each candidate and speed."""
    for (name, speed), mine in sorted(by(lines, "candidate", "speed").items()):
        yield (name, "all", "all", "all", speed), mine


def ratio(value):
    return "-" if value is None else f"{value:.3f}"


def print_machine(lines, sessions):
    """What a reader must know about the machine meanwhile."""
    shared = [x["others"] for x in sessions if machine.is_shared(x["others"])]
    if shared:
        busy, stolen = (100 * max(x[n] or 0 for x in shared) for n in ("busy", "stolen"))
        print(f"the machine was shared in {len(shared)} of {len(sessions)} sessions: others used up"
              f" to {busy:.0f} % of the cores, {stolen:.0f} % of their time were stolen")
    changed = sum(not alike(*x["exchange_us"]) for x in lines)
    if changed:
        print(f"the machine changed its speed while {changed} results were taken")


def report(lines, sessions, missing):
    """Prints all; True if nothing falls short and nothing is missing."""
    lines = with_speeds(lines)
    points = by(lines, *POINT)
    short = print_short(points)
    print_summary(lines)
    print_machine(lines, sessions)
    own = sum(falls_short(lines) for lines in points.values() if lines[0]["ran"] == MPI)
    left = f", {own} of them where the call was left to the MPI" if short else ""
    print(f"{short} of {len(points)} points fall short{left}; {missing} results are missing")
    return not short and not missing


def alike(before, after):
    return before is None or machine.same_speed(after, before)
