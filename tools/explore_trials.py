#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""explore_trials.py - how often `crestacoll explore` claims a difference where there is none, and
how often it finds one that was planted.

    tools/explore_trials.py null    [--times 40] [--budget 30s]
    tools/explore_trials.py planted [--times 20] [--budget 30s] [--percent 3]

Runs explore on the turbulence code, 2 ranks, Open MPI, grid 16. Its only arm besides the MPI's own
is the MPI's own once more. Planted: the sum of all ranks, one in a time step, goes through model
nonblock, whose call waits for so many percent of a step (tests/mpi/late_calls.c). Prints a line for
each exploration and the counts; a claim is what explore itself says of the arm. Takes times x
budget on an otherwise idle machine.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
BUILD = ROOT / "build" / "openmpi"
PROGRAM = [str(BUILD / "bin" / "turbulence"), "--grid", "16", "--procs", "1x2"]
LAUNCHER = ["mpirun.openmpi", "--bind-to", "core", "-n", "2"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# The model `again` is that of `of`, or mpi.
EXPLORE = """
import sys
from crestacoll.explore import arms
of, rule = {of!r}, arms.Point.rule
def same(point, implementation, *more):
    model = of.get(point.collective, "mpi")
    return rule(point, model if implementation == "again" else implementation, *more)
arms.Point.rule = same
arms.SHARE = 0  # the sum costs less than what is left alone
arms.working = lambda description, names=(): ["again"]
from crestacoll.cli import main
sys.argv[0] = "crestacoll"
main()
"""


def steps_per_second():
    """Of the program as it is, with the MPI's own collectives."""
    done = subprocess.run([*LAUNCHER, *PROGRAM, "--steps", "3000"], capture_output=True, text=True,
                          env={**os.environ, **AS_ROOT}, check=True)
    wall = next(line for line in done.stdout.splitlines() if line.startswith("wall:"))
    return 3000 / float(wall.split()[1])


def explore(budget, steps, of, late_us):
    """One exploration; its result."""
    with tempfile.TemporaryDirectory() as folder:
        launcher = list(LAUNCHER)
        if late_us:
            late = str(BUILD / "lib" / "liblate_calls.so")
            launcher += ["-x", f"LD_PRELOAD={late}", "-x", "LATE=iallreduce"]
            launcher += ["-x", f"LATE_US={late_us:.2f}"]
        command = [sys.executable, "-c", EXPLORE.format(of=of), "explore", "--budget", budget,
                   "--output", f"{folder}/out", "--", *launcher, *PROGRAM, "--steps", str(steps)]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, **AS_ROOT, "PYTHONPATH": str(ROOT / "python")})
        if done.returncode != 0:
            sys.exit(f"explore ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return json.loads((pathlib.Path(folder) / "out" / "state.json").read_text())["result"]


def verdict_of(result):
    """faster or slower if explore says that of the arm, in any race or by its rules; the arm's
    interval.
    """
    from crestacoll.explore import words

    claims = [words.claim(a["difference"]) for a in result["arms"]]
    claims += ["faster"] if result["verdict"] == "faster" else []
    arm = next(a for a in result["arms"] if a["race"] == "models")
    d = arm["difference"]
    shown = "too few rounds" if d is None else (
        f"{100 * d['trimmed']:+.2f} % ({100 * d['low']:+.2f} to {100 * d['high']:+.2f})"
    )
    return next(filter(None, claims), "none"), shown


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("kind", choices=("null", "planted"))
    parser.add_argument("--times", type=int)
    parser.add_argument("--budget", default="30s")
    parser.add_argument("--percent", type=float, default=3.0)
    args = parser.parse_args()
    times = args.times or {"null": 40, "planted": 20}[args.kind]
    rate, counts = steps_per_second(), {"none": 0, "faster": 0, "slower": 0}
    planted = args.kind == "planted"
    late_us = 1e6 / rate * args.percent / 100 if planted else 0
    of = {"allreduce": "nonblock", "*": "mpi"} if planted else {}
    print(f"{rate:.0f} steps a second; {late_us:.2f} us are planted in a step", flush=True)
    for number in range(1, times + 1):
        claim, interval = verdict_of(explore(args.budget, int(4 * rate), of, late_us))
        counts[claim] += 1
        print(f"{number:3}: {claim:6} {interval}", flush=True)
    print(f"of {times}: {counts['none']} claim no difference, {counts['faster']} faster, "
          f"{counts['slower']} slower")


if __name__ == "__main__":
    main()
