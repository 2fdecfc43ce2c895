# SPDX-License-Identifier: BSD-3-Clause
"""Runs crestacoll-harness, and says in words what its figures mean."""

from dataclasses import dataclass

from crestacoll_tools.base.sizes import format_size
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bench import benchjob, choices

STUDY = ["MPI", "CoM", "MIB", "MIN", "CrB", "CrN", "CsB", "CsN"]  # the eight of the document
BEGUN = ["MIB", "MIN"]  # NAME:IMPLEMENTATION
GOT = ["CrB", "CrN", "CsB", "CsN"]  # NAME:os, NAME:p2p
WAYS = ["os", "p2p"]
NOT_HIDDEN = ["CrN", "CsN"]


@dataclass(kw_only=True)
class Plan(benchjob.Study):
    """What to measure."""

    algs: list
    procs: str | None = None


def algs_of(build, text):
    """The ALGs of a list; MPI, to which others are compared, is always the first."""
    names = [n for n in text.split(",") if n]
    return list(dict.fromkeys(["MPI", *(known(build, name) for name in names)]))


def known(build, name):
    base, _, rest = name.partition(":")
    if name in STUDY or (base in GOT and rest in WAYS):
        return name
    if base in BEGUN:
        choices.expand(build, rest, ["alltoall"], lenient=False)
        return name
    if base in STUDY:
        possible = [f"{base}:{way}" for way in WAYS] if base in GOT else []
        raise Problem(
            f"no ALG '{name}'; possible: {', '.join([base, *possible])}",
            exit_code=2,
        )
    name = name.removeprefix("alltoall=")
    try:
        choices.expand(build, name, ["alltoall"], lenient=False)
    except Problem as e:
        raise Problem(f"no ALG '{name}' among {', '.join(STUDY)}, and {e.message}", 2) from e
    return name


def run(build, plan, on_progress=lambda: None):
    """One job: benchjob.Result, whose records have the document's columns and `ratio_to_mpi`."""
    words = plan.words(build, "crestacoll-harness", "alltoall", plan.algs)
    words += ["--procs", plan.procs] if plan.procs else []
    result = plan.run(build, words, on_progress)
    order = {name: i for i, name in enumerate(plan.algs)}
    result.records.sort(key=lambda r: (plan.sizes.index(r["bytes"]), order[r["alg"]]))
    for r in result.records:
        r["ratio_to_mpi"] = total(r) / total(of_mpi(result.records, r["bytes"]))
    return result


def total(record):
    return record["t_total_row"] + record["t_total_col"]


def of_mpi(records, size):
    return next(r for r in records if r["alg"] == "MPI" and r["bytes"] == size)


def sentences(records):
    """What the table does not say by itself."""
    names = {r["alg"] for r in records}
    said = [fastest(records, size) for size in dict.fromkeys(r["bytes"] for r in records)]
    if "MIN" in names:
        said.append(what_min_is(records))
    begun = sorted(n for n in names if n.partition(":")[0] in BEGUN and ":" in n)
    if begun and records[0]["async"] == "off":
        said.append(f"{', '.join(begun)}: nonblock ran, because there is no progress thread.")
    blocked = [n for n in NOT_HIDDEN if n in names]
    if blocked:
        said.append(
            f"{' and '.join(blocked)} hide{'s' * (len(blocked) == 1)} nothing: OpenCoarrays' gets"
            " are blocking, and gfortran has no deferred synchronisation, so that every get ends"
            " before the work goes on. These do overlap: "
            + ", ".join(f"{name}:{way}" for name in blocked for way in WAYS)
            + "."
        )
    return said


def fastest(records, size):
    mine = [r for r in records if r["bytes"] == size]
    best = min(mine, key=total)
    if best["alg"] == "MPI":
        return f"{format_size(size)}: no ALG is faster than MPI."
    return (
        f"{format_size(size)}: {best['alg']} is the fastest; an iteration takes"
        f" {best['ratio_to_mpi']:.2f} of MPI's time, work included."
    )


def what_min_is(records):
    """MIN is one thing with a progress thread, and another without."""
    meanwhile = {
        "thread": "the progress thread (CRESTA_ASYNC=thread) progresses it during the work",
        "auto": "a progress thread (CRESTA_ASYNC=auto), if any, progresses it during the work",
        "off": "during the work it progresses only as far as the MPI does that by itself",
    }[records[0]["async"]]
    return (
        "MIN is MPI_Ialltoall, begun by CRESTA_Alltoall_begin (nonblock) and ended by"
        f" CRESTA_Coll_end; {meanwhile}."
    )
