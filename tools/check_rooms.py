#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_rooms.py - every function is declared in the header of its own file, no files of src call
each other in a circle, and the build knows which of them differ in the preload library, and which
read the built-in choice.

A reader who knows a function's file knows its header, and can read files from the bottom up.
Functions count by name, also where a header only mentions them in code; static ones do not count.
"""
import re

from sources import ROOT, Report

SRC = ROOT / "src"
# header: the file that implements it besides its own.
ALSO = {"sched/step": "sched/sched", "algo/algo": "algo/registry"}
COMMENT = re.compile(r"/\*.*?\*/", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
DEFINED = re.compile(r"^(?!typedef|extern| |#)(static inline )?(?!static)[\w* ]*?\b(cco_\w+)"
                     r"\([^;{]*\)\s*\{", re.M)
LIBRARIES = ROOT / "cmake/CrestaLibraries.cmake"
DIFFERS = re.compile(r"\bC(?:RESTA|CO)_PRELOAD(?:ED)?\b")
DFLAGS = ROOT / "cmake/CrestaDflags.cmake"
CHOICE = re.compile(r"\bCCO_(?:DEFAULT_(?:IMPL|OS_WINDOW|CAF_BUFFER)|PROTECTED_BUFFER)\b")
DECLARED = re.compile(r"^(?!static|typedef| |#)[\w* ]*?\b(cco_\w+)\([^;{]*\);", re.M)


def unit(path):
    """What a .c file and its header are together: model/shm."""
    return path.relative_to(SRC).with_suffix("").as_posix()


def read():
    """{path: code without comments and strings} of src."""
    paths = sorted(path for path in SRC.rglob("*") if path.suffix in (".c", ".h"))
    return {path: STRING.sub('""', COMMENT.sub("", path.read_text())) for path in paths}


def check_headers(report, code, defined):
    for path, text in code.items():
        if path.suffix != ".h":
            continue
        for name in DECLARED.findall(text):
            home = defined.get(name)
            if home and home != unit(path) and ALSO.get(unit(path)) != home:
                report.add(path, 1, f"declares {name}, which is in src/{home}.c: it belongs in the "
                           "header of that file")


def calls(code, defined):
    """{unit: units whose functions it names}"""
    edges = {}
    for path, text in code.items():
        own = unit(path)
        named = {defined[name] for name in re.findall(r"\bcco_\w+", text) if name in defined}
        edges.setdefault(own, set()).update(ALSO.get(to, to) for to in named)
        edges[own].discard(own)
    return edges


def circle(edges):
    """The units of one circle, in order, or None."""
    state = {}

    def visit(node, path):
        state[node] = "open"
        for to in sorted(edges.get(node, ())):
            if state.get(to) == "open":
                return path[path.index(to):] + [to]
            if to not in state and (found := visit(to, path + [to])):
                return found
        state[node] = "done"
        return None

    for node in sorted(edges):
        if node not in state and (found := visit(node, [node])):
            return found
    return None


def check_differing(report, code):
    """All other objects are made once, for all libraries."""
    listed = re.search(r"set\(CRESTA_DIFFERING (.*?)\)", LIBRARIES.read_text(), re.S)[1]
    listed = {SRC / name.removeprefix("${src}/") for name in listed.split()}
    differ = {path for path, text in code.items()
              if DIFFERS.search(text) and path != SRC / "config/config.h"}
    for path in sorted(listed ^ differ):
        report.add(path, 1, f"CRESTA_DIFFERING of {LIBRARIES.name} "
                   f"{'lacks it' if path in differ else 'lists it without need'}")


def check_built_in(report):
    """Other files would not have the choice of the build, and say nothing of it."""
    listed = re.search(r"set\(CRESTA_BUILT_IN (.*?)\)", DFLAGS.read_text(), re.S)[1].split()
    reading = {path.relative_to(ROOT).as_posix() for folder in ("src", "bench", "fortran")
               for path in (ROOT / folder).rglob("*.[ch]") if CHOICE.search(path.read_text())}
    for name in sorted({*listed} ^ (reading - {"src/config/config.h"})):
        report.add(ROOT / name, 1, f"CRESTA_BUILT_IN of {DFLAGS.name} "
                   f"{'lacks it' if name in reading else 'lists it without need'}")


def main():
    report = Report("rooms")
    code = read()
    defined = {name: unit(path) for path, text in code.items()
               for _, name in DEFINED.findall(text)}
    check_headers(report, code, defined)
    if found := circle(calls(code, defined)):
        report.add(SRC / (found[0] + ".c"), 1, "is in a circle of calls: " + " -> ".join(found))
    check_differing(report, code)
    check_built_in(report)
    report.exit()


if __name__ == "__main__":
    main()
