# SPDX-License-Identifier: BSD-3-Clause
"""The communicators of a profile as directions of a grid of ranks, and the same grid with another
number of ranks. docs/methods.md says the rules.

A grid is known by its distances: those of 4 rows of 16 ranks are 1, 16 and 64. Rows have all
ranks from distance 1 to 16, columns those from 16 to 64.
"""

import itertools
import math
from dataclasses import dataclass, field

from crestacoll_tools.base.text import counted
from crestacoll_tools.base.ui import USAGE, Problem
from crestacoll_tools.place import traffic


@dataclass(frozen=True)
class Shape:
    """Communicators of `size` ranks with a distance of `stride`, of which every rank has one."""

    size: int
    stride: int = 1

    @property
    def end(self):
        return self.size * self.stride

    def __str__(self):
        return f"{self.size}:{self.stride}"


@dataclass
class Part:
    """Communicators of one name, size and distance. `why`: they have no shape."""

    shape: Shape | None
    why: str = ""
    count: int = 0
    sent: dict = field(default_factory=dict)  # collective: bytes, added up over rank 0 of each

    def weight(self, collective, others):
        """Their share of the calls that the profile has for all of that name and size."""
        total = sum(p.sent.get(collective, 0) for p in others)
        if total:
            return self.sent.get(collective, 0) / total
        return self.count / sum(p.count for p in others)


def of_profile(data, file):
    """{(name, processes): [Part]}: rows and columns may have one name, or none."""
    kinds = {}
    for kind, members, sent in traffic.communicators_of(data, file):
        groups = kinds.setdefault(kind, {})
        groups.setdefault(distance(members), []).append((members, sent))
    return {
        (name, size): [part(size, step, mine, data["ranks"]) for step, mine in groups.items()]
        for (name, size), groups in kinds.items()
    }


def distance(members):
    """The one between neighbours; 0: not the same everywhere; None: nothing is known."""
    steps = {b - a for a, b in itertools.pairwise(members)}
    if not steps:
        return None
    return steps.pop() if len(steps) == 1 and min(steps) > 0 else 0


def part(size, step, groups, ranks):
    made = Part(None, count=len(groups))
    for _, sent in groups:
        for collective, n in sent.items():
            made.sent[collective] = made.sent.get(collective, 0) + n
    if step is None:
        made.why = "the profile does not have its ranks"
    elif step == 0:
        made.why = "its ranks do not ascend at equal distances"
    elif {members[0] for members, _ in groups} != firsts(size, step, ranks):
        made.why = "not every rank is in a communicator of this kind"
    else:
        made.shape = Shape(size, step)
    return made


def firsts(size, step, ranks):
    """The first rank of each communicator, if all ranks have one."""
    return {i // step * size * step + i % step for i in range(ranks // size)}


def scale(shapes, ranks_then, ranks, wanted):
    """{shape: the same direction of the grid of `ranks` ranks}; wanted: {shape: its size there}.
    Shapes that fit into no common grid have grids of their own, the first ones together.
    """
    found = {}
    for distances in grids(shapes, ranks_then):
        mine = [s for s in shapes if s not in found and {s.stride, s.end} <= set(distances)]
        place = larger(distances, ranks, {s: n for s, n in wanted.items() if s in mine})
        found |= {s: Shape(place[s.end] // place[s.stride], place[s.stride]) for s in mine}
    return found


def grids(shapes, ranks):
    """The distances of each grid."""
    found = []
    for shape in shapes:
        for i, distances in enumerate(found):
            joined = sorted({*distances, shape.stride, shape.end})
            if all(b % a == 0 for a, b in itertools.pairwise(joined)):
                found[i] = joined
                break
        else:
            found.append(sorted({1, shape.stride, shape.end, ranks}))
    return found


def larger(distances, ranks, wanted):
    """{distance: that in the grid of `ranks` ranks}: all directions grow by the same factor, or as
    near to it as whole numbers come; of two such grids, the one with more consecutive ranks.
    """
    old = [b // a for a, b in itertools.pairwise(distances)]
    best = None
    for new in products(ranks, len(old)):
        place = dict(zip(distances, itertools.accumulate((1, *new), lambda a, b: a * b)))
        if any(place[s.end] != n * place[s.stride] for s, n in wanted.items()):
            continue
        grown = [math.log(n / o) for n, o in zip(new, old)]
        mean = sum(grown) / len(grown)
        key = (round(sum((g - mean) ** 2 for g in grown), 9), [-n for n in new])
        best = min(best, (key, place), key=lambda b: b[0]) if best else (key, place)
    if best is None:
        raise Problem(no_grid(distances, ranks, wanted), USAGE)
    return best[1]


def no_grid(distances, ranks, wanted):
    old = "x".join(str(b // a) for a, b in itertools.pairwise(distances))
    sizes = ", ".join(f"{counted(n, 'rank')} instead of {s.size}" for s, n in wanted.items())
    asked = f" in which communicators have {sizes}" if wanted else ""
    return (
        f"-n {ranks}: no grid like that of {old} ranks{asked}: the sizes of its directions multiply"
        f" to {ranks}, and each is at least 2"
    )


def products(n, factors):
    """All ways to write n as a product of so many factors of at least 2, in their order."""
    if factors == 1:
        yield (n,)
        return
    for first in divisors(n):
        if 1 < first < n:
            for rest in products(n // first, factors - 1):
                yield (first, *rest)


def divisors(n):
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return small + [n // d for d in reversed(small) if d * d != n]
