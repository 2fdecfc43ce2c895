#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_layers.py - an #include may only point to a layer below (docs/design.md, "Layers").

    {base, config} < mpi < call < {comm, wait, reduce, profile, hang} < {calls, io, sched}
    < {algo, transport, native} < {plan, window} < model < progress < tune < observe
    < {record, race, validate, rollcall, match} < {process, split, extensions, api, simulator}
    < {interpose, fortran, shmem, bench, check} < python

Folders that stand together with base, comm or api may include each other. The base also has two
files of src/mpi.
"""
import re

from sources import ROOT, Report, files

BASE = {"mpi/mpi_compat", "mpi/ulfm"}
TOGETHER = {"config": "base", "wait": "comm", "reduce": "comm", "profile": "comm", "hang": "comm",
            "process": "api", "split": "api", "extensions": "api"}
RANK = {"base": -3, "mpi": -2, "call": -1, "comm": 0, "calls": 1, "io": 1, "sched": 1, "algo": 2,
        "transport": 2, "native": 2, "plan": 3, "window": 3, "model": 4, "progress": 5, "tune": 6,
        "observe": 7, "record": 8, "race": 8, "validate": 8, "rollcall": 8, "match": 8, "api": 9,
        "simulator": 9, "interpose": 10, "fortran": 10, "shmem": 10, "bench": 10, "check": 10}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
PUBLIC = ROOT / "include"


def layer_of(path):
    """The layer a file belongs to; None for what may use everything (tests, examples)."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "src" and path.with_suffix("").relative_to(ROOT / "src").as_posix() in BASE:
        return "base"
    name = parts[1] if parts[0] in ("src", "generated") and len(parts) > 2 else parts[0]
    name = TOGETHER.get(name, name)
    return name if name in RANK else None


def target(path, name):
    """The file that #include "name" in `path` means, or None."""
    for folder in (path.parent, ROOT / "src", ROOT / "generated", PUBLIC, ROOT / "fortran",
                   ROOT / "tests", ROOT / "check", ROOT):
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None


def allowed(layer, below):
    return below == layer or RANK[below] < RANK[layer]


def check_line(report, path, number, line):
    found = INCLUDE.match(line)
    if not found:
        return
    name, to = found[1], target(path, found[1])
    if to is None:
        report.add(path, number, f'"{name}" is no file of the project')
        return
    layer, below = layer_of(path), layer_of(to)
    if path.parent == PUBLIC and to.parent != PUBLIC:
        report.add(path, number, f"a public header includes {name}")
    elif layer and not below and to.parent != PUBLIC:
        report.add(path, number, f"{layer} includes {name}, no part of the library")
    elif layer and below and not allowed(layer, below):
        report.add(path, number, f"{layer} includes {name} of {below}, which is not below it")


def check_folders(report):
    """A new folder of src/ needs a place among the layers."""
    for path in sorted((ROOT / "src").iterdir()):
        if path.is_dir() and TOGETHER.get(path.name, path.name) not in RANK:
            report.add(path, 1, "is no layer: rank it in tools/check_layers.py and docs/design.md")


def main():
    report = Report("layers")
    check_folders(report)
    for path in files(".c", ".h", ".inc", ".F90"):
        text = path.read_text(errors="replace")
        for number, line in enumerate(text.split("\n"), 1):
            check_line(report, path, number, line)
    report.exit()


if __name__ == "__main__":
    main()
