# SPDX-License-Identifier: BSD-3-Clause
"""Runs crestacoll-overlap, and says in words what its figures mean."""

import math
from dataclasses import dataclass

from crestacoll_tools.base.text import counted
from crestacoll_tools.bench import benchjob

LITTLE, MUCH = 0.2, 0.8  # of what could overlap
NOISE = 0.25  # a share that is not known better says nothing
MEDIAN = 1.25 / 2.56  # standard error of a median, from p90 - p10 of one sample of a normal law
SOCKETS = "sockets"  # beside the implementations: two threads and a socket, no MPI


@dataclass(kw_only=True)
class Plan(benchjob.Study):
    """What to measure."""

    collective: str
    implementations: list


def run(build, plan, on_progress=lambda: None):
    """One job: benchjob.Result, whose records have N_us, C_us, T_us and the overlaps."""
    words = plan.words(build, "crestacoll-overlap", plan.collective, plan.implementations)
    return plan.run(build, words, on_progress)


def verdicts(records):
    """A sentence for each implementation."""
    names = dict.fromkeys(r["implementation"] for r in records)
    return [verdict(name, [r for r in records if r["implementation"] == name]) for name in names]


def verdict(name, records):
    """What the sizes show together: that one of them looks best may be noise."""
    known = {r["bytes"]: r["overlap_cresta"] for r in records if margin(r) <= NOISE}
    if name == SOCKETS:
        what = "two threads and a socket, without MPI:"
    else:
        what = "this MPI's own call" if name in ("mpi", "nonblock", "persist") else ""
    return " ".join(filter(None, [f"{name}:", what, told(known, len(records), name == SOCKETS)]))


def told(known, sizes, plain):
    """`known`: {bytes: share that is hidden} of so many sizes; `plain`: the figures alone."""
    if not known:
        return f"cannot be judged: the times scatter too much ({counted(sizes, 'size')})"
    least, most = min(known.values()), max(known.values())
    span = f"{percent(least)} to {percent(most)}"
    hidden = f"{span if percent(least) != percent(most) else percent(most)} is hidden"
    hidden += f" ({counted(len(known), 'size')}{of_all(len(known), sizes)})"
    if plain:
        return hidden
    if most < LITTLE:
        return f"does not progress in the background: {hidden}"
    if least >= MUCH:
        return f"overlaps with the computation: {hidden}"
    if least < LITTLE and most >= MUCH:
        return f"overlaps at some sizes and not at others: {hidden}"
    return f"overlaps in part: {hidden}"


def of_all(known, sizes):
    return "" if known == sizes else f"; at {sizes - known} more the times scatter too much"


def percent(share):
    return f"{max(share, 0.0):.0%}"


def margin(record):
    """How far the share may be from the truth: two standard errors, from the scatter of the samples
    of N, C and T. Results of earlier versions do not have it.
    """
    spreads = [record.get(f"{k}_p90_us", 0.0) - record.get(f"{k}_p10_us", 0.0) for k in "NCT"]
    shorter = min(record.get("N_us", 0.0), record.get("C_us", 0.0))
    if shorter <= 0 or not any(spreads):
        return 0.0
    error = MEDIAN * math.hypot(*spreads) / math.sqrt(record["samples"])
    return 2 * error / shorter
