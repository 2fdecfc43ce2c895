# SPDX-License-Identifier: BSD-3-Clause
"""The settings among which the one to blame is looked for: implementations of crestacoll for the
calls of one collective, size class and communicator, and variables that force an algorithm of the
MPI.
"""

import re
from dataclasses import dataclass, field

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import Problem
from crestacoll_tools.explore.arms import Point
from crestacoll_tools.rules.collectives import UNSIZED
from crestacoll_tools.tune import native

# Variables that choose algorithms within an MPI. Those of the first pattern say nothing by
# themselves.
SWITCHES = re.compile(r"OMPI_MCA_coll_tuned_use_dynamic_rules")
FORCING = re.compile(
    r"OMPI_MCA_coll_tuned_(?P<ompi>\w+?)_algorithm\w*|OMPI_MCA_coll_tuned_dynamic_rules_filename"
    r"|MPIR_CVAR_(?P<mpich>[A-Z_]+?)_(?:(?:INTRA|INTER|POSIX_INTRA)_)?ALGORITHM"
    r"|I_MPI_ADJUST_(?P<intel>\w+)"
)


@dataclass(frozen=True)
class Candidate:
    """One setting. A point of crestacoll has no variables."""

    name: str
    point: Point | None = None
    implementations: tuple = ()
    variables: dict = field(default_factory=dict, hash=False)

    def remedy(self, instead):
        """What the user changes; `instead`: the implementation that is right."""
        if self.point is not None:
            return f"the rule '{self.point.rule(instead)}' before all others"
        return "unset " + " ".join(self.variables)


def can_change_data(candidate):
    """Those that cannot come first, which the search may not tell from the program itself."""
    return candidate.point is None or candidate.point.collective != "barrier"


def sizes(point):
    if point.low is None:
        return ""
    if point.high is None:
        return f" of {counted(point.low, 'byte')} and more"
    return f" of {point.low} to {point.high} bytes"


def describe(point, implementations):
    on = f" on communicator '{point.communicator}'" if point.communicator else ""
    by = f" by {' and '.join(implementations)}" if implementations else ""
    return f"{point.collective}{sizes(point)}{on} of {counted(point.processes, 'rank')}{by}"


def key_of(record, unnamed):
    """Where a rule cannot tell a communicator from others, because it has no name, all are one."""
    sized = record["collective"] not in UNSIZED
    low, high = (record["bytes_min"], record["bytes_max"]) if sized else (None, None)
    rest = (record["processes"], low, high)
    name = "" if (record["collective"], *rest) in unnamed else record["communicator"]
    return (record["collective"], name, *rest)


CHOSEN = re.compile(
    r"crestacoll: (\w+) on communicator '(.*)' \((\d+) ranks?\): (\S+) for (\d+) "
)


def with_choice(candidate, text):
    """With the implementation of a candidate that no profile tells, from what CRESTA_LOG=info said
    before the program crashed.
    """
    point = candidate.point
    if point is None or candidate.implementations:
        return candidate
    for collective, name, ranks, implementation, size in CHOSEN.findall(text):
        fits = point.low is None or point.low <= int(size) <= (point.high or int(size))
        where = (collective, int(ranks)) == (point.collective, point.processes)
        if where and fits and point.communicator in ("", name):
            said = (implementation,)
            return Candidate(describe(point, said), point, said)
    return candidate


def of_profile(profile, own_only=True):
    """The points whose calls are not the MPI's own; or all, of a profile of the MPI's own calls."""
    records = [
        r
        for r in profile["records"]
        if r["mode"] == "blocking" and (not own_only or r["implementation"] != "mpi")
    ]
    unnamed = {
        (r["collective"], *key_of(r, set())[2:]) for r in records if not r["communicator"]
    }
    found = {}
    for r in records:
        found.setdefault(key_of(r, unnamed), set()).add(r["implementation"])
    made = []
    for key, names in sorted(found.items(), key=lambda item: str(item[0])):
        said = tuple(sorted(names)) if own_only else ()
        made.append(Candidate(describe(Point(*key), said), Point(*key), said))
    return made


def variables_of(environment):
    """({what forces an algorithm of the MPI}, {switches without which that holds nothing})."""
    forcing = {n: v for n, v in environment.items() if FORCING.fullmatch(n)}
    return forcing, {n: v for n, v in environment.items() if SWITCHES.fullmatch(n)}


def of_variables(forcing):
    """One for each collective, however many variables it has."""
    groups = {}
    for name, value in sorted(forcing.items()):
        found = FORCING.fullmatch(name)
        collective = found["ompi"] or (found["mpich"] or "").lower() or found["intel"] or name
        groups.setdefault(collective, {})[name] = value
    return [
        Candidate(" ".join(f"{n}={v}" for n, v in group.items()), variables=group)
        for group in groups.values()
    ]


def forced(build, texts, ranks):
    """Variables for --force COLLECTIVE=ALGORITHM."""
    found = {}
    for text in texts:
        collective, _, name = text.partition("=")
        known = native.algorithms(build, collective, ranks) if (
            collective in native.collectives(build)
        ) else []
        if name not in known:
            raise Problem(
                f"--force {text}: expected COLLECTIVE=ALGORITHM, with an algorithm of this MPI"
                + (f": {', '.join(known)}" if known else
                   f" for {', '.join(native.collectives(build))}"),
                exit_code=2,
            )
        found |= native.forced(build, collective, name)
    return found
