#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""smpi_compare.py - simulated times of crestacoll and of SimGrid's SMPI, for the same messages.

    .venv/bin/python tools/smpi_compare.py --write FILE     simulates every point, writes FILE
    .venv/bin/python tools/smpi_compare.py --write FILE --ranks 16 --collectives bcast,...
    .venv/bin/python tools/smpi_compare.py FILE             the tables of docs/lab/simulator.md

A point is a collective of one size with one algorithm on one machine. Each is simulated in three
ways, which differ in what messages do that pass an interface at the same time:

    free    they do not disturb each other, neither here nor in SMPI
    fifo    one goes after the other, both here and in SMPI
    shared  one goes after the other here; in SMPI they share the bandwidth, which is its own way

Needs smpirun (libsimgrid-dev). FILE has an empty field where SMPI took longer than --limit seconds
of a processor. Where FILE is there already, SMPI replays only points whose times here are others.
"""
import argparse
import concurrent.futures
import csv
import dataclasses
import itertools
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.base.sizes import format_size, parse_size  # noqa: E402
from crestacoll_tools.builds import builds  # noqa: E402
from crestacoll_tools.cli.simulate import arms_of  # noqa: E402
from crestacoll_tools.simulate import jobs, machines, smpi, sweep  # noqa: E402

MACHINE = ROOT / "docs" / "lab" / "simulator-machine.json"
COLLECTIVES = "allreduce,allgather,alltoall,bcast,reduce_scatter_block"
ONE_BY_ONE = "--cfg=maxmin/concurrency-limit:1"
CASE = ["collective", "ranks", "per_node", "bytes"]
POINT = [*CASE, "implementation"]
TIMES = ["free_s", "smpi_free_s", "queues_s", "smpi_fifo_s", "smpi_shared_s"]
WAYS = {
    "free": ("free_s", "smpi_free_s"),
    "fifo": ("queues_s", "smpi_fifo_s"),
    "shared": ("queues_s", "smpi_shared_s"),
}
NEAR, APART = 1.15, 1.3  # times that agree; implementations whose order counts
TOO_LONG = (128 + signal.SIGXCPU, 128 + signal.SIGKILL)  # what a shell makes of these signals
CLOCK = re.compile(r"^\S+ (\S+) Simulation time", re.M)


# ---- measuring


def replay(folder, limit, *more):
    """The time that SMPI simulates, in seconds; None if that takes too long."""
    done = subprocess.run([folder / "replay.sh", *more], capture_output=True, text=True,
                          check=False, preexec_fn=lambda: jobs.Limits(seconds=limit).set(0))
    log = done.stdout + done.stderr
    times = CLOCK.findall(log)
    if "Deadlock detected" in log:
        raise RuntimeError(f"SMPI reports a deadlock: {log[-2000:]}")
    if done.returncode == 0 and times:
        return float(times[-1])
    if done.returncode in TOO_LONG:
        return None
    raise RuntimeError(f"smpirun failed ({done.returncode}): {log[-2000:]}")


def words(times):
    """{name of TIMES: seconds} as FILE has them."""
    return {name: "" if time is None else f"{time:.7g}" for name, time in times.items()}


def compare(build, setting, call, limit, known):
    """The words of a point; None if it is none: the algorithm refuses it. `known`: of FILE."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        without = dataclasses.replace(setting, queues=False)
        try:
            found = {
                "queues_s": smpi.write(build, setting, call, folder / "queues"),
                "free_s": smpi.write(build, without, call, folder / "free"),
            }
        except jobs.Refused:
            return None
        if known and words(found).items() <= known.items():
            return known
        found["smpi_free_s"] = replay(folder / "free", limit)
        found["smpi_fifo_s"] = replay(folder / "queues", limit, ONE_BY_ONE)
        found["smpi_shared_s"] = replay(folder / "queues", limit)
    return words(found)


def points(build, o):
    cases = itertools.product(o.collectives.split(","), o.ranks, o.per_node, o.sizes)
    for collective, ranks, per_node, size in cases:
        for arm in arms_of(build, collective, "all"):
            yield collective, ranks, per_node, size, arm


