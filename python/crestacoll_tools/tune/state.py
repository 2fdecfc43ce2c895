# SPDX-License-Identifier: BSD-3-Clause
"""What `crestacoll tune` keeps in its folder, so that it can be interrupted and go on."""

from crestacoll_tools.base.statefolder import StateFolder
from crestacoll_tools.tune import grid


class State(StateFolder):
    """`data["points"]` is the grid; a point has cells, one for each size:
    {"bytes", "found": {implementation: difference}, "candidate", "arms", "proof": difference,
    "proofs": how many, of which the worst is there,
    "proved_at": [[kind of data, number of a speed]],
    "lacks": numbers of the speeds at which a rule would have to be proved}.
    `data["speeds"]` is {number of ranks, as text: speeds.Speeds.met}.
    `data["hosts"]` is {number of ranks, as text: hosts that they were on}.
    """

    SCHEMA, HOLDS = "crestacoll-tune-2", "a tuning"

    @property
    def points(self):
        return self.data["points"]

    def hosts(self, ranks):
        """How many hosts so many ranks were on; None: nothing was measured."""
        return self.data["hosts"].get(str(ranks))

    @property
    def most_hosts(self):
        return max(self.data["hosts"].values(), default=None)

    @property
    def open_points(self):
        return [p for p in self.points if not p["done"]]


def new(folder, options):
    data = {"options": options, "mpi_library": None, "hosts": {}, "others": None, "speeds": {}}
    return State.new(folder, data | {"points": grid.points(options)})


def resumed(folder):
    """That of a folder, with its own options."""
    found = State.resumed(folder)
    for point in found.points:  # those without enough rounds are measured again
        point["done"] = point["done"] and not point["short"]
    return found
