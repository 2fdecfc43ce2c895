# SPDX-License-Identifier: BSD-3-Clause
"""Who talks to whom in a profile: for each communicator, its members and an estimate of the bytes
that cross between nodes, as a function of how the members are spread over the nodes.

A communicator of p members, c of them on each of k nodes, sends between nodes

    pairs * (p * p - sum of c * c) + nodes * (k - 1)    bytes.

`pairs` are bytes from each member to each other one; a placement decides how many pairs are on two
nodes. `nodes` are bytes that have to reach each further node once, and are spread or combined
inside it. docs/methods.md says more.
"""

from dataclasses import dataclass

from crestacoll_tools.base.ui import Problem
from crestacoll_tools.rules.collectives import NEIGHBORS

# Per byte of a call (docs/choosing.md) and p processes: (pairs, nodes). The root of a gather or a
# scatter is not in the profile: this is the mean over all roots.
MODEL = {
    "alltoall": lambda p: (1, 0),
    "alltoallv": lambda p: (1, 0),
    "alltoallw": lambda p: (1, 0),
    "gather": lambda p: (1 / p, 0),
    "gatherv": lambda p: (1 / p, 0),
    "scatter": lambda p: (1 / p, 0),
    "scatterv": lambda p: (1 / p, 0),
    "allgather": lambda p: (0, p),
    "allgatherv": lambda p: (0, p),
    "reduce_scatter_block": lambda p: (0, p),
    "reduce_scatter": lambda p: (0, 1),
    "allreduce": lambda p: (0, 2),
    "bcast": lambda p: (0, 1),
    "reduce": lambda p: (0, 1),
    "scan": lambda p: (0, 1),
    "exscan": lambda p: (0, 1),
    "barrier": lambda p: (0, 0),
}
# Who is whose neighbour is not in the profile: what these send counts for nothing.
MODEL |= dict.fromkeys(NEIGHBORS, MODEL["barrier"])


MOST = 4096  # communicators of a profile: those with the most bytes


@dataclass
class Group:
    """A communicator: its members in MPI_COMM_WORLD, and what it sends, in bytes of the whole run.
    Communicators of one name and size are of one `kind`.
    """

    kind: tuple
    members: list
    pairs: float = 0.0
    nodes: float = 0.0

    def total(self):
        """Bytes between its members, wherever they are."""
        p = len(self.members)
        return self.pairs * p * (p - 1) + self.nodes * (p - 1)


@dataclass
class Traffic:
    """`unknown`: bytes of communicators whose members the profile does not have."""

    ranks: int
    groups: list
    unknown: float


def total_of(collective, processes, of_a_call):
    """Bytes between the members of a communicator for calls of so many bytes."""
    pairs, nodes = MODEL[collective](processes)
    return of_a_call * (pairs * processes + nodes) * (processes - 1)


def communicators_of(data, file):
    """[(kind, members, {collective: bytes of its rank 0})] of a profile."""
    if data["communicators"] is None:
        raise Problem(
            f"{file} ({data['schema']}) does not say which ranks its communicators have:"
            " record it again with this version of crestacoll"
        )
    return [
        ((c["communicator"], c["processes"]), members_of(c, data["ranks"], file), c["bytes"])
        for c in data["communicators"]
    ]


def of_profile(data, file):
    """The Traffic of a profile."""
    known = communicators_of(data, file)
    groups = [Group(kind, members) for kind, members, _ in known]
    own = [sent for _, _, sent in known]
    complete = len(groups) < MOST
    unknown = 0.0
    for (kind, collective), total in sums(data).items():
        mine = [(g, b.get(collective, 0)) for g, b in zip(groups, own) if g.kind == kind]
        unknown += share_out(mine, kind[1], collective, total, complete)
    return Traffic(data["ranks"], [g for g in groups if g.members and g.total()], unknown)


def members_of(communicator, ranks, file):
    """Its ranks of MPI_COMM_WORLD; none where the profile does not have them."""
    runs, processes = communicator["members"], communicator["processes"]
    if runs and sum(count for _, _, count in runs) == processes <= ranks:
        found = [first + i * step for first, step, count in runs for i in range(count)]
        if len(set(found)) == processes and min(found) >= 0 and max(found) < ranks:
            return found
    if runs:
        name = communicator["communicator"]
        raise Problem(f"{file}: the members of communicator '{name}' ({processes}) are wrong")
    return []


def sums(data):
    """{(kind, collective): bytes of all ranks} of the records."""
    found = {}
    for r in data["records"]:
        if r["processes"] > 1 and r["collective"] in MODEL:
            key = (r["communicator"], r["processes"]), r["collective"]
            found[key] = found.get(key, 0) + r["bytes_total"]
    return found


def share_out(groups, processes, collective, total, complete):
    """Gives communicators of one kind their part of the bytes of a record, which adds them up: as
    rank 0 of each counted. Returns what those send whose members are not known, or that are not in
    the profile because it is not `complete`.
    """
    counted = processes * sum(own for _, own in groups)
    if not groups or (not counted and not complete):
        return total_of(collective, processes, total / processes)
    scale = total / counted if counted and (complete or counted > total) else 1.0
    pairs, nodes = MODEL[collective](processes)
    unknown = 0.0 if complete else max(0, total - counted) / processes
    for group, own in groups:
        of_a_call = own * scale if counted else total / processes / len(groups)
        group.pairs += pairs * of_a_call
        group.nodes += nodes * of_a_call
        unknown += 0.0 if group.members else of_a_call
    return total_of(collective, processes, unknown)
