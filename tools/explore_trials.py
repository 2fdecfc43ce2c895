#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""explore_trials.py - whether what `crestacoll explore` says is true where the truth is planted.

    tools/explore_trials.py null    [--times 40] [--budget 30s]
    tools/explore_trials.py planted [--times 20] [--budget 30s] [--percent 3]
    tools/explore_trials.py truths  [--kinds faster,none,short,busy,early] [--seeds 1-20]
                                    [--budget 8s] [--write docs/lab/explore-verdicts.csv]

null, planted: how often it claims a difference where there is none, and how often it finds one.
Runs explore on the turbulence code, 2 ranks, Open MPI, grid 16. Its only arm besides the MPI's own
is the MPI's own once more. Planted: the sum of all ranks, one in a time step, goes through model
nonblock, whose call waits for so many percent of a step (tests/mpi/late_calls.c). Prints a line for
each exploration and the counts; a claim is what explore itself says of the arm.

truths: programs of five kinds (KINDS), with values drawn from a seed. A step of these programs lets
the clock go forward, and so does what is planted, so that other programs on the same cores do
little to it. What explore prints and writes is judged by explore_judge.py, which shares no code
with it. A line for each exploration goes into the CSV file; what it has already is not run again. A
table at the end has what was said how often. It takes kinds x seeds x budget, and some seconds for
each.
"""
import argparse
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
BUILD = ROOT / "build" / "openmpi"
VENV = ROOT / ".venv" / "bin" / "python"  # has the packages that explore needs
PYTHON = str(VENV) if VENV.exists() else sys.executable
PROGRAM = [str(BUILD / "bin" / "turbulence"), "--grid", "16", "--procs", "1x2"]
LATE_CALLS = BUILD / "lib" / "liblate_calls.so"
PLANTED_STEPS = BUILD / "tests" / "bin" / "planted_steps"
LAUNCHER = ["mpirun.openmpi", "--bind-to", "core", "-n", "2"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# The model `again` is that of `of`, or mpi.
EXPLORE = """
import sys
from crestacoll_tools.explore import arms
of, rule = {of!r}, arms.Point.rule
def same(point, implementation, *more):
    model = of.get(point.collective, "mpi")
    return rule(point, model if implementation == "again" else implementation, *more)
arms.Point.rule = same
arms.SHARE = 0  # the sum costs less than what is left alone
arms.working = lambda description, names=(): ["again"]
from crestacoll_tools.cli import main
sys.argv[0] = "crestacoll"
main()
"""


# For `truths`. A step takes so long by the clock of the ranks, and transposes.
STEP_US = 20000
STEPS = {"short": 100}  # of a run; else USUAL
USUAL = 2000
BUDGETS = {"short": 4.0}
KINDS = {
    "faster": "model nonblock is faster by 3 to 15 % of a step",
    "none": "nonblock is slower, by 0 to 6 %, or equal",
    "short": "faster by 3 to 15 %, in so few steps that there are few rounds",
    "busy": "faster by 0 to 15 %; two busy loops begin after a fifth to three fifths of the time",
    "early": "faster by 0 to 15 %; all runs but the first end after a fifth to four fifths",
}
FIELDS = ("kind", "seed", "budget_s", "late_us", "scatter", "verdict", "gain", "low", "high",
          "bound", "open", "step_us", "busy", "holds", "false", "said")


def steps_per_second():
    """Speed of the program as it is, with the MPI's own collectives."""
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
        command = [PYTHON, "-c", EXPLORE.format(of=of), "explore", "--budget", budget,
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
    from crestacoll_tools.explore import words

    claims = [words.claim(a["difference"]) for a in result["arms"]]
    claims += ["faster"] if result["verdict"] == "faster" else []
    arm = next(a for a in result["arms"] if a["race"] == "models")
    d = arm["difference"]
    shown = "too few rounds" if d is None else (
        f"{100 * d['trimmed']:+.2f} % ({100 * d['low']:+.2f} to {100 * d['high']:+.2f})"
    )
    return next(filter(None, claims), "none"), shown


def drawn(kind, seed):
    """(what is planted in a step, us; where: in the MPI's own call or in that of nonblock; when
    busy loops begin, when runs end, in fractions; how steps scatter).
    """
    chance = random.Random(f"{kind} {seed}")
    part = chance.uniform(0.03, 0.15)
    if kind in ("busy", "early") and chance.random() < 0.4:
        part = 0.0
    if kind == "none":
        part = chance.choice((0.0, chance.uniform(0.005, 0.06)))
    late = STEP_US * part / (1 - part)
    when = chance.uniform(0.2, 0.6)
    share, scatter = chance.uniform(0.2, 0.8), 10 ** chance.uniform(-2.5, -0.7)
    return late, "ialltoall" if kind == "none" else "alltoall", when, share, scatter


class Busy:
    """Two busy loops from a moment on, and a file: the clock of the ranks does not see the former,
    so that the program is to interrupt its steps itself.
    """

    def __init__(self, seconds, mark):
        self.children, self.mark = [], pathlib.Path(mark)
        self.timer = threading.Timer(seconds, self.begin)
        self.timer.start()

    def begin(self):
        self.mark.touch()
        words = [sys.executable, "-c", "while True: pass"]
        self.children = [subprocess.Popen(words) for _ in range(2)]

    def end(self):
        self.timer.cancel()
        self.timer.join()
        for child in self.children:
            child.kill()
            child.wait()


def one_truth(kind, seed, budget):
    """The row of an exploration, and what it printed."""
    import explore_judge

    late, where, when, share, scatter = drawn(kind, seed)
    with tempfile.TemporaryDirectory() as folder:
        launch = [*LAUNCHER, "--oversubscribe", "-x", f"LD_PRELOAD={LATE_CALLS}"]
        launch += ["-x", f"LATE={where}", "-x", f"LATE_AHEAD_US={late:.2f}"]
        program = [str(PLANTED_STEPS), str(STEPS.get(kind, USUAL)),
                   str(STEP_US), f"{scatter:.4f}", str(seed)]
        program += [kind, f"{folder}/mark", f"{share:.2f}"] if kind in ("early", "busy") else []
        words = [PYTHON, "-c", EXPLORE.replace('["again"]', '["again", "nonblock"]').format(
            of={}), "explore", "--budget", f"{budget:g}s", "--output", f"{folder}/out",
            f"--json={folder}/found.json", "--", *launch, *program]
        busy = Busy(when * budget, f"{folder}/mark") if kind == "busy" else None
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, env={
                **os.environ, **AS_ROOT, "COLUMNS": "200", "PYTHONPATH": str(ROOT / "python")})
        finally:
            if busy:
                busy.end()
        row = {"kind": kind, "seed": seed, "budget_s": f"{budget:g}", "late_us": f"{late:.1f}"}
        row["scatter"] = f"{scatter:.3f}"
        path = pathlib.Path(folder) / "found.json"
        if done.returncode != 0 or not path.exists():
            lines = (done.stderr + done.stdout).strip().splitlines() or [""]
            return row | {"verdict": f"exit {done.returncode}", "false": "the exploration failed",
                          "said": lines[-1][:200]}
        result = json.loads(path.read_text())
    saved = {"nonblock": -late if kind == "none" else late, "again": 0.0}
    truth = {"late_us": saved, "step_us": STEP_US + (0 if kind == "none" else late)}
    wrong = explore_judge.complaints(truth, done.stdout, result)
    return row | of_result(result) | {
        "holds": {None: "", True: 1, False: 0}[explore_judge.interval_holds(truth, result)],
        "false": "; ".join(wrong), "said": done.stdout.splitlines()[0][:200]}


