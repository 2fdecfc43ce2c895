# SPDX-License-Identifier: BSD-3-Clause
"""What a tuning may say of what it did not prove to be faster: that it is not faster than X, or
that the time was not enough. It judges as an exploration does (explore/verdict.py); a candidate is
an implementation at one size, or a size of which nothing is known.
"""

from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.text import counted
from crestacoll_tools.explore import verdict
from crestacoll_tools.race import racestats
from crestacoll_tools.tune.grid import MPI
from crestacoll_tools.tune.rules import winner

RACE = "tune"
KNOWN_BELOW = racestats.FEWEST - 1  # rounds of a candidate without a difference, at most


def judged(state, sure=True):
    """(verdict, bound) of the sizes without a proved gain; None if there is no such size."""
    every = [c for point in state.points for c in of_point(point, sure)]
    return judge(every) if every else None


def of_cell(point, cell):
    """The verdict of one size."""
    return judge(candidates(point, cell))


def judge(every):
    return verdict.judged(every, verdict.MARGIN)


def of_point(point, sure):
    if not point["cells"]:
        ranks = counted(point["ranks"], "rank")
        return [candidate(f"{point['collective']} on {ranks}", None)]
    open_cells = (c for c in point["cells"] if not winner(c, sure))
    return [one for cell in open_cells for one in candidates(point, cell)]


def candidates(point, cell):
    where = named(point, cell)
    names = [n for n in cell["arms"] if n != MPI]
    if not names:
        return [candidate(where, None)]
    known = dict(cell["found"])
    if cell["proof"]:
        known[cell["candidate"]] = cell["proof"]
    return [candidate(f"{name} for {where}", known.get(name)) for name in names]


def candidate(name, difference):
    found = difference and racestats.Difference(**difference)
    return verdict.Candidate(RACE, name, (), found)


def named(point, cell):
    size = "" if point["collective"] == "barrier" else f" of {format_size(cell['bytes'])} bytes"
    return f"{point['collective']}{size} on {counted(point['ranks'], 'rank')}"


def more_s(state, sure=True):
    """Seconds of a new tuning that would decide, if rounds scatter and cost as they did; None if
    nothing of that is known.
    """
    every = [c for point in state.points for c in of_point(point, sure)]
    measured = sum(bool(p["cells"]) for p in state.points)
    known = [c for c in every if c.difference]
    if not measured or not known:
        return None
    usual = sorted(c.needed(verdict.MARGIN) for c in known)[len(known) // 2]
    times = max(
        c.needed(verdict.MARGIN) / c.difference.rounds
        if c.difference
        else max(usual, racestats.FEWEST) / KNOWN_BELOW
        for c in verdict.open_ones(every, verdict.MARGIN)
    )
    of_all = state.data["spent_s"] / measured * len(state.points)
    return verdict.ROOM * max(1.0, times) * of_all
