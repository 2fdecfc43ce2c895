#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""disagree.py - launches in which ranks disagree on what each knows for itself.

    tools/disagree.py [--launches 200] [--first 1] [MPI...]

Each launch runs sampled conformance problems under one implementation, on 2 to 4 ranks, with
CRESTA_DEBUG=disagree=SEED, a seed each: memory, threads and windows are refused to some ranks, or
they come late, log more, have other instructions, see other cores. All must end right. The builds
are those of make check. Exit code 1 if one does not; the line that repeats it is shown.
"""
import argparse
import os
import shlex
import subprocess
import sys

from check import ROOT, mpis

IMPLS = ["shm", "os", "p2p", "persist", "nonblock", "os?via=get", "os?access=calls",
         "os?sync=pscw", "os?sync=fence", "shm?copy=single",
         "shm?copy=auto"]
SECONDS = 120
AS_ROOT = {f"{p}_ALLOW_RUN_AS_ROOT{s}": "1" for p in ("OMPI", "PRTE") for s in ("", "_CONFIRM")}


def command(mpi, seed):
    """The words of a launch, and what is set for it."""
    launcher = ["mpiexec.openmpi", "--oversubscribe"] if mpi == "openmpi" else ["mpiexec.mpich"]
    words = [*launcher, "-n", str(2 + seed % 3), f"build/{mpi}/tests/bin/conformance",
             IMPLS[seed % len(IMPLS)], "--sparse", str(101 + 10 * (seed % 7))]
    return words, {"CRESTA_FALLBACK": "silent", "CRESTA_DEBUG": f"disagree={seed}"}


def launch(mpi, seed):
    """True if it ended right; says so if not."""
    words, settings = command(mpi, seed)
    try:
        done = subprocess.run(
            words, cwd=ROOT, env={**os.environ, **AS_ROOT, **settings}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=SECONDS)
        code, told = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        code, told = None, ""
    if code == 0:
        return True
    print("\n".join(told.splitlines()[-8:]))
    print(f"disagree: {mpi}, seed {seed}: {'no end' if code is None else f'exit code {code}'}")
    again = " ".join(f"{name}={value}" for name, value in settings.items())
    print(f"again: {again} {shlex.join(words)}", flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=200, help="for each MPI")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first")
    parser.add_argument("mpis", nargs="*", metavar="MPI", help="only these")
    given, failed = parser.parse_args(), 0
    for mpi in given.mpis or mpis():
        seeds = range(given.first, given.first + given.launches)
        bad = sum(not launch(mpi, seed) for seed in seeds)
        print(f"disagree: {mpi}: {len(seeds)} launches, {bad} failed", flush=True)
        failed += bad
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
