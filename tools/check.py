#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py [--quick] - `make check`: everything that decides whether a change is good, and a
summary; `make quick`: what finds most mistakes within a minute or two, for one MPI.

Each step's output goes to build/check/; what a failed step wrote is shown. Steps go on after a
failure, except where they need a build that failed. The summary ends with the slowest tests. Exit
code 0 if all passed.
"""
import collections
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
# The simulator: the same whichever MPI it is built for. It computes, and other tests see nothing of
# it: it runs beside those that no other job may disturb, which wait most of the time.
SIMULATOR = "algorithms(-.*)?"
QUICK = "quick-.*"  # what `make quick` has in place of longer tests
# For the first MPI: how flags become a choice; programs at random, and algorithms on more than
# three ranks, which `make nightly` has for each.
ONCE = "package.built_in|chance-.*|conformance-algorithms-[458]"
NOW = "not nightly and not release"  # which pytest has marks for (pyproject.toml)
# Launchers wait most of the time, and ranks that wait sleep (tests/mpi/gives_way.c).
BESIDE = 3 * CORES
# Open MPI 4 looks 0.2 s at each start for networks that only this component uses.
SETTINGS = {"OMPI_MCA_pml": "^cm"}
# Python compiles each module once for all of its processes, and not into the sources' folders.
COMPILED = {"PYTHONPYCACHEPREFIX": str(LOGS / "pycache")}
NOT_COMPILED = "PYTHONDONTWRITEBYTECODE"
# Where everything is compiled anew, nobody looks at it in a debugger. The code is the same. The
# simulator's tests run for the first MPI.
IN_CI = "-DCRESTA_DEBUG_INFO=OFF"
NEXT_IN_CI = f"{IN_CI} -DCRESTA_SIMULATOR_TESTS=OFF"
WARNING = "warning: "
SLOWEST = 10
# How ctest and pytest tell the seconds of a test.
TOLD = [re.compile(r"Test +#\d+: (?P<test>\S+) .* (?P<seconds>[\d.]+) sec *$"),
        re.compile(r"(?P<seconds>[\d.]+)s call +(?P<test>\S.*)$")]


def mpis():
    """The names of the MPIs found."""
    found = subprocess.run([ROOT / "tools/mpis.sh"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in found.stdout.splitlines()]


def static_checks():
    """They read the sources, and build nothing."""
    python = sys.executable
    checks = [(name, [python, f"tools/check_{name}.py"], None)
              for name in ("layers", "rooms", "packages", "size", "facts", "style", "format",
                           "docs", "version")]
    return [*checks, ("generated files", [python, "api/gen_api.py", "--check"], None),
            ("reference pages", [str(VENV), "tools/reference.py", "--check"], None)]


def quick_steps():
    """Those of `make quick`: the first MPI found, incrementally; one launch for all models; tests
    in Python up to where they start a process.
    """
    mpi = mpis()[0]
    yield [("build", ["env", f"MPI={mpi}", "tools/build.sh", "quick"], None), *static_checks()]
    launch = [*ctest(mpi, CORES), "--tests-regex", f"^{QUICK}$"]
    yield [("tidy", [sys.executable, "tools/check_tidy.py"], "build"),
           ("unit", [*ctest(mpi, CORES), "--label-regex", "^unit$"], "build"),
           ("models", launch, "build")]
    yield "python", [str(VENV), "-m", "pytest", "-q", "--no-launch", "-m", "not long",
                     "-n", str(CORES), "tests/python"], "build"


def steps():
    """(name, command, name of the step it needs or None), those that run side by side in a list"""
    python = sys.executable
    # What computes on one core, such as CMake, and tests, which wait, leave cores idle: what needs
    # nothing of it goes on meanwhile.
    found = mpis()
    meanwhile = static_checks()
    for number, mpi in enumerate(found):
        left_out = f"^({QUICK}|{SIMULATOR}{'|' + ONCE if number > 0 else ''})$"
        build = ["env", f"MPI={mpi}", *options_in_ci(number)]
        needs = f"build {mpi}"
        yield [(needs, [*build, "tools/build.sh", "all"], None), *meanwhile]
        tests = [*ctest(mpi, BESIDE), "--exclude-regex", left_out]
        meanwhile = [(f"tests {mpi}", tests, needs)]
        for what in ("names", "exports"):
            check = [python, f"tools/check_{what}.py", f"build/{mpi}"]
            meanwhile.append((f"{what} {mpi}", check, needs))
    # Also compiles them, and all that they import: each process of the next step would do it.
    collect = [str(VENV), "-m", "pytest", "-q", "--collect-only", "tests"]
    yield [*meanwhile, ("python found", collect, None)]
    pytest = [str(VENV), "-m", "pytest", "-q", f"--durations={SLOWEST}", "--durations-min=0.5"]
    beside = ["-n", str(CORES + 2), "--dist", "worksteal"]      # many of them wait
    yield "python", [*pytest, *beside, "-m", f"not alone and not quiet and {NOW}", "tests"], None
    yield "python quiet", [*pytest, "-m", f"quiet and {NOW}", *files_with("quiet")], None
    alone = [*pytest, "-m", f"alone and not quiet and {NOW}", *files_with("alone")]
    simulator = [*ctest(found[0], CORES), "--tests-regex", f"^({SIMULATOR})$"] if found else []
    # Beside tests that wait, compilers compute, too.
    yield [("python alone", alone, None),
           ("other processors", [python, "tools/check_portable.py"], None),
           *([("simulator", simulator, f"build {found[0]}")] if found else [])]


def options_in_ci(number):
    """For the build of the MPI of this number, beside what the user says."""
    if not os.environ.get("CI"):
        return []
    ours = NEXT_IN_CI if number > 0 else IN_CI
    return [f"CRESTA_CMAKE={ours} {os.environ.get('CRESTA_CMAKE', '')}"]


def files_with(marker):
    """The files that have tests with a marker: to look for them in all files takes seconds."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(file.relative_to(ROOT)) for file in files
            if f"mark.{marker}" in file.read_text(encoding="utf-8")]


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


