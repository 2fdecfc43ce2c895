#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""online_trials.py - how near CRESTA_ONLINE comes to what `crestacoll explore` finds, in a run of
few steps, and how often it claims a difference where there is none.

    tools/online_trials.py [--mpi openmpi] [-n 2] [--steps 500] [--trials 3] [--json FILE]
    tools/online_trials.py --explored 'alltoall=shm'      # or a tuning file: explore does not run
    tools/online_trials.py --alike --trials 40            # arms that are the same

Runs on the turbulence code, grid 16. First explore finds rules. Then in each trial one job of so
many steps has CRESTA_ONLINE=1 and says what it came to, and in another job the explored rules and
those take turns, in long blocks: the line of the trial has the difference of their steps with its
95 % interval, and the regret that the first job told. For results the machine should be idle.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from crestacoll_tools.bench import benchjob  # noqa: E402
from crestacoll_tools.builds import builds, machine
from crestacoll_tools.cli.run import Job  # noqa: E402
from crestacoll_tools.explore import runs  # noqa: E402
from crestacoll_tools.race import race, racestats
from crestacoll_tools.rules import tuning

BLOCK_MS = 50  # of the comparison, as in the proof of explore
NEAR = 0.03  # of a step: so much slower than the explored choice it may be
RATE_STEPS = 2000  # by which the speed of the program is known
EXPLORE_STEPS = 4000  # of a run of explore
LIMIT_S = 600.0  # of a job


class Program:
    """The turbulence code under one MPI; its jobs leave their files in `folder`."""

    def __init__(self, build, ranks, grid, folder):
        self.words = [*benchjob.launch_words(build, ranks), str(build.program("turbulence"))]
        self.words += ["--grid", str(grid), "--procs", f"1x{ranks}", "--steps"]
        self.mpi, self.folder, self.count = build.family, folder, 0

    def run(self, steps, variables):
        """One job; the folder with its output."""
        self.count += 1
        folder = self.folder / str(self.count)
        job = Job(tuple(self.words + [str(steps)]), self.mpi)
        ended = runs.run(job, {"CRESTA_TUNING": "", **variables}, folder, LIMIT_S)
        if ended.why != "ended" or ended.code != 0:
            sys.exit(f"{' '.join(self.words)} {steps}: {ended.how()}\n{ended.said()}")
        return folder

    def steps_per_second(self):
        folder = self.run(RATE_STEPS, {"CRESTA_IMPL": "*=mpi"})
        lines = (folder / "stdout").read_text().splitlines()
        return RATE_STEPS / float(next(w for w in lines if w.startswith("wall:")).split()[1])


