#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""nightly.py - `make nightly`: the stress tests of split phase and the random programs for a
minute each instead of the few seconds that `make check` has, with a seed of the day, launches of
ranks that disagree (disagree.py), tests in Python that take many steps of a program, or that `make
check` runs for another MPI, clang-tidy on all files, and more of that of which `make check` has a
sample: problems of each implementation and algorithm on ranks, all sizes of the simulated
algorithms, and slot rings, streams and the simulator on an emulated processor (emulated.py), and
mutants of one algorithm (mutants.py). The commands of the README's table run with the time that
they have there.

The tests are those that ctest has. Output goes to build/nightly/; what a failed one wrote is shown,
with the command that repeats it. Environment: SECONDS_EACH, SEED, MPI (only this one). Exit code 0
if all passed.
"""
import datetime
import json
import os
import shlex
import subprocess
import sys

from check import ROOT, VENV, mpis

LOGS = ROOT / "build/nightly"
PATIENCE = 120  # seconds more than a test should take
LONG = 3600  # of a test that takes as long as its problems
EACH = 0.1  # seconds for an algorithm of a collective
TIMES = 7  # as many problems as `make check` tries
NOT_RUN = 77


def tests(mpi):
    """(name, command, environment) of each."""
    words = ["ctest", "--test-dir", f"build/{mpi}", "--show-only=json-v1",
             "-R", "^(split-stress-|chance-|conformance-(algorithms-|slow-)?[0-9]+$|"
             "conformance-(protected|preload|thread)-|conformance-(os|caf)-ways$)"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    for test in json.loads(found.stdout)["tests"]:
        kept = {p["name"]: p["value"] for p in test["properties"]}
        yield test["name"], test["command"], kept.get("ENVIRONMENT", [])


def with_option(command, option, value):
    at = command.index(option) + 1
    return [*command[:at], str(value), *command[at + 1 :]]


def without(command, option):
    at = command.index(option) if option in command else len(command)
    return [*command[:at], *command[at + 2 :]]


def prime(most):
    """The largest up to this number, so that roots, in place and modes get their turns; or 1."""
    return next((n for n in range(most, 1, -1) if all(n % k for k in range(2, n))), 1)


def tonight(command, seconds, seed):
    """The command for so many seconds. Random programs have a seed each, one after another."""
    if "--programs" in command:
        command = [*without(command, "--programs"), "--seconds", str(seconds)]
        return with_option(command, "--seed", seed * 100000)
    if "--all" in command:
        return with_option(command, "--seconds", EACH)
    if "--sparse" in command:
        command = without(command, "--half")
        every = int(command[command.index("--sparse") + 1])
        return with_option(command, "--sparse", prime(every // TIMES))
    return with_option(with_option(command, "--seconds", seconds), "--seed", seed)


def run(log, command, environment, seconds):
    """The exit code; None after too long a time."""
    patience = LONG if {"--all", "--sparse"} & {*command} else seconds + PATIENCE
    setting = dict(word.split("=", 1) for word in environment)
    with log.open("w") as out:
        try:
            return subprocess.run(
                command, cwd=ROOT, env={**os.environ, **setting}, stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, timeout=patience).returncode
        except subprocess.TimeoutExpired:
            return None


def main():
    seconds = int(os.environ.get("SECONDS_EACH") or 60)
    seed = int(os.environ.get("SEED") or datetime.date.today().strftime("%y%m%d"))
    chosen = os.environ.get("MPI", "").split() or mpis()
    LOGS.mkdir(parents=True, exist_ok=True)
    failed = []
    for mpi in chosen:
        for number, (name, command, environment) in enumerate(tests(mpi)):
            command = tonight(command, seconds, seed * 100 + number)
            log = LOGS / f"{mpi}-{name}.log"
            print(f"nightly: {mpi} {name} ...", end=" ", flush=True)
            code = run(log, command, environment, seconds)
            lines = log.read_text(errors="replace").splitlines()
            told = {0: "ok", NOT_RUN: "skipped", None: "FAILED (no end)"}.get(code, "FAILED")
            print(f"{told}: {lines[-1] if lines else ''}", flush=True)
            if code not in (0, NOT_RUN):
                failed.append(f"{mpi} {name}")
                print("\n".join(lines[-50:]))
                print(f"again: {' '.join(environment)} {shlex.join(command)}", flush=True)
    if subprocess.run([ROOT / "tools/disagree.py", "--first", str(seed), *chosen]).returncode:
        failed.append("disagree")
    print("nightly: the commands of the README's table, in full:", flush=True)
    commands = [VENV, "-m", "pytest", "-q", "--in-full", "tests/python/test_readme_commands.py"]
    if subprocess.run(commands, cwd=ROOT).returncode:
        failed.append("commands")
    python = [VENV, "-m", "pytest", "-q", "-m", "nightly", "tests"]
    if subprocess.run(python, cwd=ROOT).returncode:
        failed.append("python")
    if subprocess.run([sys.executable, ROOT / "tools/check_tidy.py", "--all"]).returncode:
        failed.append("tidy")
    print("nightly: every algorithm, simulated:", flush=True)
    if subprocess.run([ROOT / f"build/{chosen[0]}/tests/bin/conformance-sim"]).returncode:
        failed.append("conformance-sim")
    # It builds the test by itself, from a list of files of its own.
    if subprocess.run([ROOT / "tools/mutants.py", "barrier/dissemination"]).returncode:
        failed.append("mutants")
    if subprocess.run([ROOT / "tools/emulated.py", str(seed)]).returncode not in (0, NOT_RUN):
        failed.append("emulated")
    print(f"make nightly: FAILED: {', '.join(failed)}" if failed else "make nightly: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
