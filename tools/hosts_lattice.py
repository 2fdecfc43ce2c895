#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hosts_lattice.py - the lattice of QCD (examples/lattice) between hosts: a step by the MPI's
neighbourhood alltoall and by those of crestacoll, in one job.

    .venv/bin/python tools/hosts_lattice.py [--hosts 2,4] [--ranks 1,2] [--rate 10gbit]
        [--sites 2] [--steps 500] [--mpi openmpi] [--program lattice]

With --program lattice-floor, on 2 hosts of 1 rank each: what one message each way takes
(examples/lattice/floor.c).

The hosts are network name spaces of this machine, as for `crestacoll bench --hosts`: it takes
root. --ranks is of each host. What one job prints comes after a line that names it.
"""
import argparse
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.builds.builds import choose_builds  # noqa: E402
from crestacoll_tools.launch import nethosts  # noqa: E402

LIMIT = 600  # seconds of a job


def numbers(text):
    return [int(word) for word in text.split(",")]


def run(build, count, each, options):
    program = ROOT / "build" / build.name / "bin" / options.program
    sites = [options.sites] if options.program == "lattice" else []
    with nethosts.hosts(count, options.rate) as hosts:
        words = [*hosts.launch_words(build, count * each), program, *sites]
        words.append(options.steps)
        words = [str(word) for word in words]
        return subprocess.run(words, timeout=LIMIT, env=dict(os.environ)).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--hosts", type=numbers, default=[2, 4])
    parser.add_argument("--ranks", type=numbers, default=[1, 2])
    parser.add_argument("--rate", default=None)
    parser.add_argument("--sites", type=int, default=2)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--mpi", default=None)
    parser.add_argument("--program", choices=["lattice", "lattice-floor"], default="lattice")
    options = parser.parse_args()
    failed = 0
    for build in choose_builds(options.mpi):
        for count in options.hosts:
            for each in options.ranks:
                print(f"# {build.name}, {count} hosts of {each} ranks, {options.rate or 'no rate'}",
                      flush=True)
                failed |= run(build, count, each, options) != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
