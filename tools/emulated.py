#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""emulated.py [SEED] - the tests in one process of slot rings, streams and the simulator, on
another processor: compiled for aarch64, run by qemu-user.

The commands are those of the build for MPICH, whose handles are numbers, with another compiler; no
MPI is called there, nor linked. Needs qemu-user and gcc-aarch64-linux-gnu (Debian), and says so if
they are not installed. Output goes to build/aarch64/. Exit code 0 if all passed, 77 if they were
not run.
"""
import concurrent.futures
import os
import shlex
import shutil
import subprocess
import sys

from sources import ROOT

BUILD = ROOT / "build/mpich"
HERE = ROOT / "build/aarch64"  # as deep: paths in commands are relative
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
# Functions of the MPI that no test calls are nowhere.
LINKED = ("-static", "-Wl,--unresolved-symbols=ignore-all", "-w")
NOT_RUN = 77
PATIENCE = 1800


def programs(seed):
    """Name and arguments: a part of what `make check` tries, for the emulator takes ten times as
    long."""
    return {
        "conformance-flat": (1000, seed),
        "conformance-levels": (20, seed),
        "conformance-streams": (40, seed),
        "conformance-sim": ("--random", 1000, seed),
    }


def translated(command):
    """A command of the build, for the other processor."""
    words = [w for w in shlex.split(command) if w not in ("ccache", ":", "&&")]
    words[0] = COMPILER
    if "-c" in words:
        return [*words, "-w"]
    libraries = (".so", ".a")
    return [w for w in words if not w.endswith(libraries) and not w.startswith("-Wl,-rpath")] + [
        *LINKED, "-lm", "-lpthread"]


def build(name):
    """Compiles and links a program; what the compiler says if it fails."""
    said = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", name], capture_output=True,
                          text=True, check=True).stdout
    steps = [translated(line) for line in said.splitlines() if "-o " in line]
    for step in steps:
        (HERE / step[step.index("-o") + 1]).parent.mkdir(parents=True, exist_ok=True)

    def run(step):
        done = subprocess.run(step, cwd=HERE, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = "".join(pool.map(run, steps[:-1]))
    return wrong or run(steps[-1]), HERE / steps[-1][steps[-1].index("-o") + 1]


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    missing = [p for p in (COMPILER, EMULATOR, "ninja") if shutil.which(p) is None]
    if missing or not (BUILD / "build.ninja").exists():
        print(f"emulated: not run: no {', '.join(missing) or 'build for MPICH'}")
        return NOT_RUN
    failed = []
    for name, arguments in programs(seed).items():
        print(f"emulated: {name} ...", end=" ", flush=True)
        wrong, program = build(name)
        log = HERE / f"{name}.log"
        if wrong:
            log.write_text(wrong)
        else:
            with log.open("w") as out:
                wrong = subprocess.run([EMULATOR, program, *map(str, arguments)], cwd=HERE,
                                       stdout=out, stderr=subprocess.STDOUT, check=False,
                                       timeout=PATIENCE).returncode
        lines = log.read_text(errors="replace").splitlines()
        print(f"{'FAILED' if wrong else 'ok'}: {lines[-1] if lines else ''}", flush=True)
        if wrong:
            failed.append(name)
            print("\n".join(lines[-30:]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
