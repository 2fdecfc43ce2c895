#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py - `make check`: everything that decides whether a change is good, and a summary.

Each step's output goes to build/check/; what a failed step wrote is shown. Steps go on after a
failure, except where they need a build that failed. The summary ends with the slowest tests. Exit
code 0 if all passed.
"""
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/check"
VENV = ROOT / ".venv/bin/python"
CORES = len(os.sched_getaffinity(0))
# The same whichever MPI is beside them: the simulator, and how flags become a choice.
ONCE = "^(algorithms(-.*)?|mutants|package.built_in)$"
# Launchers wait most of the time, and ranks give way (MPICH's: tests/mpi/gives_way.c).
BESIDE = 2 * CORES
# Open MPI 4 looks 0.2 s at each start for networks that only this component uses.
SETTINGS = {"OMPI_MCA_pml": "^cm"}
WARNING = "warning: "
SLOWEST = 10
# How ctest and pytest tell the seconds of a test.
TOLD = [re.compile(r"Test +#\d+: (?P<test>\S+) .* (?P<seconds>[\d.]+) sec *$"),
        re.compile(r"(?P<seconds>[\d.]+)s call +(?P<test>\S.*)$")]


def mpis():
    """The names of the MPIs found."""
    found = subprocess.run([ROOT / "tools/mpis.sh"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in found.stdout.splitlines()]


def steps():
    """(name, command, name of the step it needs or None)"""
    python = sys.executable
    yield "layers", [python, "tools/check_layers.py"], None
    yield "rooms", [python, "tools/check_rooms.py"], None
    yield "facts", [python, "tools/check_facts.py"], None
    yield "style", [python, "tools/check_style.py"], None
    yield "docs", [python, "tools/check_docs.py"], None
    yield "version", [python, "tools/check_version.py"], None
    yield "generated files", [python, "api/gen_api.py", "--check"], None
    yield "reference pages", [str(VENV), "tools/reference.py", "--check"], None
    for number, mpi in enumerate(mpis()):
        once = ["--exclude-regex", ONCE] if number > 0 else []
        yield f"build {mpi}", ["env", f"MPI={mpi}", "tools/build.sh", "all"], None
        yield f"names {mpi}", [python, "tools/check_names.py", f"build/{mpi}"], f"build {mpi}"
        yield f"exports {mpi}", [python, "tools/check_exports.py", f"build/{mpi}"], f"build {mpi}"
        yield f"tests {mpi}", [
            "ctest", "--test-dir", f"build/{mpi}", "--output-on-failure", "--no-tests=error",
            "--parallel", str(BESIDE), *once], f"build {mpi}"
    pytest = [str(VENV), "-m", "pytest", "-q", f"--durations={SLOWEST}", "--durations-min=0.5"]
    beside = ["-n", str(CORES + 2), "--dist", "worksteal"]      # many of them wait
    yield "python", [*pytest, *beside, "-m", "not alone", "tests"], None
    yield "python alone", [*pytest, "-m", "alone", "tests"], None


def log_of(name):
    return LOGS / (name.replace(" ", "-") + ".log")


@contextlib.contextmanager
def session_folder():
    """Open MPI 4's launcher removes the folder that all launchers of a user share, if nothing is in
    it, at the moment at which another makes its own there, which then fails.
    """
    shared = Path(tempfile.gettempdir(), f"ompi.{os.uname().nodename.split('.')[0]}.{os.getuid()}")
    kept = shared / f"kept-{os.getpid()}"
    with contextlib.suppress(OSError):  # a folder of another user, for example
        kept.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # somebody else's may be in it
            kept.rmdir()
            shared.rmdir()


def run(name, command):
    """Runs one step; (passed, seconds)."""
    log, start = log_of(name), time.monotonic()
    with log.open("w") as out:
        code = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                              stdout=out, stderr=subprocess.STDOUT).returncode
    lines = log.read_text(errors="replace").splitlines()
    if code == 0 and is_warned(name, lines):
        code = "0, but a compiler warns"
    if code:
        print(f"\n--- {name}: {' '.join(command)}\n--- exit code {code}; the end of "
              f"{log.relative_to(ROOT)}:")
        print("\n".join(lines[-100:]), flush=True)
    return code == 0, time.monotonic() - start


def is_warned(name, lines):
    """Of a build in CI, where everything is compiled anew."""
    fresh = name.startswith("build ") and os.environ.get("CI")
    return bool(fresh) and any(WARNING in line for line in lines)


def last_line(name):
    """The last line that a step wrote, for the summary: tests count themselves there."""
    lines = log_of(name).read_text(errors="replace").splitlines()
    told = [line for line in lines if "tests passed" in line or " passed" in line]
    return told[-1].strip("= ") if told else ""


def slowest(names):
    """(seconds, test) of the slowest tests of these steps."""
    found = []
    for name in names:
        mpi = name.removeprefix("tests ") + " " if name.startswith("tests ") else ""
        for line in log_of(name).read_text(errors="replace").splitlines():
            for told in TOLD:
                if match := told.search(line):
                    found.append((float(match["seconds"]), mpi + match["test"]))
    return sorted(found, reverse=True)[:SLOWEST]


def main():
    LOGS.mkdir(parents=True, exist_ok=True)
    for variable, value in SETTINGS.items():
        os.environ.setdefault(variable, value)
    results = {}
    with session_folder():
        for name, command, needs in steps():
            if needs and not results[needs][0]:
                results[name] = (False, 0.0, f"not run: {needs} failed")
                continue
            print(f"check: {name} ...", end=" ", flush=True)
            passed, seconds = run(name, command)
            results[name] = (passed, seconds, last_line(name))
            print(f"{'ok' if passed else 'FAILED'} ({seconds:.0f} s)", flush=True)

    print("\nsummary")
    for name, (passed, seconds, told) in results.items():
        print(f"  {'ok    ' if passed else 'FAILED'}  {name:18} {seconds:5.0f} s  {told}")
    print("\nslowest tests")
    for seconds, test in slowest([name for name, (_, took, _) in results.items() if took]):
        print(f"  {seconds:6.1f} s  {test}")
    failed = [name for name, result in results.items() if not result[0]]
    print(f"make check: FAILED: {', '.join(failed)}" if failed else "make check: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
