#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py - `make check`: everything that decides whether a change is good, and a summary.

Each step's output goes to build/check/; what a failed step wrote is shown. Steps go on after a
failure, except where they need a build that failed. The summary ends with the slowest tests. Exit
code 0 if all passed.
"""
import concurrent.futures
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
# The same whichever MPI is beside them. The first start no ranks and use one core each.
SIMULATOR = "^algorithms(-.*)?$"
ONCE = SIMULATOR[:-1] + "|^package.built_in$"
# Open MPI's launcher waits most of the time, and its ranks give way; MPICH's keep their cores.
BESIDE = {"openmpi": 2 * CORES}
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
    """[(name, command, name of the step it needs or None)]: those that run at the same time."""
    python = sys.executable
    yield [("layers", [python, "tools/check_layers.py"], None)]
    yield [("rooms", [python, "tools/check_rooms.py"], None)]
    yield [("facts", [python, "tools/check_facts.py"], None)]
    yield [("style", [python, "tools/check_style.py"], None)]
    yield [("docs", [python, "tools/check_docs.py"], None)]
    yield [("generated files", [python, "api/gen_api.py", "--check"], None)]
    yield [("reference pages", [str(VENV), "tools/reference.py", "--check"], None)]
    found = mpis()
    for mpi in found:
        left_out = ["--exclude-regex", SIMULATOR if mpi == found[0] else ONCE]
        needs = f"build {mpi}"
        yield [(needs, ["env", f"MPI={mpi}", "tools/build.sh", "all"], None)]
        yield [(f"names {mpi}", [python, "tools/check_names.py", f"build/{mpi}"], needs)]
        yield [(f"tests {mpi}", [*ctest(mpi, BESIDE.get(mpi, CORES)), *left_out], needs)]
    pytest = [str(VENV), "-m", "pytest", "-q", f"--durations={SLOWEST}", "--durations-min=0.5"]
    beside = ["-n", str(CORES + 2), "--dist", "worksteal"]      # many of them wait
    yield [("python", [*pytest, *beside, "-m", "not alone", "tests"], None)]
    # Those that no other job must disturb leave a core to what is no job.
    alone = [("python alone", [*pytest, "-m", "alone", "tests"], None)]
    simulator = [*ctest(found[0], max(1, CORES - 1)), "--tests-regex", SIMULATOR] if found else []
    yield [*alone, *([("simulator", simulator, f"build {found[0]}")] if found else [])]


def ctest(mpi, parallel):
    return ["ctest", "--test-dir", f"build/{mpi}", "--output-on-failure", "--no-tests=error",
            "--parallel", str(parallel)]


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
    if name.startswith("build ") and any(WARNING in line for line in lines):
        code = code or f"0, but a compiler warns ({WARNING})"
    if code:
        print(f"\n--- {name}: {' '.join(command)}\n--- exit code {code}; the end of "
              f"{log.relative_to(ROOT)}:")
        print("\n".join(lines[-100:]), flush=True)
    return code == 0, time.monotonic() - start


def run_all(group, results):
    """Runs steps at the same time; {name: (passed, seconds, what it told)} goes into `results`."""
    ready = [s for s in group if s[2] is None or results[s[2]][0]]
    for name, _, needs in group:
        if needs and not results[needs][0]:
            results[name] = (False, 0.0, f"not run: {needs} failed")
    if not ready:
        return
    print(f"check: {' and '.join(name for name, _, _ in ready)} ...", end=" ", flush=True)
    with concurrent.futures.ThreadPoolExecutor(len(group)) as pool:
        done = list(pool.map(lambda step: run(*step[:2]), ready))
    for (name, _, _), (passed, seconds) in zip(ready, done, strict=True):
        results[name] = (passed, seconds, last_line(name))
    failed = [name for name, _, _ in ready if not results[name][0]]
    told = f"FAILED: {', '.join(failed)}" if failed else "ok"
    print(f"{told} ({max(seconds for _, seconds in done):.0f} s)", flush=True)


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
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    results = {}
    with session_folder():
        for group in steps():
            run_all(group, results)

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
