#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""busy_steps.py - time steps of the turbulence code beside programs that only compute, for
docs/lab/programs.md.

    .venv/bin/python tools/busy_steps.py [--seconds 60] [--busy 0,1,2]

Within each run the implementations take turns, a few steps each, in an order at random
(CRESTA_RACE). None leaves early, so that all have the same number of blocks; `mpi` is there twice.
A block of steps is compared with the one of `mpi` in the same round: the mean of the logarithms of
these ratios, and its interval of 95 % (bootstrap over the rounds). All rounds count: beside other
programs, the long steps are what matters.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.bench import benchjob  # noqa: E402
from crestacoll_tools.builds import builds

ARMS = {"mpi": "*=mpi", "again": "*=mpi", "shm": "*=shm", "p2p": "*=p2p", "nonblock": "*=nonblock"}
BUSY = ["sh", "-c", "while :; do :; done"]


def race(build, folder, o):
    """The rounds of a run: {arm: [seconds per step of its blocks, a mean for each round]}."""
    results, plan = folder / "race.jsonl", folder / "race"
    arms = "".join(f"arm {name} {rules}\n" for name, rules in ARMS.items())
    plan.write_text(f"crestacoll race 1\noutput {results}\nseconds {o.seconds}\nblock_ms 5\n"
                    f"drop 0\nconfirm 0\n{arms}", encoding="utf-8")
    results.unlink(missing_ok=True)
    command = [*benchjob.launch_words(build, o.ranks), "env", f"LD_PRELOAD={build.preload}",
               build.program("turbulence"), "--grid", "16", "--steps", "100000000",
               "--procs", f"1x{o.ranks}"]
    with subprocess.Popen(command, env=builds.clean_environment(CRESTA_RACE=str(plan)),
                          stdout=subprocess.DEVNULL, start_new_session=True) as run:
        try:
            run.wait(o.seconds + 15)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, 15)
    return rounds(results)


def rounds(results):
    events = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    found = {name: [] for name in ARMS}
    for e in events:
        if e["event"] == "round" and e["phase"] == "screen":
            for i, name in enumerate(ARMS):
                own = [s for arm, s in zip(e["order"], e["step_s"]) if arm == i]
                found[name].append(sum(own) / len(own))
    return found


def compare(times, reference):
    logs = np.log(np.array(times) / np.array(reference))
    chance = np.random.default_rng(1)
    means = [logs[chance.integers(0, len(logs), len(logs))].mean() for _ in range(2000)]
    low, high = np.percentile(means, [2.5, 97.5])
    return tuple(math.exp(x) for x in (logs.mean(), low, high))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=int, default=60, help="of each run")
    p.add_argument("--busy", default="0,1,2", help="numbers of busy programs")
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--mpi", help="only this build")
    o = p.parse_args()
    for build in builds.need_builds():
        for busy in map(int, o.busy.split(",")):
            if o.mpi not in (None, build.name):
                continue
            others = [subprocess.Popen(BUSY) for _ in range(busy)]
            with tempfile.TemporaryDirectory() as folder:
                found = race(build, pathlib.Path(folder), o)
            for other in others:
                other.kill()
                other.wait()
            reference = found["mpi"]
            cells = "  ".join("{} {:.2f} ({:.2f} to {:.2f})".format(n, *compare(t, reference))
                              for n, t in found.items() if n != "mpi")
            print(f"{build.name}, {busy} busy: {len(reference)} rounds, step of mpi "
                  f"{1e3 * np.median(reference):.3f} ms: {cells}", flush=True)


if __name__ == "__main__":
    main()
