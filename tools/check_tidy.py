#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_tidy.py [--all | FILE...] - clang-tidy finds nothing in the C sources of the library
(.clang-tidy): in those that have changed since the upstream branch, or since the commit before the
last where there is none; with --all, as in `make nightly`, in all.

It takes the clang-tidy of .venv (requirements-check.txt) and the commands of a build, MPICH's if
there are several: its constants are numbers, so that less is said of what is not ours. Without
them nothing is checked, and told.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

from sources import ROOT, Report, generated

TOOL = ROOT / ".venv/bin/clang-tidy"
SOURCES = ("src/", "fortran/")
FOUND = re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: (?:error|warning): (?P<what>.*)", re.M)


def git(*words):
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def changed():
    """The names of changed files, those not yet committed among them."""
    base = git("merge-base", "HEAD", "@{upstream}")
    if not base or base == git("rev-parse", "HEAD"):
        base = git("rev-parse", "HEAD~1")
    return git("diff", "--name-only", base[0]) if base else []


def compiled():
    """({file: its name} of what a build compiles, that build's folder); None if there is none."""
    for mpi in ("mpich", "openmpi"):
        commands = ROOT / f"build/{mpi}/compile_commands.json"
        if commands.exists():
            paths = {command["file"] for command in json.loads(commands.read_text())}
            return {os.path.relpath(path, ROOT) for path in paths}, commands.parent
    return None


def tidy(name, build):
    done = subprocess.run([TOOL, "--quiet", "-p", build, name], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    return done.stdout if done.returncode else ""


def main():
    report, given = Report("tidy"), sys.argv[1:]
    known = compiled()
    if not TOOL.exists() or known is None:
        print("tidy: not checked: no", "build" if TOOL.exists() else
              "clang-tidy in .venv (tools/setup.sh check)")
        return
    names, build = known
    wanted = names if given == ["--all"] else set(given or changed()) & names
    chosen = [name for name in sorted(wanted) if name.startswith(SOURCES)
              and not generated((ROOT / name).read_text(encoding="utf-8"))]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        for said in workers.map(lambda name: tidy(name, build), chosen):
            for path, line, what in FOUND.findall(said):
                report.add(path, int(line), what)
    print(f"tidy: {len(chosen)} files")
    report.exit()


if __name__ == "__main__":
    main()
