# SPDX-License-Identifier: BSD-3-Clause
"""The search for a placement with few bytes between nodes: several starts (starts.py), the best of
which are improved by swaps of two ranks on two nodes, as Kernighan and Lin do, until no swap helps.
The same job has the same result.
"""

import numpy as np

from crestacoll_tools.place.starts import starts

IMPROVED = 3  # starts
PASSES = 20
LOOKS = 12000  # at pairs of nodes, of all of them together: some seconds
CELLS = 1 << 26  # ranks, or groups, times nodes; with more, starts are only compared
GAIN = 1e-9  # of all bytes; less is rounding


def best(job):
    """The best placement that is found; the given one if nothing is better."""
    given = job.given()
    least = GAIN * max(1.0, job.cost(given))
    found = sorted(distinct(job), key=lambda item: item[0])[:IMPROVED]
    if max(job.ranks, job.none) * len(job.sizes) <= CELLS:
        found = [(job.cost(p), p) for p in improved(job, [p for _, p in found], least)]
    cost, placement = min(found, key=lambda item: item[0])
    return job.tidied(placement) if cost < job.cost(given) - least else given


def distinct(job):
    """(cost, placement) of the starts, one for each cost."""
    found = {}
    for placement in starts(job):
        found.setdefault(job.cost(placement), placement)
    return found.items()


def improved(job, placements, least):
    """Placements after swaps, as long as looks are left."""
    left = LOOKS
    for placement in placements:
        swaps = Swaps(job, placement, least)
        left -= swaps.run(left)
        yield swaps.placement


class Swaps:
    """Improves one placement. A rank that moves changes the cost by what its groups gain or lose;
    groups that both ranks of a swap share stay as they are.
    """

    def __init__(self, job, placement, least):
        self.job, self.placement, self.least = job, placement.copy(), least
        self.counts = job.counts(placement)
        self.column = np.full(job.none + 1, -1)  # of a table, while it is made

    def run(self, most):
        """As many swaps as help, with so many looks at most; how many it took."""
        looks = 0
        for _ in range(PASSES):
            before = looks
            pairs = self._promising()
            for a, b in pairs:
                looks += self._swap_all(a, b) if looks < most else 0
            if looks - before <= len(pairs) or looks >= most:
                break
        return looks

    def _promising(self):
        """Pairs of nodes between which a swap might help, the most promising first: the best move
        of each to the other, if they shared no group. To share one never helps.
        """
        moves = self._moves(np.arange(self.job.ranks))
        order = np.argsort(self.placement, kind="stable")
        first = np.cumsum(self.job.sizes) - self.job.sizes
        best_move = np.minimum.reduceat(moves[order], first, axis=0)
        both = best_move + best_move.T
        a, b = np.nonzero(np.triu(both < -self.least, 1))
        ranked = np.argsort(both[a, b], kind="stable")
        return list(zip(a[ranked], b[ranked]))

    def _moves(self, ranks):
        """What the cost gains if a rank moves: a row for each rank, a column for each node."""
        p, c = self.job, self.counts
        gained = -2 * p.pairs[:, None] * c + p.nodes[:, None] * (c == 0)
        sums = np.zeros((len(ranks), len(p.sizes)))
        for groups in p.groups_of[ranks].T:
            here = c[groups, self.placement[ranks]]
            sums += gained[groups]
            sums += (2 * p.pairs[groups] * (here - 1) - p.nodes[groups] * (here == 1))[:, None]
        return sums

    def _move(self, groups, a, b):
        """The change of the cost when ranks of these groups move from node a to node b."""
        p, c = self.job, self.counts
        here, there = c[groups, a], c[groups, b]
        change = 2 * p.pairs[groups] * (here - there - 1)
        change = change + p.nodes[groups] * ((there == 0) * 1.0 - (here == 1))
        return np.where(groups == p.none, 0.0, change).sum(axis=1)

    def _swap_all(self, a, b):
        """Swaps ranks of two nodes while it helps; how many looks it took: 1 if none did."""
        for looks in range(1, 2 * int(min(self.job.sizes[[a, b]])) + 2):
            if not self._swap_best(a, b):
                break
        return looks

    def _swap_best(self, a, b):
        """The swap that helps most; False if none does."""
        p = self.job
        on_a, on_b = np.flatnonzero(self.placement == a), np.flatnonzero(self.placement == b)
        groups_a, groups_b = p.groups_of[on_a], p.groups_of[on_b]
        change = self._move(groups_a, a, b)[:, None] + self._move(groups_b, b, a)[None, :]
        change += self._shared(groups_a, groups_b, a, b)
        i, j = np.unravel_index(change.argmin(), change.shape)
        if change[i, j] >= -self.least:
            return False
        self._go(on_a[i], b)
        self._go(on_b[j], a)
        return True

    def _go(self, rank, node):
        """A rank moves to a node."""
        groups = self.job.groups_of[rank]
        groups = groups[groups != self.job.none]
        self.counts[groups, self.placement[rank]] -= 1
        self.counts[groups, node] += 1
        self.placement[rank] = node

    def _shared(self, groups_a, groups_b, a, b):
        """What the two moves of a swap wrongly count for groups that both ranks are in."""
        common = self._common(groups_a, groups_b)
        if not len(common):
            return 0.0
        alone = (self.counts[common, a] == 1) * 1.0 + (self.counts[common, b] == 1)
        weight = 4 * self.job.pairs[common] + self.job.nodes[common] * alone
        self.column[common] = np.arange(len(common))
        change = (self._inside(groups_a, common) * weight) @ self._inside(groups_b, common).T
        self.column[common] = -1
        return change

    def _common(self, groups_a, groups_b):
        """The groups that have ranks among both."""
        self.column[groups_a] = 0
        found = np.unique(groups_b[self.column[groups_b] == 0])
        self.column[groups_a] = -1
        return found[found != self.job.none]

    def _inside(self, groups, common):
        """Which of some groups each rank is in: 0 or 1."""
        table = np.zeros((len(groups), len(common)))
        row, at = np.nonzero(self.column[groups] >= 0)
        table[row, self.column[groups[row, at]]] = 1
        return table
