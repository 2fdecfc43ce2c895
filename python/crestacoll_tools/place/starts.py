# SPDX-License-Identifier: BSD-3-Clause
"""Placements to start from: as given, round robin, and what suits the communicators of a program.

Communicators of one name and size are the lines of a grid, as a rule: rows, columns, planes. With
two kinds of them, a rank has coordinates, and a node may take a block of the grid: x rows times y
columns. Which block is best depends on what is sent, so all that fit a node are tried. Lines in
three directions make planes.
"""

import itertools

import numpy as np

KINDS = 3  # of communicators, those with the most bytes
STEPS = 100  # along lines; in a grid it takes two


def starts(job):
    """Placements, the given one first."""
    yield job.given()
    yield round_robin(job)
    kinds = heaviest(job)
    lines = [coordinates(job, kind) for kind in kinds]
    size = int(np.bincount(job.sizes).argmax())
    for axes in (lines, planes(lines)):
        for count in range(1, len(axes) + 1):
            for chosen in itertools.combinations(axes, count):
                for shape in shapes(size, count):
                    yield job.filled(blocks(chosen, shape))
    for kind in kinds:
        yield packed(job, kind)


def round_robin(job):
    """Rank by rank to the next node that has room."""
    turn = [np.arange(size) for size in job.sizes]
    nodes = np.repeat(np.arange(len(job.sizes)), job.sizes)
    return nodes[np.lexsort((nodes, np.concatenate(turn)))]


def heaviest(job):
    """The kinds of communicators with the most bytes that a placement can change."""
    bytes_of = {}
    for group in job.groups:
        if len(group.members) < job.ranks:
            bytes_of[group.kind] = bytes_of.get(group.kind, 0.0) + group.total()
    return sorted(bytes_of, key=lambda kind: (-bytes_of[kind], kind))[:KINDS]


def lines_of(job, kind):
    """The numbers of the groups of a kind, by their lowest ranks."""
    mine = [i for i, group in enumerate(job.groups) if group.kind == kind]
    return sorted(mine, key=lambda i: job.members[i].min())


def coordinates(job, kind):
    """For each rank, which line of a kind it is in; ranks in none come last."""
    mine = lines_of(job, kind)
    found = np.full(job.ranks, len(mine))
    for number, group in reversed(list(enumerate(mine))):
        found[job.members[group]] = number
    return found


def planes(lines):
    """Coordinates again: ranks that lines of two kinds connect are in one plane."""
    found = [connected(a, b) for a, b in itertools.combinations(lines, 2)]
    return [plane for plane in found if plane.any()]


def connected(a, b):
    """For each rank, the number of the ranks that it reaches by lines of two kinds."""
    label = a
    for _ in range(STEPS):
        before = label
        for line in (a, b):
            lowest = np.full(line.max() + 1, len(line))
            np.minimum.at(lowest, line, label)
            label = lowest[line]
        if (label == before).all():
            break
    return np.unique(label, return_inverse=True)[1]


def shapes(size, count):
    """All ways to write a size as a product of so many numbers."""
    if count == 1:
        return [(size,)]
    divisors = [d for d in range(1, size + 1) if size % d == 0]
    return [(d, *more) for d in divisors for more in shapes(size // d, count - 1)]


def blocks(lines, shape):
    """An order of the ranks: block by block of so many lines of each kind. With one kind of lines,
    line by line.
    """
    if len(lines) == 1:
        return np.argsort(lines[0], kind="stable")
    keys = [line // width for line, width in zip(lines, shape)] + list(lines)
    return np.lexsort(keys[::-1])


def packed(job, kind):
    """Each communicator of a kind on the node that it fills best; one that fits nowhere takes whole
    nodes, the emptiest first. All other ranks fill what is left.
    """
    room = job.sizes.copy()
    placement = np.full(job.ranks, -1)
    for group in lines_of(job, kind):
        left = [rank for rank in job.members[group] if placement[rank] < 0]
        while left:
            fits = np.flatnonzero(room >= len(left))
            node = fits[room[fits].argmin()] if len(fits) else room.argmax()
            count = min(len(left), room[node])
            placement[left[:count]] = node
            room[node] -= count
            left = left[count:]
    placement[placement < 0] = np.repeat(np.arange(len(room)), room)
    return placement