def explored_rules(program, budget):
    """What explore finds."""
    out = program.folder / "explored"
    command = [str(ROOT / "bin" / "crestacoll"), "explore", "--budget", budget, "--output"]
    command += [str(out), "--", *program.words, str(EXPLORE_STEPS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"explore ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    found = out / "tuning.json"
    return rules_of(str(found)) if found.exists() else "*=mpi"


def rules_of(text):
    """Those of a tuning file, or what is given."""
    if not pathlib.Path(text).is_file():
        return text
    return ",".join(tuning.rule_text(rule) for rule in tuning.read(text)["rules"])


def with_rest(rules):
    """The MPI's own for all that no rule names."""
    return ",".join(filter(None, [rules, "*=mpi"])) if not rules.endswith("*=mpi") else rules


def online(program, steps, rules=None):
    """What a job with CRESTA_ONLINE came to: its last event, with what it said."""
    asked = program.folder / f"online-{program.count}"
    asked.write_text(f"{race.HEAD}\noutput {asked}.jsonl\n")
    given = {"CRESTA_IMPL": rules} if rules else {}
    variables = {"CRESTA_ONLINE": "1", race.VARIABLE: str(asked), **given}
    said = (program.run(steps, variables) / "stderr").read_text().splitlines()
    lines = pathlib.Path(f"{asked}.jsonl").read_text().splitlines()
    events = [e for e in map(json.loads, lines) if e["event"] in ("online", "none")]
    return events[-1] | {"said": [line for line in said if "CRESTA_ONLINE" in line]}


def compare(program, first, second, seconds, rate):
    """The Difference of the second rules from the first, which take turns in one job."""
    arms = (race.Arm("explored", with_rest(first), 0), race.Arm("online", with_rest(second), 1))
    asked = race.Race(arms, seconds=seconds, block_ms=BLOCK_MS, drop=False, confirm=False)
    path = program.folder / f"race-{program.count}"
    asked.write(path, f"{path}.jsonl")
    program.run(math.ceil(1.5 * rate * seconds) + RATE_STEPS, {race.VARIABLE: str(path)})
    log = race.read(f"{path}.jsonl", [a.name for a in arms])
    return racestats.compare(log.means(), ["explored", "online"], "explored")["online"]


def percent(fraction):
    return f"{100 * fraction:+.2f} %"


def regret(found):
    """As the message of the library says it."""
    lost = max(0.0, found["regret_s"])
    share = lost / found["spent_s"] if found["spent_s"] > 0 else 0.0
    return f"regret {lost:.3f} s, {100 * share:.1f} % of the time"


def nearness(program, args, explored, rate):
    """A trial: (data, line)."""
    found = online(program, args.steps)
    if found["event"] == "none":
        return found, f"nothing was tried: {found['why']}"
    difference = compare(program, explored, found["rules"], args.seconds, rate)
    how = "" if found["certain"] else " (not certain)"
    line = f"online: {found['rules'] or 'mpi'}{how}; {regret(found)}; "
    if difference is None:
        return found | {"near": False}, line + "too few rounds to compare"
    near = difference.trimmed <= NEAR
    line += f"{percent(difference.trimmed)} of a step from the explored choice"
    line += f" ({percent(difference.low)} to {percent(difference.high)})"
    return found | {"difference": difference.as_dict(), "near": near}, line


def alike(program, args):
    """A trial with arms that are all the MPI's own: (data, line)."""
    found = online(program, args.steps, "*=mpi")
    if found["event"] == "none":
        return found, f"nothing was tried: {found['why']}"
    claims = found["arm"] != 0
    return found | {"claims": claims}, f"{'a difference' if claims else 'none'}; {regret(found)}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--mpi", default="openmpi", help="build: openmpi or mpich")
    parser.add_argument("-n", "--ranks", type=int, default=2)
    parser.add_argument("--grid", type=int, default=16)
    parser.add_argument("--steps", type=int, default=500, help="of a run with CRESTA_ONLINE")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--explored", help="rules, or a tuning file; default: explore finds them")
    parser.add_argument("--budget", default="60s", help="of explore")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each comparison")
    parser.add_argument("--alike", action="store_true", help="count claims of arms that are alike")
    parser.add_argument("--json", help="file for the results")
    return parser.parse_args()


def trials(program, args):
    """All of them, a line for each."""
    made = {"mpi": args.mpi, "ranks": args.ranks, "grid": args.grid, "steps": args.steps}
    made |= {"machine": machine.describe(), "trials": []}
    if not args.alike:
        given = args.explored
        made["explored"] = rules_of(given) if given else explored_rules(program, args.budget)
        made["steps_per_second"] = program.steps_per_second()
        print(f"explored: {made['explored']}", flush=True)
    for number in range(1, args.trials + 1):
        if args.alike:
            data, line = alike(program, args)
        else:
            data, line = nearness(program, args, made["explored"], made["steps_per_second"])
        made["trials"].append(data)
        print(f"{number:3}: {line}", flush=True)
    return made


def main():
    args = arguments()
    environment = builds.clean_environment()
    os.environ.clear()
    os.environ.update(environment)
    build = next((b for b in builds.all_builds() if b.name == args.mpi), None)
    if build is None or not build.program("turbulence").exists():
        sys.exit(f"build/{args.mpi} has no turbulence code: run 'make'")
    with tempfile.TemporaryDirectory() as folder:
        made = trials(Program(build, args.ranks, args.grid, pathlib.Path(folder)), args)
    key, words = ("claims", "claim a difference") if args.alike else ("near", "are within 3 %")
    print(f"of {args.trials}: {sum(t.get(key, False) for t in made['trials'])} {words}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
