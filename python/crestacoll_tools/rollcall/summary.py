# SPDX-License-Identifier: BSD-3-Clause
"""The text and the JSON of a roll-call."""

import re

from crestacoll_tools.base.text import counted, visible
from crestacoll_tools.rollcall import places, verdict, words
from crestacoll_tools.rollcall.records import Process

SHOWN = 40  # different places in the list
PART = re.compile(r"; (?=ranks? )")  # of a sentence: a line of its own


def with_missing(processes):
    """The processes, and the ranks of their MPI_COMM_WORLD that are not among them; the places of
    their calls are looked up.
    """
    places.find(processes)
    worlds = {}
    for p in processes:
        if p.rank >= 0:
            worlds.setdefault((p.world, p.size, p.spawned), set()).add(p.rank)
    missing = [
        Process(rank, size, world, spawned, state="unknown")
        for (world, size, spawned), there in worlds.items()
        for rank in range(size)
        if rank not in there
    ]
    return sorted([*processes, *missing], key=lambda p: (p.spawned, p.world, p.rank))


def text(processes, why):
    """Lines for people; why: what made somebody ask."""
    processes = with_missing(processes)
    found = {}
    for p in processes:
        found.setdefault(words.place(p), []).append(p)
    lines = [f"crestacoll: roll-call of {counted(len(processes), 'rank')}: {why}"]
    for place, ranks in list(found.items())[:SHOWN]:
        lines.append(f"    {words.who(ranks)}: {words.of_all(ranks, place)}")
    if len(found) > SHOWN:
        lines.append(f"    and {len(found) - SHOWN} other places")
    found = verdict.verdict(processes)
    lines.append("crestacoll: " + PART.sub(";\n    ", found.sentence))
    lines += [f"    {p_where(p)}" for p in found.odd[:8] if p.pid]
    if found.hint:
        lines.append(f"    {found.hint}")
    return visible("\n".join(lines))


def p_where(process):
    return f"{words.who([process])} is process {process.pid} on {process.host}"


def data(processes, why):
    """The summary as JSON, of schema crestacoll-hang-1."""
    processes = with_missing(processes)
    found = verdict.verdict(processes)
    return {
        "schema": "crestacoll-hang-1",
        "why": why,
        "ranks": [
            {
                "rank": p.rank,
                "spawned": p.spawned,
                "host": p.host,
                "pid": p.pid,
                "state": p.state,
                "place": words.place(p),
                "site": p.thread.place if p.thread and p.thread.place else None,
                "odd": any(p is odd for odd in found.odd),
            }
            for p in processes
        ],
        "sentence": found.sentence,
        "hint": found.hint,
    }
