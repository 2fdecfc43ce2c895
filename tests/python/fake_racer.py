# SPDX-License-Identifier: BSD-3-Clause
"""Stands for a launcher, a program and the library in it: writes what they would, with planted
differences. Arguments: what kind of program it is, and settings NAME=VALUE. Variable
FAKE_RACER_SLEEPS: seconds that a run goes on after its race.
"""

import json
import os
import random
import re
import sys
import time
from pathlib import Path

ARGUMENTS = sys.argv[1:] if __name__ == "__main__" else ["split"]  # test_explore_budget.py
KIND = ARGUMENTS[0]
SETTINGS = dict(a.split("=", 1) for a in ARGUMENTS[1:])
STEP, AT = 0.004, 0.05
# What an implementation does to a step of this program, in fractions of it.
EFFECTS = {
    ("alltoall", "shm"): -0.15,
    ("alltoall", "nonblock"): 0.05,
    ("alltoall", "p2p:bruck"): -0.05,
    ("alltoall", "shm:pairwise"): -0.25,
    ("allreduce", "shm"): 0.04,
    ("allreduce", "p2p"): -0.05,
    ("*", "shm"): -0.11,
}
WITHOUT_STEPS = ("no-rhythm", "calls", "calls-null", "calls-break", "calls-slow")
PHASE = KIND in ("phase", "few-steps")  # what repeats is a small part of it, or too short
if KIND == "split":
    EFFECTS = {("alltoall", "shm"): -0.1, ("allreduce", "shm"): 0.12}


def record(collective, communicator, mean_us, low, high, mode="blocking"):
    found = {"collective": collective, "mode": mode, "communicator": communicator, "processes": 2}
    found |= {"bytes_min": low, "bytes_max": high, "implementation": "mpi", "ranks": 2}
    found |= {"calls": 100, "calls_total": 200, "bytes_total": 1000}
    found["time_us"] = {"min": mean_us, "mean": mean_us, "max": mean_us}
    found["wait_us"] = dict.fromkeys(("mean", "low", "high", "max"), mean_us / 4)
    found["wait_us"] |= {"samples": 40, "clock_error": 0.0}
    return found | {"nodes": None, "between_nodes": None}


def write_profile(path):
    records = [
        record("alltoall", "row", 4e5, 4096, 8191),
        record("allreduce", "MPI_COMM_WORLD", 2e5, 8, 15),
        record("bcast", "", 100, 8, 15),
    ]
    kinds = {
        "no-collective": [],
        "nonblocking": [record("alltoall", "row", 4e5, 4096, 8191, "nonblocking")],
        "computes": records[2:],
    }
    data = {"schema": "crestacoll-profile-5", "crestacoll": "0.1.0", "mpi": "Open MPI v4.1.4, x"}
    data |= {"ranks": 1 if KIND == "one-rank" else 2, "wall_s": wall_s()}
    data |= {"wait_sampling": 1, "clocks": [], "communicators": [], "timeline": None}
    data["records"] = kinds.get(KIND, records)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file)


def wall_s():
    """Time of a whole run, under the rules if there are any."""
    if KIND not in ("calls", "calls-slow", "calls-break", "phase", "few-steps"):
        return 1.0
    tuned = os.environ.get("CRESTA_IMPL", "")
    rules = Path(tuned[1:]).read_text(encoding="utf-8").split() if tuned else []
    factor = 1 + effect(",".join(rules)) if rules else 1.0
    if KIND == "calls-slow":  # what the calls gain, and a little more, is lost elsewhere
        factor = 1.02 if rules else 1.0
    return 0.1 * factor * random.lognormvariate(0, 0.002)


def turns(path):
    """Two ranks that write the times of their calls."""
    values, arms = asked(path)
    chance = random.Random(int(values["seed"]))
    rows = {"alltoall": 4096, "allreduce": 8}
    files = [open(values["output"] + end, "a", encoding="utf-8") for end in ("", ".1")]

    def write(rank, **event):
        files[rank].write(json.dumps(event) + "\n")
        files[rank].flush()

    write(0, event="turns", mpi="x", ranks=2, arms=[a[0] for a in arms], at_s=AT)
    for collective, low in rows.items():
        place = {"collective": collective, "bytes_min": low, "processes": 2, "communicator": [1, 0]}
        for number, (_, rules) in enumerate(arms):
            write(0, event="first", arm=number, at_s=AT, **place)
            if KIND == "calls-break" and only(rules, "alltoall").endswith("=os"):
                os.kill(os.getpid(), 11)
        for number in range(100):
            order = list(range(len(arms)))
            chance.shuffle(order)
            order += order[::-1]
            for rank in (0, 1):
                seconds = [
                    1e-5 * (1 + effect(only(arms[i][1], collective)))
                    * chance.lognormvariate(0, 0.02) for i in order
                ]  # fmt: skip
                write(rank, event="turn", round=number, calls=3, order=order, call_s=seconds,
                      at_s=AT, **place)  # fmt: skip


