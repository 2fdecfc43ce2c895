# SPDX-License-Identifier: BSD-3-Clause
"""Runs crestacoll-overlap, and says in words what its figures mean."""

from dataclasses import dataclass

from crestacoll import benchjob

LITTLE, MUCH = 0.2, 0.8  # of what could overlap
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
    best = max(records, key=lambda r: r["overlap_cresta"])
    share = f"{best['overlap_cresta']:.0%}"
    where = f"{best['collective']} of {best['bytes']} bytes"
    if name == SOCKETS:
        return f"{name}: two threads and a socket, without MPI, hide up to {share} ({where})"
    if best["overlap_cresta"] < LITTLE:
        what = f"does not progress in the background: at most {share} is hidden"
    elif best["overlap_cresta"] < MUCH:
        what = f"overlaps in part: at most {share} is hidden ({where})"
    else:
        what = f"overlaps with the computation: up to {share} is hidden ({where})"
    whose = "this MPI's own call" if name in ("mpi", "nonblock", "persist") else name
    return f"{name}: {whose} {what}" if whose != name else f"{name}: {what}"