Result = collections.namedtuple("Result", "passed seconds processors told",
                                defaults=(False, 0.0, 0.0, ""))


def run(name, command):
    """The Result of one step."""
    log, start = log_of(name), time.monotonic()
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
    lines = log.read_text(errors="replace").splitlines()
    if code == 0 and is_warned(name, lines):
        code = "0, but a compiler warns"
    if code:
        print(f"\n--- {name}: {' '.join(command)}\n--- exit code {code}; the end of "
              f"{log.relative_to(ROOT)}:", *lines[-100:], sep="\n", flush=True)
    return Result(code == 0, time.monotonic() - start, used.ru_utime + used.ru_stime, last(lines))


def of_step(step, results):
    name, command, needs = step
    if needs and not results[needs].passed:
        return Result(told=f"not run: {needs} failed")
    return run(name, command)


def said(result):
    """In the line of progress."""
    if not result.seconds:
        return result.told
    return f"{'ok' if result.passed else 'FAILED'} ({result.seconds:.0f} s)"


def is_warned(name, lines):
    """Whether a build in CI has warnings, where everything is compiled anew."""
    fresh = name.startswith("build ") and os.environ.get("CI")
    return bool(fresh) and any(WARNING in line for line in lines)


def last(lines):
    """What a step wrote last, for the summary: tests count themselves there."""
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
    quick = sys.argv[1:] == ["--quick"]
    LOGS.mkdir(parents=True, exist_ok=True)
    os.environ.pop(NOT_COMPILED, None)
    for variable, value in (SETTINGS | COMPILED).items():
        os.environ.setdefault(variable, value)
    results = {}
    with session_folder(), concurrent.futures.ThreadPoolExecutor() as workers:
        for step in quick_steps() if quick else steps():
            group = step if isinstance(step, list) else [step]
            print(f"check: {', '.join(name for name, _, _ in group)} ...", end=" ", flush=True)
            names = [name for name, _, _ in group]
            results |= zip(names, workers.map(lambda one: of_step(one, results), group))
            print(", ".join(said(results[name]) for name in names), flush=True)

    print("\nsummary: elapsed seconds, and those of processors")
    for name, result in results.items():
        print(f"  {'ok    ' if result.passed else 'FAILED'}  {name:18} {result.seconds:5.0f} s "
              f"{result.processors:5.0f} s  {result.told}")
    print("\nslowest tests")
    for seconds, test in slowest([name for name, result in results.items() if result.seconds]):
        print(f"  {seconds:6.1f} s  {test}")
    failed = [name for name, result in results.items() if not result.passed]
    target = "make quick" if quick else "make check"
    print(f"{target}: FAILED: {', '.join(failed)}" if failed else f"{target}: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
