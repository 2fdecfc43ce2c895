#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""auto_rules.py - the built-in rules of `auto`, from what was measured.

    .venv/bin/python tools/auto_rules.py docs/performance.csv [FILE...] [--ratio 0.9] [--tail 1.0]

A FILE is a table of `bench/peers` (.csv), or the JSON lines of `tools/never_slower.py --impl shm`;
or, alone, the table of tools/auto_hosts.py: then rules are for `hier`, on as many nodes, with as
many ranks on each, as were measured.
Prints one line of C for each rule, for Open MPI, for MPICH, and for all other MPIs. The rules of
the others hold for all MPIs that were measured; with --common, those of all do.

A size wins on a number of ranks if each measurement of it does: in each file, by each way of
measuring, on each MPI. A measurement wins if the median of `shm` is at most --ratio times that of
the MPI's own call, and its 90th percentile at most --tail times that of the MPI's. A size that some
MPI of the family was not measured at neither wins nor, unless it loses, ends a range. Between hosts
that is asked where MPIs have their own settings and the network has a rate; under other settings,
and where it is as fast as memory, it is enough if the median is not above that of the MPI. A size
that loses there with one number of ranks has no rule with another.

A rule has a range of neighbouring sizes that win, at least --least of them, from the first to the
last; without --from, one that begins at the smallest size measured begins at 0. It has the numbers
of ranks from the first to the last of neighbours that win. Collectives without a size that all
ranks know have a rule only if all sizes win, and none with --from and --most, which leave out
smaller and larger calls.
"""
import argparse
import datetime
import json
import math
import pathlib
import shlex
import sys
from collections import defaultdict
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

import auto_hosts  # noqa: E402
from crestacoll_tools.base.sizes import parse_size  # noqa: E402
from crestacoll_tools.peers import table  # noqa: E402
from crestacoll_tools.rules import tuning  # noqa: E402
from crestacoll_tools.rules.collectives import UNSIZED  # noqa: E402

MODEL, REST = "shm", "other"
FAMILIES = ("openmpi", "mpich", REST)


@dataclass(frozen=True)
class Measured:
    """One MPI, size and way of measuring: ratios of the model to the MPI's own call, of the medians
    and of the 90th percentiles. On several nodes `ranks` are those of a node. `gains`: it has to
    gain there; otherwise it must not lose.
    """

    mpi: str
    collective: str
    ranks: int
    bytes: int
    ratio: float
    tail: float
    nodes: int = 1
    gains: bool = True

    def wins(self, ratio, tail):
        return self.ratio <= ratio and self.tail <= tail if self.gains else self.ratio <= 1


def of_table(path):
    for row in table.read_csv(path):
        point = row.point
        if point.calls != "blocking":
            continue
        for mpi, own in row.own.items():
            ours = row.cresta.get(mpi)
            if ours is not None:
                ratios = ours.median / own.median, ours.p90 / own.p90
                yield Measured(mpi, point.collective, point.ranks, point.bytes, *ratios)


def of_lines(path):
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if line.get("candidate") == MODEL:
            ratios = (line[f"candidate_{f}_us"] / line[f"mpi_{f}_us"] for f in ("median", "p90"))
            yield Measured(*(line[n] for n in ("mpi", "collective", "ranks", "bytes")), *ratios)


def of_hosts(path):
    for line in auto_hosts.lines(path):
        gains = not line["settings"] and line["rate"] != auto_hosts.FAST
        own, ours = ([float(line[f"{name}_{what}_us"]) for what in ("median", "p90")]
                     for name in ("mpi", auto_hosts.MODEL))
        yield Measured(
            f"{line['mpi']}+{line['settings']}",
            line["collective"],
            int(line["ranks_per_host"]),
            int(line["bytes"]),
            *(mine / theirs for mine, theirs in zip(ours, own)),
            nodes=int(line["hosts"]),
            gains=gains,
        )


def read(path):
    if path.suffix != ".csv":
        return list(of_lines(path))
    return list(of_hosts(path) if auto_hosts.is_table(path) else of_table(path))


def between(least, most, measured):
    """Calls of so many bytes; the bytes of an unsized collective are not known, and a barrier has
    none.
    """
    if least == 0 and most == math.inf:
        return measured
    sized = (m for m in measured if m.collective == "barrier" or m.collective not in UNSIZED)
    return [m for m in sized if least <= m.bytes <= most]


def of_family(measured, family):
    """Versions of an MPI have its name with a number behind it, and settings behind a plus."""
    return [
        m for m in measured if family in (REST, m.mpi.partition("+")[0].rstrip("0123456789"))
    ]


def sides(measured, ratio, tail):
    """{(collective, ranks): {bytes: True: wins, False: loses, None: not measured on all MPIs}}"""
    cells, mpis = defaultdict(lambda: defaultdict(list)), {m.mpi for m in measured}
    for m in measured:
        cells[m.collective, m.ranks][m.bytes].append(m)
    return {
        where: {size: side(found, mpis, ratio, tail) for size, found in sorted(sizes.items())}
        for where, sizes in cells.items()
    }


def side(found, mpis, ratio, tail):
    if not all(m.wins(ratio, tail) for m in found):
        return False
    return True if {m.mpi for m in found} == mpis else None


def lose_together(found):
    """What loses with one number of ranks loses with all."""
    lost = {(c, size) for (c, _), sizes in found.items() for size, won in sizes.items()
            if won is False}
    for (collective, _), sizes in found.items():
        sizes |= {size: False for size in sizes if (collective, size) in lost}


def spans(sizes, limits):
    """[(first, last) size] of the ranges with so many winners; the first of all begins at 0."""
    runs, smallest = [[]], None if limits.smallest else min(sizes)
    for size, wins in sizes.items():
        if wins:
            runs[-1].append(size)
        elif wins is False:
            runs.append([])
    long = [run for run in runs if len(run) >= limits.least]
    return [(0 if run[0] == smallest else run[0], run[-1]) for run in long]


def ranges_of(collective, sizes, limits):
    if collective not in UNSIZED:
        return spans(sizes, limits)
    known = [wins for wins in sizes.values() if wins is not None]
    return [(0, float("inf"))] if known and all(known) else []


def common(some, others):
    """What ranges have in common; not a single size."""
    both = [(max(a[0], b[0]), min(a[1], b[1])) for a in some for b in others]
    return [sizes for sizes in both if sizes[0] < sizes[1]]


def boxes(ranges):
    """{ranks: ranges of sizes} -> [(ranks, sizes)]: each run of neighbouring numbers of ranks with
    the sizes that all of them have, unless another has all of that.
    """
    counts, found = sorted(ranges), []
    for i, first in enumerate(counts):
        shared = ranges[first]
        for last in counts[i:]:
            shared = common(shared, ranges[last])
            found += [((first, last), sizes) for sizes in shared]
    return [b for b in found if not any(b != c and all(map(tuning.inside, b, c)) for c in found)]


def rules(measured, limits):
    """The rules of one family, as texts, sorted; `limits` are the options."""
    nodes, found = nodes_of(measured), sides(measured, limits.ratio, limits.tail)
    if nodes != (1, 1):
        lose_together(found)
    ranges = defaultdict(dict)
    for (collective, ranks), sizes in found.items():
        ranges[collective][ranks] = ranges_of(collective, sizes, limits)
    return [
        tuning.rule_text(rule(collective, ranks, sizes, nodes))
        for collective in sorted(ranges)
        for ranks, sizes in boxes(ranges[collective])
    ]


def nodes_of(measured):
    """The least and the most; tables of one node and of several are not mixed."""
    nodes = {m.nodes for m in measured} or {1}
    if 1 in nodes and len(nodes) > 1:
        raise ValueError("the table of tools/auto_hosts.py goes alone")
    return min(nodes), max(nodes)


def rule(collective, ranks, sizes, nodes):
    made = {"collective": collective, "nodes": nodes}
    if nodes == (1, 1):
        made |= {"ranks": ranks, "implementation": MODEL}
    else:
        made |= {"ranks_per_node": ranks, "implementation": auto_hosts.MODEL}
    return made | ({} if collective in UNSIZED else {"bytes": sizes})


def head(words, model):
    """The comment above the rules."""
    command = shlex.join(["tools/auto_rules.py", *words])
    date = datetime.date.today().isoformat()
    return f"/* Where {model} is faster beyond doubt. Written on {date} by\n *     {command} */"


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--ratio", type=float, default=0.9, help="of the medians, at most")
    parser.add_argument("--tail", type=float, default=1.0, help="of the 90th percentiles, at most")
    parser.add_argument("--from", dest="smallest", type=parse_size, default=0,
                        help="bytes of a call, at least")
    parser.add_argument("--most", type=parse_size, default=math.inf,
                        help="bytes of a call, at most")
    parser.add_argument("--family", action="append", choices=FAMILIES,
                        help="only rules for these")
    parser.add_argument("--common", action="store_true",
                        help="rules that hold for all MPIs, for each family")
    parser.add_argument("--least", type=int, default=2, help="winning sizes of a range, at least")
    args = parser.parse_args(words)
    try:
        measured = [m for path in args.files for m in read(path)]
        several = nodes_of(measured) != (1, 1)
    except (OSError, ValueError, KeyError) as e:
        sys.exit(f"auto_rules.py: no table of bench/peers and no lines of never_slower.py: {e}")
    measured = between(args.smallest, args.most, measured)
    print(head(words, auto_hosts.MODEL if several else MODEL))
    for family in args.family or FAMILIES:
        found = measured if args.common else of_family(measured, family)
        for text in rules(found, args):
            print(f'CCO_AUTO({family}, "{text}")')


if __name__ == "__main__":
    main(sys.argv[1:])
