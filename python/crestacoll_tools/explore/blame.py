# SPDX-License-Identifier: BSD-3-Clause
"""Which arm a program does not bear, from what the library wrote before it crashed or hung."""

from crestacoll_tools.explore import reasons, whole
from crestacoll_tools.explore.reasons import how

MOST_MISSED = 3  # runs of a race that show nothing


def of_race(ended, log, competing):
    """([names of arms that may be to blame], what is said if there is one). The library writes
    which arm runs for the first time when no rank has begun with it, and none is in the one before
    any more. An empty list: only the MPI's own had run.
    """
    if log.first in competing:
        before = log.names[log.names.index(log.first) - 1]
        return [log.first], f"the program {how(ended)} in its first steps, after those of {before}"
    if log.first is not None:
        return [], ""
    return list(competing), f"the program {how(ended)} under it, with only the MPI's own beside it"


def broke(search, stage, competing, ended, log):
    """An arm with which the program fails leaves, with a note. Where several may be to blame, each
    has to run alone against the reference. Where none is, the program may try again.
    """
    reasons.need_settings(ended)
    if log.start is None:
        whole.clear_of(search, ended, "a race")
        reasons.broken_by_race(ended, how(ended))
    names, told = of_race(ended, log, competing)
    if not names:
        stage["missed"] += 1
        search.note(f"the program {how(ended)} before another arm than the MPI's own had run")
        if stage["missed"] >= MOST_MISSED:
            whole.clear_of(search, ended, "a race")
            reasons.broken_by_race(ended, how(ended))
    elif len(names) > 1:
        stage["suspects"] = names
    else:
        innocent = whole.clear_of(search, ended, names[0])
        stage["failed"].append({"arm": names[0], "text": how(ended)})
        search.note(f"{names[0]}: {told}; {innocent}")
    search.state.save()


def of_calls(log, competing, rows):
    """[(index of a point, implementation)] that ranks called for the first time, with nothing
    behind it.
    """
    found = {
        (rows.index(row), dict(competing[arm].picks).get(rows.index(row)))
        for arm, row in log.last
        if row in rows
    }
    return sorted((i, name) for i, name in found if name is not None)
