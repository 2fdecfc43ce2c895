# SPDX-License-Identifier: BSD-3-Clause
"""How far apart the cores of this host are now. What is faster while they share a cache may be
slower while they do not, and a virtual machine is moved from one to the other.
"""

from crestacoll.peers import speeds, table, verdicts

SAMPLES = 50
PAUSE = 2.0  # seconds until somebody asks again


def now(build):
    """near or far; None where that cannot be told."""
    floor = table.floor_of([speeds.measure(build.program("crestacoll-floor"), SAMPLES)])
    if floor["exchange"] is None:
        return None
    return "near" if verdicts.near(floor) else "far"


def unknown():
    return None


def missing(cell, seen):
    """Distances at which the cores were, and this size was not proved; none of older tunings."""
    if not cell["proof"]:
        return []
    return [d for d in seen if d not in cell.get("distances", seen)]
