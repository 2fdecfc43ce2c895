# SPDX-License-Identifier: BSD-3-Clause
"""Races in which arms take turns by calls: what the ranks wrote, joined. Every rank has a file of
its own (race.py knows the one that rank 0 shares with races of steps).
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROW = ("collective", "bytes_min", "processes")
WINDOW = 4  # communicators that are compared with each other, for each arm


@dataclass
class Turns:
    """What the turns of one run gave. `rounds` and `youths`: {row: [{number of the arm: seconds per
    call}]}, where a row is (collective, smallest size of its class, ranks); `calls` and
    `young_calls`: {row: how many were made}, on the rank that made most.
    """

    started: bool = False
    rounds: dict = field(default_factory=dict)
    youths: dict = field(default_factory=dict)
    calls: dict = field(default_factory=dict)
    young_calls: dict = field(default_factory=dict)
    last: set = field(default_factory=set)  # (arm, row) that ran first, with nothing behind it
    mpi: str = ""
    ranks: int | None = None
    bad: int = 0

    def of(self, row):
        """The comparisons of a row: those of whole lives if most of its calls are on communicators
        that live for a few calls only.
        """
        young = self.young_calls.get(row, 0) > self.calls.get(row, 0)
        return self.youths.get(row, []) if young else self.rounds.get(row, [])


def files(path):
    """Those of all ranks."""
    path = Path(path)
    return [path, *sorted(path.parent.glob(path.name + ".*"))]


def read(path):
    """The Turns of a run; whatever is cut or unknown counts as bad, and changes nothing."""
    made = Turns()
    rounds, youths = defaultdict(list), defaultdict(list)
    for file in files(path):
        read_file(file, made, rounds, youths)
    for key in sorted(rounds):
        join_round(made, key, rounds[key])
    join_youths(made, youths)
    return made


def read_file(file, made, rounds, youths):
    calls, last = defaultdict(int), None
    young_calls = defaultdict(int)
    for event in lines(file, made):
        try:
            kind = event["event"]
            last = None
            if kind == "turns":
                made.started, made.mpi, made.ranks = True, event["mpi"], event["ranks"]
                continue
            row, who = row_of(event), tuple(event["communicator"])
            if kind == "first":
                last = (event["arm"], row)
            elif kind == "turn":
                blocks = list(zip(event["order"], map(float, event["call_s"]), strict=True))
                rounds[(row, who, event["round"])].append(blocks)
                calls[row] += event["calls"] * len(blocks)
            elif kind == "youth":
                sample = (event["arm"], event["calls"], float(event["call_s"]))
                youths[(row, who)].append(sample)
                young_calls[row] += event["calls"]
        except (ValueError, KeyError, TypeError):
            made.bad += 1
    made.last |= {last} if last else set()
    keep_most(made.calls, calls)
    keep_most(made.young_calls, young_calls)


def lines(file, made):
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    whole, _, _ = text.rpartition("\n")
    for line in whole.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            made.bad += 1


def row_of(event):
    return tuple(event[name] for name in ROW)


def keep_most(most, calls):
    for row, number in calls.items():
        most[row] = max(most.get(row, 0), number)


def join_round(made, key, blocks_of_ranks):
    """The mean over the ranks, and over the blocks of each arm."""
    row = key[0]
    seconds = defaultdict(list)
    for blocks in blocks_of_ranks:
        for arm, value in blocks:
            seconds[arm].append(value)
    made.rounds.setdefault(row, []).append({a: sum(v) / len(v) for a, v in seconds.items()})


def join_youths(made, youths):
    """Communicators one after the other have all arms: those of a window are compared."""
    if not youths:
        return
    arms = 1 + max(arm for samples in youths.values() for arm, _, _ in samples)
    windows = defaultdict(lambda: defaultdict(list))
    for (row, (number, _)), samples in youths.items():
        for arm, _, seconds in samples:
            windows[(row, number // (WINDOW * arms))][arm].append(seconds)
    for (row, _), seconds in sorted(windows.items()):
        made.youths.setdefault(row, []).append({a: sum(v) / len(v) for a, v in seconds.items()})
