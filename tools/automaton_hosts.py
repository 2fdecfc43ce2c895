#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""automaton_hosts.py - examples/automaton between two hosts, which are name spaces of this machine.

    .venv/bin/python tools/automaton_hosts.py [WAYS [ROWS [STEPS [RANKS]]]]

It takes root, and prints what the program prints, under each MPI that is built: for
docs/lab/automaton.md.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.builds import builds  # noqa: E402
from crestacoll_tools.launch import nethosts

DEFAULTS = ["two-sided,two-sided-2,neighbor,fence,post,rput,os,hier", "256", "500", "2"]
RATE = "1gbit"


def main(given):
    words = [*given, *DEFAULTS[len(given):]]
    for build in builds.choose_builds("all"):
        print(build.description["mpi"]["library"].split(",")[0], flush=True)
        with nethosts.hosts(2, RATE) as made:
            program = str(ROOT / "build" / build.name / "bin/automaton")
            launch = made.launch_words(build, int(words[3]))
            subprocess.run([*launch, program, *words[:3]], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
