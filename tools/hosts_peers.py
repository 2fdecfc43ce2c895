#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hosts_peers.py - hier beside the collectives of several MPIs, between hosts.

    .venv/bin/python tools/hosts_peers.py measure docs/lab/hosts.csv [--budget 75] [--peers DIR]
    .venv/bin/python tools/hosts_peers.py table docs/lab/hosts.csv

The hosts are network name spaces of this machine, as for `crestacoll bench --hosts`: it takes root.
`measure` has one job for each MPI, each of its settings, shape (hosts, ranks of each) and rate; in
a job `mpi` and `hier` take turns, sample by sample. A job whose lines are there is not measured
again, so that `--jobs 3` measures piece by piece. MPIs that the machine does not have are
installed from PyPI, as for `make peers`.
`table` prints for each call hier over Open MPI, divided by the fastest of all the MPIs' own; bold
where the bytes that have to leave or enter a host alone take most of its time.
"""
import argparse
import collections
import csv
import math
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.base.ui import Problem  # noqa: E402
from crestacoll_tools.bench import benchjob  # noqa: E402
from crestacoll_tools.launch import nethosts
from crestacoll_tools.peers import mpis  # noqa: E402

OURS, BELOW = "hier", "openmpi"
COLLECTIVES = ["barrier", "allreduce", "bcast", "reduce", "allgather", "alltoall",
               "reduce_scatter", "reduce_scatter_block", "gather", "scatter"]
SIZES = {"1gbit": [8, 4 << 10, 64 << 10, 1 << 20], "100mbit": [8, 4 << 10, 64 << 10]}
BITS = {"1gbit": 1e9, "100mbit": 1e8}
SHAPES = ((2, 2), (2, 4), (4, 2))
HAN = {"OMPI_MCA_coll_han_priority": "100"}
SETTINGS = [("openmpi", "", {}), ("openmpi", "han", HAN), ("openmpi5", "", {}),
            ("openmpi5", "han", HAN), ("mpich", "", {}), ("mpich5", "", {})]
SAMPLES, LEAST = 40, 5
ENOUGH = 0.7  # of the time: then the network is what is measured
JOB = ("mpi", "settings", "hosts", "ranks_per_host", "rate")
COLUMNS = (*JOB, "collective", "bytes", "implementation", "samples",
           "median_us", "p10_us", "p90_us")


def jobs():
    for rate in SIZES:
        for hosts, each in SHAPES:
            for name, setting, variables in SETTINGS:
                yield (name, setting, hosts, each, rate), variables


def run(build, where, variables, budget):
    _, _, hosts, each, rate = where
    plan = benchjob.Plan(COLLECTIVES, ["mpi", OURS], SIZES[rate], hosts * each, samples=SAMPLES,
                         budget=budget, options=benchjob.LONG_BATCHES)
    with nethosts.hosts(hosts, rate) as made:
        words = [*made.launch_words(build, hosts * each), *benchjob.program_words(build, plan)]
        return benchjob.run_command(build, words, variables=variables)


def rows_of(result, where):
    if result.wrong:
        raise Problem(f"wrong results: {result.wrong[0]}")
    for r in result.records:
        if r["samples"] >= LEAST:
            times = (f"{r[f'{what}_us']:.5g}" for what in ("median", "p10", "p90"))
            yield [*where, r["collective"], r["bytes"], r["implementation"], r["samples"], *times]


def measure(args):
    if not args.table.exists():
        args.table.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    known = {tuple(line[n] for n in JOB) for line in lines(args.table)}
    open_jobs = [(where, variables) for where, variables in jobs()
                 if tuple(map(str, where)) not in known and where[-1] in args.rates]
    built = {}
    for where, variables in open_jobs[:args.jobs]:
        peer = mpis.peer_of(where[0])
        try:
            if peer.name not in built:
                mpis.install(peer, args.peers)
                mpis.build(peer, args.peers)
                built[peer.name] = mpis.build_of(peer, args.peers)
            result = run(built[peer.name], where, variables, args.budget)
        except (mpis.Failed, Problem) as e:
            print(*where, f"failed: {e}", file=sys.stderr, flush=True)
            continue
        rows = list(rows_of(result, where))
        with args.table.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        print(*where, f"{len(rows)} results", flush=True)


def lines(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def payload(collective, size, hosts, each):
    """The bytes that at least have to leave some host, or enter it."""
    ranks, others = hosts * each, (hosts - 1) * each
    return {
        "barrier": 0,
        "bcast": size,
        "reduce": size,
        "allreduce": 2 * size * (hosts - 1) / hosts,
        "reduce_scatter": size * (hosts - 1) / hosts,
        "reduce_scatter_block": size * (hosts - 1) * ranks / hosts,
        "alltoall": size * each * others,
    }.get(collective, size * others)


def compared(found, where):
    """(collective, bytes, fastest MPI, ratio, share of the network) of a shape and rate."""
    hosts, each, rate = where
    for collective in COLLECTIVES:
        for size in [0] if collective == "barrier" else SIZES[rate]:
            own = {name: time for (call, name), time in found.items()
                   if call == (*where, collective, size, "mpi")}
            ours = found.get(((*where, collective, size, OURS), (BELOW, "")))
            if ours is None or not own:
                continue
            best = min(own, key=own.get)
            share = 8e6 * payload(collective, size, hosts, each) / BITS[rate] / ours
            yield collective, size, " ".join(best).strip(), ours / own[best], share


def read(path):
    """{(call, MPI and setting): microseconds}, and the (hosts, ranks of each, rate) there are."""
    found, places = {}, []
    for line in lines(path):
        where = int(line["hosts"]), int(line["ranks_per_host"]), line["rate"]
        call = (*where, line["collective"], int(line["bytes"]), line["implementation"])
        found[call, (line["mpi"], line["settings"])] = float(line["median_us"])
        if where not in places:
            places.append(where)
    return found, places


def print_table(args):
    """Ratios of a collective in the order of the sizes; bold: the network is what is measured."""
    found, places = read(args.table)
    points = {where: list(compared(found, where)) for where in places}
    titles = [f"{hosts} x {each}, {rate}" for hosts, each, rate in places]
    print(f"| call | {' | '.join(titles)} |\n|---|{'---|' * len(titles)}")
    for collective in COLLECTIVES:
        cells = [", ".join(words(p) for p in points[where] if p[0] == collective)
                 for where in places]
        print(f"| {collective} | {' | '.join(cells)} |")
    for where, title in zip(places, titles):
        print(f"\n{title}: {summary(points[where])}")
        fastest = collections.Counter(best for _, _, best, _, _ in points[where])
        print(", ".join(f"{name} {count}" for name, count in fastest.most_common()))


def words(point):
    _, _, _, ratio, share = point
    return f"**{ratio:.2f}**" if share > ENOUGH else f"{ratio:.2f}"


def summary(points):
    kinds = {"all": points, "network": [p for p in points if p[4] > ENOUGH]}
    words = [f"{name}: {len(of)} points, geometric mean {mean(p[3] for p in of):.2f}, worst"
             f" {max(p[3] for p in of):.2f}" for name, of in kinds.items() if of]
    least = mean(p[3] * p[4] for p in kinds["network"])  # nothing but its bytes
    return f"{'; '.join(words)}, least possible {least:.2f}"


def mean(values):
    return math.exp(statistics.mean(map(math.log, values)))


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("action", choices=["measure", "table"])
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=75.0, help="seconds of a job")
    parser.add_argument("--rates", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--jobs", type=int, help="at most so many of them; the next time, others")
    parser.add_argument("--peers", type=pathlib.Path, default=ROOT / "build" / "peers",
                        help="folder of the MPIs from PyPI")
    args = parser.parse_args(words)
    (measure if args.action == "measure" else print_table)(args)


if __name__ == "__main__":
    main(sys.argv[1:])
