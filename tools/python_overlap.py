#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""python_overlap.py [--mpi NAME] [--rate RATE] [--sizes LIST] - how much of an alltoall overlaps
with computation from Python, and from C, between two hosts.

    .venv/bin/python tools/python_overlap.py --rate 1gbit

The hosts are network name spaces of this machine (root). In turns: `crestacoll overlap`, in C; the
same in Python with `import crestacoll` (linked, MPI_THREAD_MULTIPLE); the same preloaded. N, C, T
and the overlap are those of `crestacoll overlap`: begin and end at once, computation alone, both;
medians of the slowest rank, hidden time C + N - T over min(C, N). Needs a machine that does nothing
else.
"""
import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMPL = "p2p"


# --- in the ranks ---------------------------------------------------------------------------


def compute(units, given, out):
    """numpy lets go of the interpreter's lock meanwhile."""
    import numpy as np

    for _ in range(units):
        np.sin(given, out=out)


def sample(comm, send, recv, units, which):
    """Microseconds of one call; `which` as in bench/overlap.c."""
    import crestacoll

    given, out = sample.arrays
    comm.Barrier()
    start = time.perf_counter()
    request = crestacoll.Alltoall_begin(comm, send, recv) if which != "C" else None
    if which != "N":
        compute(units, given, out)
    if request:
        request.end()
    return 1e6 * (time.perf_counter() - start)


def ranks(sizes, samples):
    import crestacoll
    import numpy as np
    from mpi4py import MPI

    comm, worst = MPI.COMM_WORLD, lambda x: MPI.COMM_WORLD.allreduce(x, MPI.MAX)
    crestacoll.set_impl(comm, f"alltoall={IMPL}")
    sample.arrays = np.linspace(0, 1, 2048), np.empty(2048)
    for size in sizes:
        send, recv = (np.ones(size * comm.size, dtype="b") for _ in range(2))
        n = worst(np.median([sample(comm, send, recv, 0, "N") for _ in range(9)]))
        one = worst(np.median([sample(comm, send, recv, 20, "C") for _ in range(9)])) / 20
        units, taken = max(1, round(n / one)), {"N": [], "C": [], "T": []}
        for _ in range(samples):
            for which, times in taken.items():
                times.append(worst(sample(comm, send, recv, units, which)))
        n, c, t = (float(np.median(taken[w])) for w in "NCT")
        if comm.rank == 0:
            print(json.dumps({"bytes": size, "N_us": n, "C_us": c, "T_us": t,
                              "overlap": max(0, min(1, (c + n - t) / min(c, n)))}), flush=True)


# --- around them ----------------------------------------------------------------------------


def lines(words, **variables):
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | variables)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [record for record in found if "N_us" in record]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--sizes", default="262144,1048576,4194304")
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    sizes = [int(s) for s in args.sizes.split(",")]
    if args.rank:
        return ranks(sizes, args.samples)
    sys.path.insert(0, str(ROOT / "python"))
    from crestacoll_tools.builds import builds
    from crestacoll_tools.launch import nethosts

    build = builds.choose_builds(args.mpi)[0]
    own = [f"PYTHONPATH={ROOT}/python", "CRESTA_ASYNC=thread"]
    preload = f"LD_PRELOAD={build.preload}:{build.mpi_library}"
    python = [sys.executable, __file__, "--rank", "--sizes", args.sizes, "--samples",
              str(args.samples)]  # fmt: skip
    c = [str(build.program("crestacoll-overlap")), "--collectives", "alltoall", "--impl", IMPL,
         "--sizes", args.sizes, "--async", "thread", "--samples", str(args.samples)]  # fmt: skip
    with nethosts.hosts(2, args.rate) as hosts:
        start = hosts.launch_words(build, 2)
        environment = builds.clean_environment()
        for name, words in (("C", c), ("Python, linked", ["env", *own, *python]),
                            ("Python, preloaded", ["env", *own, preload, *python])):
            for r in lines([*start, *words], **environment):
                share = r.get("overlap", r.get("overlap_cresta"))
                print(f"{name:18} {r['bytes']:8} bytes  N {r['N_us']:9.1f}  C {r['C_us']:9.1f}"
                      f"  T {r['T_us']:9.1f} us  overlap {100 * share:5.1f} %", flush=True)
    return None


if __name__ == "__main__":
    main()
