# SPDX-License-Identifier: BSD-3-Clause
"""From what was measured to the rules of a tuning file."""

import math

from crestacoll_tools.race import racestats
from crestacoll_tools.rules import tuning
from crestacoll_tools.rules.collectives import REDUCTIONS
from crestacoll_tools.tune import grid


def winner(cell, sure=True):
    """The implementation of the rule for this size; None: the MPI's own. `sure`: its gain was
    proved by the certainty of a claim, at each speed of the machine.
    """
    return None if sure and cell.get("lacks") else gains(cell, sure)


def gains(cell, sure=True):
    """The implementation whose gain was proved at this size, at some speed of the machine."""
    proof = cell["proof"] and racestats.Difference(**cell["proof"])
    wins = proof and (proof.surely_faster if sure else proof.faster)
    return cell["candidate"] if wins else None


def limits(sizes):
    """The bytes that each of the sizes stands for: half the way to its neighbours, in powers; not
    beyond the first and the last.
    """
    between = [math.isqrt(a * b) for a, b in zip(sizes, sizes[1:])]
    low = [sizes[0], *(m + 1 for m in between)]
    return list(zip(low, [*between, sizes[-1]]))


def spans(point, sure=True):
    """[(implementation, (least, most bytes) or None, cells)]: neighbouring sizes with the same
    winner together. A collective without a size that all ranks know has one span, and only if
    one implementation is faster at all sizes.
    """
    cells = sorted(point["cells"], key=lambda c: c["bytes"])
    if not cells:
        return []
    if not grid.sized(point["collective"]):
        names = {winner(c, sure) for c in cells}
        alone = names.pop() if len(names) == 1 else None
        return [(alone, None, cells)] if alone else []
    found = []
    for cell, (low, high) in zip(cells, limits([c["bytes"] for c in cells])):
        name = winner(cell, sure)
        if found and found[-1][0] == name:
            found[-1] = (name, (found[-1][1][0], high), [*found[-1][2], cell])
        else:
            found.append((name, (low, high), [cell]))
    return [span for span in found if span[0]]


def chains(points, hosts=lambda ranks: None):
    """[(collective, [ranks], span)]: equal spans of neighbouring numbers of ranks together, if they
    were on equally many hosts. `hosts` says on how many so many ranks were.
    """
    found = []
    counts = sorted({p["ranks"] for p in points})
    for p in sorted(points, key=lambda p: (p["collective"], p["ranks"])):
        before = counts[max(0, counts.index(p["ranks"]) - 1)]
        for name, sizes, cells in spans(p):
            same = (c for c in found if (c[0], c[2][:2]) == (p["collective"], (name, sizes)))
            near = (c for c in same if c[1][-1] == before and hosts(before) == hosts(p["ranks"]))
            chain = next(near, None)
            if chain is None:
                found.append((p["collective"], [p["ranks"]], (name, sizes, cells)))
            else:
                chain[1].append(p["ranks"])
                chain[2][2].extend(cells)
    return found


def rule(collective, ranks, span, hosts):
    name, sizes, cells = span
    made = {"collective": collective, "ranks": [ranks[0], ranks[-1]], "implementation": name}
    if sizes is not None:
        made["bytes"] = list(sizes)
    if hosts:
        made["nodes"] = [hosts, hosts]
    made["changes_rounding"] = collective in REDUCTIONS
    return made | {"earned": earned(cells)}


def earned(cells):
    """The least gain of all sizes; and each of them."""
    proofs = [racestats.Difference(**c["proof"]) for c in cells]
    least = max(proofs, key=lambda d: d.trimmed)
    each = [{"bytes": c["bytes"], **gain(d)} for c, d in zip(cells, proofs)]
    return {
        "arms": list(dict.fromkeys(name for c in cells for name in c["arms"])),
        "blocks": sum(d.rounds for d in proofs),
        **gain(least),
        "sizes": each,
    }


def gain(difference):
    ends = {"gain": -difference.trimmed, "low": -difference.high, "high": -difference.low}
    return {name: round(value, 4) for name, value in ends.items()}


def rules(state):
    return [rule(*c, state.hosts(c[1][0])) for c in chains(state.points, state.hosts)]


def write(state):
    """DIR/tuning.json with what was found so far; None if no job has run yet."""
    data = state.data
    if data["mpi_library"] is None:
        return None, []
    found = rules(state)
    head = tuning.head(data["mpi_library"])
    head |= {"command": "crestacoll tune", "hosts": state.most_hosts}
    tuning.write(state.folder / "tuning.json", head, found)
    return state.folder / "tuning.json", found