def only(rules, collective):
    return ",".join(r for r in rules.split(",") if r.startswith(collective)) or "*=mpi"


def asked(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert lines[0] == "crestacoll race 1"
    values = dict(line.split(" ", 1) for line in lines[1:] if not line.startswith("arm "))
    arms = [line.split(" ", 2)[1:] for line in lines if line.startswith("arm ")]
    return values, arms


def effect(rules):
    total = 0.0
    for rule in rules.split(","):
        head, how = rule.split("=", 1)
        total += EFFECTS.get((re.match(r"\w+|\*", head)[0], how), 0.0)
    return total if KIND not in ("null", "calls-null") else 0.0


def race(path):
    values, arms = asked(path)
    chance = random.Random(int(values["seed"]) * 7919 + len(arms))
    with open(values["output"], "a", encoding="utf-8") as file:

        def write(**event):
            file.write(json.dumps(event) + "\n")
            file.flush()

        anchor = {"communicator": "MPI_COMM_WORLD", "collective": "allreduce", "bytes": 8}
        write(event="start", mpi="x", ranks=2, arms=[a[0] for a in arms], anchor=anchor,
              at_s=AT)  # fmt: skip
        for number, (_, rules) in enumerate(arms):
            write(event="first", arm=number, at_s=AT)
            if KIND == "breaks" and "=os" in rules:
                os.kill(os.getpid(), 11)
            if KIND == "stalls" and "=os" in rules:
                time.sleep(60)
        for number in range(len(arms)):
            write(event="warm", arm=number, first_s=0.01, at_s=AT)
        if KIND == "breaks-later" and any("=os" in rules for _, rules in arms):
            os.kill(os.getpid(), 11)
        steps = [STEP * (1 + effect(rules)) for _, rules in arms]
        for number in range(0 if KIND == "few-steps" else int(SETTINGS.get("rounds", 150))):
            order = list(range(len(arms)))
            chance.shuffle(order)
            order += order[::-1]
            seconds = [steps[i] * chance.lognormvariate(0, 0.03) for i in order]
            write(event="round", phase="screen", steps=2, order=order, step_s=seconds,
                  at_s=AT + (2.0 if PHASE else 0.02) * number)  # fmt: skip
            if KIND == "cut" and number == 100:
                file.write('{"event": "round", "ph')
                file.flush()
                os.kill(os.getpid(), 9)
        write(event="end", why="seconds", at_s=300.0 if PHASE else 5.0)


def main():
    if KIND == "hang-early":
        time.sleep(60)
    if KIND != "not-loaded":
        with open(os.environ["CRESTA_LOADED"], "w", encoding="utf-8") as file:
            file.write("0.1.0\n")
    if KIND == "crash":
        os.kill(os.getpid(), 11)
    if KIND == "abort":
        print("MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD", file=sys.stderr)
        sys.exit(3)
    tuned = "CRESTA_IMPL" in os.environ
    if KIND == "tuned-fails" and tuned:
        sys.exit(9)
    if KIND == "times":
        print(f"answer 42 {time.time_ns()}")
    elif KIND != "silent":
        print("answer", 43 if KIND == "wrong" and tuned else 42, flush=True)
    race_file = os.environ.get("CRESTA_RACE")
    if race_file and (KIND in WITHOUT_STEPS or PHASE) and "calls" in asked(race_file)[0]:
        if KIND != "no-rhythm":
            turns(race_file)
    elif race_file and KIND in WITHOUT_STEPS:
        with open(asked(os.environ["CRESTA_RACE"])[0]["output"], "w", encoding="utf-8") as file:
            file.write('{"event": "none", "why": "no collective repeats", "at_s": 1.0}\n')
    elif race_file and KIND != "hang":
        race(race_file)
    if KIND == "long-known" and "CRESTA_PROFILE_EVERY" in os.environ:
        write_profile(os.environ["CRESTA_PROFILE"] + ".so-far")
    if KIND == "hang" or KIND.startswith("long") and not tuned:
        time.sleep(60)
    if race_file:
        time.sleep(float(os.environ.get("FAKE_RACER_SLEEPS", "0")))
    if "CRESTA_PROFILE" in os.environ:
        write_profile(os.environ["CRESTA_PROFILE"])


if __name__ == "__main__":
    main()