def measure(o):
    build = builds.need_builds()[0]
    machine = machines.load(o.machine)
    known = {}
    if os.path.exists(o.write):
        with open(o.write, encoding="utf-8", newline="") as file:
            known = {tuple(row[key] for key in POINT): row for row in csv.DictReader(file)}

    def one(point):
        collective, ranks, per_node, size, arm = point
        setting = sweep.Setting(machine=machine, per_node=per_node)
        call = jobs.Call(collective, size, arm, ranks)
        before = known.get(tuple(map(str, point)))
        return point, compare(build, setting, call, o.limit, before)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        with open(o.write, "w", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow([*POINT, *TIMES])
            for point, found in pool.map(one, points(build, o)):
                if found is not None:
                    out.writerow([*point, *(found[name] for name in TIMES)])
                    file.flush()


# ---- what comes out


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {key: int(row[key]) for key in CASE[1:]}
        row |= {key: float(row[key]) if row[key] else None for key in TIMES}
    return rows


def pairs(rows, way):
    """[(row, time here, time of SMPI)] of the points that both have."""
    ours, theirs = WAYS[way]
    return [(r, r[ours], r[theirs]) for r in rows if r[theirs] is not None]


def cases(rows, way):
    """[[(row, ours, SMPI's), ...], ...]: the implementations of each collective, size and machine.
    """
    found = defaultdict(list)
    for row, ours, theirs in pairs(rows, way):
        found[tuple(row[key] for key in CASE)].append((row, ours, theirs))
    return list(found.values())


def apart(a, b):
    return max(a, b) > APART * min(a, b)


def swaps(rows, way):
    """How many pairs of implementations are apart in either simulation; those in another order."""
    count, swapped = 0, []
    for case in cases(rows, way):
        for (x, a, c), (y, b, d) in itertools.combinations(case, 2):
            if apart(a, b) or apart(c, d):
                count += 1
                if (a - b) * (c - d) < 0:
                    swapped.append((x, y))
    return count, swapped


def losses(rows, way):
    """By how much the implementation that is best here is slower in SMPI than the best there."""
    return [min(case, key=lambda t: t[1])[2] / min(t[2] for t in case) - 1
            for case in cases(rows, way)]


def ratio(found):
    return found[2] / found[1]


def distance(found):
    return abs(math.log(ratio(found)))


def is_near(found):
    return distance(found) <= math.log(NEAR)


def summary(rows):
    """A line for each way: how the times agree, and the order of implementations."""
    lines = ["| way | points | within 1 % | within 15 % | SMPI's time by ours |"
             " pairs > 30 % apart | other order | our best: > 15 % above SMPI's best |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for way in WAYS:
        found = pairs(rows, way)
        ratios = [ratio(f) for f in found]
        near = sum(map(is_near, found))
        same = sum(abs(r - 1) <= 0.01 for r in ratios)
        count, swapped = swaps(rows, way)
        worse = losses(rows, way)
        lines.append(
            f"| `{way}` | {len(found)} | {same} | {near} | {min(ratios):.2f} to {max(ratios):.2f} |"
            f" {count} | {len(swapped)} | {sum(w > 0.15 for w in worse)} of {len(worse)} cases,"
            f" at most {100 * max(worse):.0f} % |")
    return lines


def either(rows):
    """A line: what agrees with SMPI in one of its two ways, and whose order is another in both."""
    whole = [r for r in rows if all(r[t] is not None for t in TIMES)]
    far = [{id(f[0]) for f in pairs(whole, w) if not is_near(f)} for w in ("fifo", "shared")]
    orders = [{(id(x), id(y)) for x, y in swaps(whole, w)[1]} for w in ("fifo", "shared")]
    near = len(whole) - len(far[0] & far[1])
    return (f"Within 15 % of `fifo` or `shared`: {near} of {len(whole)} points."
            f" Pairs in another order than in both: {len(orders[0] & orders[1])}.")


def beyond(rows):
    """A line for each algorithm with points that do not agree."""
    lines = ["| algorithm | `fifo`: beyond 15 % | by ours | `shared`: beyond 15 % | by ours |",
             "|---|--:|--:|--:|--:|"]
    kinds = defaultdict(list)
    for row in rows:
        kinds[row["collective"], row["implementation"]].append(row)
    for (collective, name), mine in kinds.items():
        cells, any_far = [], False
        for way in ("fifo", "shared"):
            far = [f for f in pairs(mine, way) if not is_near(f)]
            ratios = [ratio(f) for f in far]
            any_far = any_far or bool(far)
            cells.append(f"{len(far)} of {len(pairs(mine, way))}")
            cells.append(f"{min(ratios):.2f} to {max(ratios):.2f}" if far else "")
        if any_far:
            lines.append(f"| {collective} `{name}` | {' | '.join(cells)} |")
    return lines


def worst(rows, way, count):
    """Lines: the points that agree least."""
    found = sorted(pairs(rows, way), key=distance, reverse=True)[:count]
    return [f"{ratio(f):.3f}  {f[0]['collective']} {f[0]['implementation']}, {f[0]['ranks']} ranks,"
            f" {f[0]['per_node']} per node, {format_size(f[0]['bytes'])} bytes" for f in found]


def show(o):
    rows = read(o.file)
    print("\n".join([*summary(rows), "", either(rows), "", *beyond(rows)]))
    for way in WAYS:
        print(f"\n{way}, SMPI's time by ours, least agreement:", *worst(rows, way, 10), sep="\n")
        for x, y in swaps(rows, way)[1]:
            print(f"  other order: {', '.join(str(x[k]) for k in CASE)}: {x['implementation']},"
                  f" {y['implementation']}")


def numbers(text):
    return [parse_size(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("file", nargs="?", help="what was simulated before")
    parser.add_argument("--write", metavar="FILE", help="simulate")
    parser.add_argument("--machine", default=MACHINE, metavar="FILE", help="machine file")
    parser.add_argument("--collectives", default=COLLECTIVES, metavar="LIST")
    parser.add_argument("--ranks", type=numbers, default="16,64,256", metavar="LIST")
    parser.add_argument("--per-node", type=numbers, default="1,4", metavar="LIST")
    parser.add_argument("--sizes", type=numbers, default="8,4K,64K", metavar="LIST")
    parser.add_argument("--limit", type=int, default=600, help="seconds of one replay")
    o = parser.parse_args()
    if bool(o.write) == bool(o.file):
        parser.error("give FILE or --write FILE")
    if o.write:
        measure(o)
        o.file = o.write
    show(o)


if __name__ == "__main__":
    main()
