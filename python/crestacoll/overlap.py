# SPDX-License-Identifier: BSD-3-Clause
"""Runs crestacoll-overlap, and says in words what its figures mean."""

from dataclasses import dataclass

from crestacoll import benchjob

LITTLE, MUCH = 0.2, 0.8  # of what could overlap
SOCKETS = "sockets"  # beside the implementations: two threads and a socket, no MPI


@dataclass
class Plan:
    """What to measure."""

    collective: str
    implementations: list
    sizes: list
    ranks: int
    work: float = 1.0
    samples: int = 50
    budget: float = 60.0
    hosts: int = 1
    rate: str | None = None
    progress: str = "thread"

    @property
    def cells(self):
        return len(self.sizes)


def words(build, plan):
    return [
        *(str(build.program("crestacoll-overlap")), "--label", build.name),
        *("--collectives", plan.collective, "--impl", ",".join(plan.implementations)),
        *("--sizes", ",".join(map(str, plan.sizes)), "--work", f"{plan.work:g}"),
        *("--async", plan.progress),
        *("--samples", str(plan.samples), "--budget", f"{plan.budget:.3f}"),
    ]


def run(build, plan, on_progress=lambda: None):
    """One job: benchjob.Result, whose records have N_us, C_us, T_us and the overlaps."""
    job = words(build, plan)
    return benchjob.run_on(build, job, plan.ranks, plan.hosts, plan.rate, on_progress)


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
        what = f"is not moved on in the background: at most {share} is hidden"
    elif best["overlap_cresta"] < MUCH:
        what = f"is moved on in part: at most {share} is hidden ({where})"
    else:
        what = f"really happens meanwhile: up to {share} is hidden ({where})"
    whose = "this MPI's own call" if name in ("mpi", "nonblock", "persist") else name
    return f"{name}: {whose} {what}" if whose != name else f"{name}: {what}"
