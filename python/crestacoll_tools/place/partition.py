# SPDX-License-Identifier: BSD-3-Clause
"""Ranks on nodes, and the bytes that cross between nodes (traffic.py has the estimate)."""

import numpy as np


class Job:
    """Groups of ranks and the sizes of the nodes, as arrays. A placement is an array with the node
    of each rank. Group number `none` stands for no group: ranks are in unlike numbers of groups.
    """

    def __init__(self, groups, ranks, sizes):
        self.groups, self.ranks = groups, ranks
        self.sizes = np.array(sizes)
        self.none = len(groups)
        self.pairs = np.array([g.pairs for g in groups] + [0.0])
        self.nodes = np.array([g.nodes for g in groups] + [0.0])
        self.members = [np.array(g.members) for g in groups]
        counts = [len(g.members) for g in groups]
        self.processes = np.array([*counts, 0])
        self.of_entry = np.repeat(np.arange(len(groups)), counts)
        self.rank_of_entry = np.concatenate([*self.members, np.array([], dtype=int)])
        self.groups_of = self._groups_of()

    def _groups_of(self):
        """A row for each rank: the groups that it is in."""
        order = np.argsort(self.rank_of_entry, kind="stable")
        ranks, groups = self.rank_of_entry[order], self.of_entry[order]
        each = np.bincount(ranks, minlength=self.ranks)
        table = np.full((self.ranks, max(1, each.max(initial=0))), self.none)
        column = np.arange(len(ranks)) - np.repeat(np.cumsum(each) - each, each)
        table[ranks, column] = groups
        return table

    def counts(self, placement):
        """Members of each group on each node; a row for each group."""
        width = len(self.sizes)
        cells = self.of_entry * width + placement[self.rank_of_entry]
        flat = np.bincount(cells, minlength=(self.none + 1) * width)
        return flat.reshape(self.none + 1, width)

    def spans(self, placement):
        """On how many nodes each group is."""
        return (self.counts(placement) > 0).sum(axis=1)[: self.none]

    def costs(self, placement):
        """Bytes between nodes of each group."""
        counts = self.counts(placement).astype(float)
        apart = self.processes.astype(float) ** 2 - (counts**2).sum(axis=1)
        further = np.maximum((counts > 0).sum(axis=1) - 1, 0)
        return (self.pairs * apart + self.nodes * further)[: self.none]

    def cost(self, placement):
        """Bytes between nodes of all groups."""
        return float(self.costs(placement).sum())

    def filled(self, order):
        """The placement in which ranks fill the nodes in this order."""
        placement = np.empty(self.ranks, dtype=int)
        placement[order] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return placement

    def given(self):
        """Ranks fill the nodes in the order of their numbers."""
        return self.filled(np.arange(self.ranks))

    def tidied(self, placement):
        """The placement with nodes of one size in the order of their lowest ranks."""
        first = np.full(len(self.sizes), self.ranks)
        np.minimum.at(first, placement, np.arange(self.ranks))
        name = np.empty(len(self.sizes), dtype=int)
        for size in np.unique(self.sizes):
            alike = np.flatnonzero(self.sizes == size)
            name[alike[np.argsort(first[alike], kind="stable")]] = alike
        return name[placement]
