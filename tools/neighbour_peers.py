#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""neighbour_peers.py - neighbourhood alltoalls of crestacoll beside those of five MPIs.

    .venv/bin/python tools/neighbour_peers.py measure FILE.csv [--budget 20] [--jobs N]
    .venv/bin/python tools/neighbour_peers.py table FILE.csv

`measure` has one job for each MPI, topology and number of ranks: a torus of four dimensions with 2
ranks, graphs at random with 4 and 8. In a job `mpi`, `p2p` and `shm` take turns, sample by sample.
A job whose lines are there is not measured again. MPIs that the machine does not have are installed
from PyPI, as for `make peers`.
`table` prints the ratio of `shm` over each MPI to that MPI's own call, and to the fastest of all
MPIs' own calls, for each size.
"""
import argparse
import csv
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.base.ui import Problem  # noqa: E402
from crestacoll_tools.bench import benchjob  # noqa: E402
from crestacoll_tools.peers import mpis  # noqa: E402

PEERS = ["openmpi", "openmpi5", "mpich", "mpich5", "impi"]
PLACES = [("torus:4", 2), *((f"random:{k}", n) for n in (4, 8) for k in (2, 3, 4, 8))]
SIZES = [16, 64, 256, 512, 1024, 4096]
JOB = ("mpi", "topology", "ranks")
COLUMNS = (*JOB, "bytes", "implementation", "samples", "median_us", "p10_us", "p90_us", "result")


def rows_of(result, where):
    for r in result.records:
        times = (f"{r[f'{what}_us']:.5g}" for what in ("median", "p10", "p90"))
        yield [*where, r["bytes"], r["implementation"], r["samples"], *times,
               "right" if r["verified"] else "wrong"]


def run(build, where, args):
    _, topology, ranks = where
    plan = benchjob.Plan(["neighbor_alltoall"], ["mpi", "p2p", "shm"], SIZES, ranks,
                         samples=args.samples, budget=args.budget, buffers="written",
                         options=["--topology", topology])
    return benchjob.run(build, plan)


def lines(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def measure(args):
    if not args.table.exists():
        args.table.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    known = {tuple(line[n] for n in JOB) for line in lines(args.table)}
    wanted = [(name, *place) for place in PLACES for name in args.mpi.split(",")]
    built = {}
    for where in [w for w in wanted if tuple(map(str, w)) not in known][:args.jobs]:
        peer = mpis.peer_of(where[0])
        try:
            if peer.name not in built:
                mpis.install(peer, args.peers)
                mpis.build(peer, args.peers)
                built[peer.name] = mpis.build_of(peer, args.peers)
            rows = list(rows_of(run(built[peer.name], where, args), where))
            if not rows:
                raise Problem(f"nothing in {args.budget:g} s: give it more by --budget")
        except (mpis.Failed, Problem) as e:
            print(*where, f"failed: {e}", file=sys.stderr, flush=True)
            continue
        with args.table.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        print(*where, f"{len(rows)} results", flush=True)


def print_table(args):
    found = {}
    for line in lines(args.table):
        where = line["topology"], int(line["ranks"]), int(line["bytes"])
        found[where, line["mpi"], line["implementation"]] = float(line["median_us"])
    names = [n for n in PEERS if any(key[1] == n for key in found)]
    print(f"| topology, ranks | bytes | {' | '.join(names)} | best `shm` by the best MPI |")
    print(f"|---|--:|{'--:|' * len(names)}--:|")
    for topology, ranks in PLACES:
        for size in SIZES:
            of = {n: (found.get(((topology, ranks, size), n, "mpi")),
                      found.get(((topology, ranks, size), n, "shm"))) for n in names}
            there = [pair for pair in of.values() if None not in pair]
            if not there:
                continue
            cells = [f"{of[n][1] / of[n][0]:.2f}" if None not in of[n] else "-" for n in names]
            best = min(ours for _, ours in there) / min(own for own, _ in there)
            print(f"| {topology}, {ranks} | {size} | {' | '.join(cells)} | {best:.2f} |")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("action", choices=["measure", "table"])
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--mpi", default=",".join(PEERS), help="only these, comma-separated")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of a job")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--jobs", type=int, help="at most so many of them; the next time, others")
    parser.add_argument("--peers", type=pathlib.Path, default=ROOT / "build" / "peers",
                        help="folder of the MPIs from PyPI")
    args = parser.parse_args(words)
    (measure if args.action == "measure" else print_table)(args)


if __name__ == "__main__":
    main(sys.argv[1:])
