#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""auto_hosts.py - times hier and the MPI's own collectives between hosts, for auto_rules.py.

    .venv/bin/python tools/auto_hosts.py docs/lab/auto-hosts.csv [--budget 75] [--mpi all]

The hosts are network name spaces of this machine, as for `crestacoll bench --hosts`: it takes root.
One job for each MPI, each of its settings, shape (hosts, ranks of each), rate of the network, way
of measuring, one after the other; `mpi` and `hier` take turns in a job, sample by sample. A line of
the table is a collective and size of a job, with both medians and 90th percentiles. A job whose
lines are there is not measured again.
"""
import argparse
import csv
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.base.ui import Problem  # noqa: E402
from crestacoll_tools.bench import benchjob  # noqa: E402
from crestacoll_tools.builds.builds import choose_builds  # noqa: E402
from crestacoll_tools.launch import nethosts

MODEL = "hier"
# Where fewer bytes between hosts are less time: docs/lab/hosts.md.
COLLECTIVES = ["bcast", "reduce", "allgather", "reduce_scatter", "reduce_scatter_block"]
SIZES = [n << 10 for n in (64, 128, 256, 512, 1024)]
SHAPES = ((2, 2), (2, 4))
FAST = "none"  # no rate: as fast as the kernel copies
WAYS = (  # rate of the network, timing
    ("1gbit", "back_to_back"),
    ("1gbit", "synchronised"),
    (FAST, "back_to_back"),
)
SAMPLES = 60
LEAST = 7  # samples of a median that counts
SETTINGS = {  # other collectives of the same MPI, which its later versions take by themselves
    "openmpi": {"": {}, "coll/han": {"OMPI_MCA_coll_han_priority": "100"}},
}
JOB = ("mpi", "settings", "hosts", "ranks_per_host", "rate", "timing")
COLUMNS = (*JOB, "collective", "bytes", "samples") + tuple(
    f"{name}_{what}_us" for name in ("mpi", MODEL) for what in ("median", "p90")
)


def jobs(builds):
    for hosts, each in SHAPES:
        for rate, timing in WAYS:
            for build in builds:
                for name, variables in SETTINGS.get(build.family, {"": {}}).items():
                    yield build, variables, (build.name, name, hosts, each, rate, timing)


def lines_of(records):
    """A line for each collective and size that both have measured."""
    found = {(r["collective"], r["bytes"], r["implementation"]): r for r in records}
    for (collective, size, name), own in found.items():
        ours = found.get((collective, size, MODEL))
        if name != "mpi" or ours is None or min(own["samples"], ours["samples"]) < LEAST:
            continue
        if not ours["verified"]:
            raise Problem(f"wrong result of {collective}, {size} bytes")
        times = [f"{r[f'{what}_us']:.4g}" for r in (own, ours) for what in ("median", "p90")]
        yield [collective, size, ours["samples"], *times]


def measure(build, variables, where, budget):
    _, _, hosts, each, rate, timing = where
    ranks = hosts * each
    plan = benchjob.Plan(COLLECTIVES, ["mpi", MODEL], SIZES, ranks, timing=timing,
                         samples=SAMPLES, budget=budget,
                         options=[] if rate == FAST else benchjob.LONG_BATCHES)
    with nethosts.hosts(hosts, None if rate == FAST else rate) as made:
        words = [*made.launch_words(build, ranks), *benchjob.program_words(build, plan)]
        return benchjob.run_command(build, words, variables=variables).records


def is_table(path):
    with path.open(encoding="utf-8") as file:
        return file.readline().strip() == ",".join(COLUMNS)


def lines(path):
    """The table, as dictionaries of texts."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def there(path):
    """The jobs that are in the table."""
    if not path.exists():
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    return {tuple(line[n] for n in JOB) for line in lines(path)}


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("--budget", type=float, default=75.0, help="seconds of a job")
    parser.add_argument("--mpi", default="all", help="builds, or all")
    args = parser.parse_args(words)
    try:
        known = there(args.table)
        for build, variables, where in jobs(choose_builds(args.mpi)):
            if tuple(map(str, where)) in known:
                continue
            records = measure(build, variables, where, args.budget)
            with args.table.open("a", encoding="utf-8", newline="") as file:
                rows = csv.writer(file, lineterminator="\n")
                rows.writerows([*where, *line] for line in lines_of(records))
            print(*where, f"{len(records)} results", flush=True)
    except (OSError, Problem) as e:
        sys.exit(f"auto_hosts.py: {e}")


if __name__ == "__main__":
    main(sys.argv[1:])