def of_result(result):
    step, bound, others = result["step"] or {}, result["bound"] or {}, result["others"] or {}

    def number(value, digits=4):
        return "" if value is None else f"{value:.{digits}f}"

    return {
        "verdict": result["verdict"],
        **{key: number(step.get(key)) for key in ("gain", "low", "high")},
        "bound": number(bound.get("gain")),
        "open": len(bound.get("open", [])),
        "step_us": number(result["step_s"] and 1e6 * result["step_s"], 1),
        "busy": number(others.get("busy"), 2),
    }


def seeds_of(text):
    low, _, high = text.partition("-")
    return range(int(low), int(high or low) + 1)


def read_rows(path):
    if not path or not pathlib.Path(path).exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def truths(args):
    """One exploration after the other, a seed of each kind before the next seed."""
    for path in (LATE_CALLS, PLANTED_STEPS):
        if not path.exists():
            sys.exit(f"explore_trials: no {path.relative_to(ROOT)}: MPI=openmpi tools/build.sh all")
    rows = read_rows(args.write)
    known = {(r["kind"], int(r["seed"])) for r in rows}
    for seed in seeds_of(args.seeds):
        for kind in args.kinds.split(","):
            if (kind, seed) in known:
                continue
            began = time.monotonic()
            row = one_truth(kind, seed, BUDGETS.get(kind, float(args.budget.rstrip("s"))))
            rows.append({field: row.get(field, "") for field in FIELDS})
            print(f"{kind} {seed}: {row['verdict']}, {time.monotonic() - began:.0f} s: "
                  f"{row.get('false') or 'true'}: {row.get('said', '')}", flush=True)
            if args.write:
                write_rows(args.write, rows)
    print(table_of(rows))


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table_of(rows):
    """By kind: what was said how often."""
    lines = ["| kind | explorations | faster | not faster | not enough time | none compared"
             " | 95 % intervals that hold the truth | false sentences |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for kind in [k for k in KINDS if any(r["kind"] == k for r in rows)]:
        mine = [r for r in rows if r["kind"] == kind]
        counts = [sum(r["verdict"] == v for r in mine)
                  for v in ("faster", "not-faster", "undecided")]
        holds = [int(r["holds"]) for r in mine if r["holds"] != ""]
        false = sum(bool(r["false"]) for r in mine)
        cells = [kind, len(mine), *counts, len(mine) - sum(counts),
                 f"{sum(holds)} of {len(holds)}", false]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("kind", choices=("null", "planted", "truths"))
    parser.add_argument("--times", type=int)
    parser.add_argument("--budget")
    parser.add_argument("--percent", type=float, default=3.0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seeds", default="1-20")
    parser.add_argument("--write")
    args = parser.parse_args()
    args.budget = args.budget or ("8s" if args.kind == "truths" else "30s")
    if args.kind == "truths":
        truths(args)
    else:
        claims(args)


def claims(args):
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
