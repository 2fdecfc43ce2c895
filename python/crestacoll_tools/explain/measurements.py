# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll explain` says of the points that `bench` and `tune` measured: which
implementation was ahead of the MPI's own calls there, and what the others took.
"""

from crestacoll_tools.base.ui import Problem
from crestacoll_tools.bench import benchjob
from crestacoll_tools.explore.verdict import NOT_FASTER
from crestacoll_tools.explore.words import at_most
from crestacoll_tools.rules.points import Point
from crestacoll_tools.tune import grid, verdict
from crestacoll_tools.tune.rules import winner

NO_RULE = "nothing is chosen by a bench: `crestacoll tune` makes rules"


def entry(point, implementation, decided, **more):
    """`decided`: what won, in words. `measured`: see row. `of`: what was timed."""
    return {
        **{"point": point, "implementation": implementation, "decided": decided},
        **{"share": None, "waiting": None, "refused": None, "behind": [], "measured": []},
        **{"source": "", "remarks": [], "of": "step"},
    } | more


def row(implementation, race, against_mpi=None, low=None, high=None, **more):
    """How an implementation did in a race. Differences are fractions of what was timed; low and
    high are the ends of an interval. `others`: other points differ from the choice, too, so that
    the difference is not of this one alone.
    """
    return {
        **{"implementation": implementation, "race": race, "against_mpi": against_mpi},
        **{"low": low, "high": high, "against_choice": None},
        **{"others": False, "failed": "", "chosen": False},
    } | more


def slower(one, other):
    """By what fraction a call takes longer than another; both are relative to the MPI's own."""
    return None if one is None or other is None or other <= -1 else (1 + one) / (1 + other) - 1


# Benches.


def of_bench(data):
    """A point for each collective, size, number of ranks, MPI and kind of data, in the order of the
    file.
    """
    groups = {}
    for r in data["records"]:
        key = (r["mpi"], r["collective"], r["bytes"], *benchjob.way(r))
        groups.setdefault(key, []).append(r)
    return [bench_entry(records) for records in groups.values()]


def bench_entry(records):
    first = records[0]
    collective, size = first["collective"], first["bytes"]
    where = first["mpi"] + benchjob.data_words(first)
    right = [r for r in records if r["verified"] and r["samples"]]
    best = min(right, key=lambda r: r["median_us"], default=None)
    name = best["implementation"] if best else grid.MPI
    least = f"least median of {len(right)} implementations, {where}"
    decided = least if best else "no right result"
    sizes = (None, None) if collective == "barrier" else (size, size)
    return entry(
        Point(collective, *sizes, first["ranks"]),
        name,
        decided,
        measured=[bench_row(r, best) for r in records],
        remarks=[NO_RULE],
        source=f"bench, {where}",
        of="call",
    )


def bench_row(record, best):
    ends = (record[name] for name in ("ratio_to_mpi", "ratio_p10", "ratio_p90"))
    against, low, high = (None if end is None else end - 1 for end in ends)
    here = record["median_us"] / best["median_us"] - 1 if best and best["median_us"] else None
    return row(
        record["implementation"],
        "bench",
        *(against, low, high),
        against_choice=here,
        failed="" if record["verified"] else "gives a wrong result",
        chosen=record is best,
    )


# Tunings.


def of_tune(name, data):
    """A point for each collective, number of ranks and size that was or will be measured."""
    try:
        return [e for p in data["points"] for e in tune_entries(p, data["options"])]
    except (AttributeError, KeyError, TypeError) as e:
        raise Problem(f"{name} is not a state of `crestacoll tune` of this version: {e!r}") from e


def tune_entries(point, options):
    if not point["cells"]:
        sizes = grid.sizes_of(point["collective"], options["sizes"])
        decided = "not measured yet: `crestacoll tune --resume` goes on"
        return [entry(tune_point(point, b), grid.MPI, decided, source="tuning") for b in sizes]
    return [tune_entry(point, cell, options["native"]) for cell in point["cells"]]


def tune_point(point, size):
    sizes = (None, None) if point["collective"] == "barrier" else (size, size)
    return Point(point["collective"], *sizes, point["ranks"])


def tune_entry(point, cell, native):
    """`native`: the implementations are algorithms of the MPI itself."""
    name = winner(cell) or grid.MPI
    rows = [tune_row(n, d, cell, name) for n, d in cell["found"].items()]
    if cell["proof"]:
        rows.append(tune_row(cell["candidate"], cell["proof"], cell, name, "proof"))
    decided = "proved faster than the MPI's own"
    if name == grid.MPI:
        decided = f"the MPI's own: {why(point, cell)}"
    return entry(
        tune_point(point, cell["bytes"]),
        name,
        decided,
        measured=rows,
        remarks=["an algorithm of the MPI itself"] if native and name != grid.MPI else [],
        source="tuning",
        of="call",
    )


def why(point, cell):
    if not cell["found"]:
        return "there was too little time"
    if not cell["candidate"]:
        found, bound = verdict.of_cell(point, cell)
        if found == NOT_FASTER:
            return f"nothing is more than {at_most(bound['gain'])} faster"
        return "not enough time to say whether another is faster"
    return f"{cell['candidate']} was ahead, and this was not proved"


def tune_row(name, difference, cell, chosen, race="selection"):
    best = cell["found"].get(chosen)
    return row(
        name,
        race,
        *(difference["trimmed"], difference["low"], difference["high"]),
        against_choice=slower(difference["trimmed"], best["trimmed"] if best else 0.0)
        if race == "selection"
        else None,
        chosen=name == chosen,
    )
