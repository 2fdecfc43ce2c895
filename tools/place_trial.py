#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""place_trial.py - what `crestacoll place` gains: two programs on hosts in a bad order.

    .venv/bin/python tools/place_trial.py [--hosts 4] [--each 2] [--rate 1gbit] [--runs 7]

The hosts are network name spaces of this machine, as for `crestacoll bench --hosts`: it takes root.
The grid of ranks has as many columns as there are hosts. In the bad order no two ranks of a host
share a row or a column. A run under a profile, then `crestacoll place` with a host file, then runs
in both orders in turn. Printed are the seconds of a step in both (medians, least and largest), and
what the bytes promise: the time that those which no longer leave a host take at the rate of the
network.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python")]

from crestacoll_tools.builds.builds import choose_builds, clean_environment  # noqa: E402
from crestacoll_tools.launch import nethosts  # noqa: E402

BITS = {"1gbit": 1e9, "100mbit": 1e8}


def run(words, **environment):
    """Standard output of a job that has to end well."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                          env=clean_environment(**environment))
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr[-2000:]}")
    return done.stdout


def seconds_of_turbulence(output, steps):
    if not re.search(r"^result: *ok", output, re.MULTILINE):
        sys.exit(f"wrong results:\n{output}")
    return float(re.search(r"^wall: *(\S+)", output, re.MULTILINE)[1]) / steps


def seconds_of_harness(output, _steps):
    """An iteration: the all-to-alls of the row and of the column, and the work."""
    records = [json.loads(line) for line in output.splitlines() if '"record"' in line]
    if not records or not all(r["verified"] for r in records):
        sys.exit(f"wrong results:\n{output}")
    return sum(r["t_total_row"] + r["t_total_col"] for r in records)


def program_of(args, build):
    """(words, seconds of a step from the output)."""
    grid = ["--procs", f"{args.each}x{args.hosts}"]
    if args.program == "harness":
        words = ["--sizes", "65536", "--collectives", "alltoall", "--impl", "MPI"]
        words += ["--samples", str(args.steps)]
        return [build.program("crestacoll-harness"), *words, *grid], seconds_of_harness
    words = ["--grid", args.grid, "--steps", str(args.steps)]
    return [build.program("turbulence"), *words, *grid], seconds_of_turbulence


def profiled(words, build, program, path):
    return [*words, "-x", f"LD_PRELOAD={build.preload}", "-x", f"CRESTA_PROFILE={path}", *program]


def bad_order(args, folder):
    """A rank file for Open MPI."""
    lines = [f"rank {k * args.hosts + (i + k) % args.hosts}={nethosts.SUBNET}.{i + 1} slot={k}"
             for i in range(args.hosts) for k in range(args.each)]
    (folder / "bad").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "bad"


def steps_of(args, path):
    """How many the profile has: the harness warms up."""
    if args.program == "turbulence":
        return args.steps
    records = json.loads(path.read_text(encoding="utf-8"))["records"]
    return max(r["calls"] for r in records if r["collective"] == "alltoall")


def placed(args, path, folder):
    """The rank file, and what `place` says."""
    names = "".join(f"{nethosts.SUBNET}.{i + 1} slots={args.each}\n" for i in range(args.hosts))
    (folder / "hosts").write_text(names, encoding="utf-8")
    words = [ROOT / "bin" / "crestacoll", "place", "--profile", path, "--hostfile",
             folder / "hosts", "--output", folder / "placed"]
    print(run(words))
    found = json.loads(run([*words, "--json"]))
    saved = found["total_bytes"] - found["between_nodes"]["after"]
    return folder / "placed" / "rankfile", saved


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--program", choices=["turbulence", "harness"], default="turbulence")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--rate", choices=BITS, default="1gbit")
    parser.add_argument("--grid", default="64")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args(words)
    ranks = args.hosts * args.each
    build = choose_builds("openmpi")[0]
    program, seconds = program_of(args, build)
    with tempfile.TemporaryDirectory() as name, nethosts.hosts(args.hosts, args.rate) as made:
        folder = pathlib.Path(name)
        launch = made.launch_words(build, ranks)
        bad = [*launch[:-2], "-rf", bad_order(args, folder), *launch[-2:]]
        run(profiled(bad, build, program, folder / "p.json"))
        rankfile, saved = placed(args, folder / "p.json", folder)
        good = [*launch[:-2], "-rf", rankfile, *launch[-2:]]
        steps = steps_of(args, folder / "p.json")
        times = {"bad": [], "placed": []}
        for _ in range(args.runs):
            for order, launch in (("bad", bad), ("placed", good)):
                times[order].append(seconds(run([*launch, *program]), args.steps))
    print(f"the bytes promise {8 * saved / args.hosts / steps / BITS[args.rate]:.4f} s a step")
    for order, found in times.items():
        print(f"{order}: {statistics.median(found):.4f} s a step"
              f" ({min(found):.4f} to {max(found):.4f})")


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    main(sys.argv[1:])
