#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hosts_streaming.py - how much of the unpacking of an all-to-all is hidden between hosts, if
blocks are unpacked as they come (examples/streaming/unpack.c).

    .venv/bin/python tools/hosts_streaming.py [--hosts 2,4] [--ranks 1] [--rate 1gbit]
        [--bytes 1048576] [--repeats 15] [--impl p2p:pairwise] [--mpi openmpi]

The hosts are network name spaces of this machine, as for `crestacoll overlap --hosts`: it takes
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

LIMIT = 300  # seconds of a job


def run(build, count, options):
    program = ROOT / "build" / build.name / "bin" / "example-streaming-c"
    variables = {"CRESTA_IMPL": f"alltoall={options.impl}", "CRESTA_ASYNC": options.asynchronous}
    with nethosts.hosts(count, options.rate) as hosts:
        words = [
            *hosts.launch_words(build, count * options.ranks),
            *("env", *(f"{name}={value}" for name, value in variables.items())),
            *(program, options.bytes, options.repeats),
        ]
        words = [str(word) for word in words]
        return subprocess.run(words, timeout=LIMIT, env=dict(os.environ)).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", default="2,4")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--impl", default="p2p:pairwise")
    parser.add_argument("--async", dest="asynchronous", default="thread")
    parser.add_argument("--mpi", default=None)
    options = parser.parse_args()
    failed = 0
    for build in choose_builds(options.mpi):
        for count in map(int, options.hosts.split(",")):
            print(f"# {build.name}, {count} hosts of {options.ranks} ranks, {options.rate},"
                  f" {options.impl}, CRESTA_ASYNC={options.asynchronous}", flush=True)
            failed |= run(build, count, options) != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
