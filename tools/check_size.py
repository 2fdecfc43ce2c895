#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_size.py [--table] - how much a reader has to know, as numbers that may only fall.

Each measure has a limit, which a change lowers when the measure falls, and a goal. Raising a limit
needs a reason in docs/design.md. --table prints all measures.

Only what is written by hand counts: neither generated code nor the generated parts of pages, which
tools/reference.py compares with what they are made from, and the tables of `make table`. Neighbours
that few programs need (SHMEM, coarrays, atomics on windows, the record of MPI-IO, the count of all
calls) are not in the count of lines and files of src; their pages, with those of placement and the
simulator, have a measure of their own.
"""
import argparse
import collections
import re

from sources import ROOT, Report, files, generated

SRC = ROOT / "src"
NEIGHBOURS = ("shmem/", "transport/caf/", "window/", "io/", "calls/")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
FUNCTION = re.compile(r"^(?!typedef|struct|union|enum)[A-Za-z_][^;{}=#]*?\b(\w+)\([^;{}]*\)\n\{",
                      re.M)
# Names with the library's prefix, macros, attributes, and what replaces a function of the system.
OWN = re.compile(r"(cco|cresta|MPI|PMPI|mpi|pmpi|shmem|pshmem)_|_|[A-Z][A-Z_]*$|(format|dlsym)$")
VARIABLE = re.compile(r"^static (?!inline\b|const\b)(?![^=;]*\bconst \w+\[?)[^()=;{}]+[=;]",
                      re.M)
INCLUDE = re.compile(r"^#include", re.M)
COMM = re.compile(r"typedef struct cco_comm \{(.*?)\n\} cco_comm;", re.S)
COLLECTIVE = re.compile(r"\bPMPI_I?(?:barrier|bcast|reduce|allreduce|(?:ex)?scan|(?:all)?gatherv?|"
                        r"scatterv?|alltoall[vw]?|reduce_scatter(?:_block)?)\(", re.I)
# What runs the program's own call, and a question of one rank.
NO_SERVICE = ("mpi/service.c", "extensions/repro_sum.c", "mpi/mpi_check.c")
TREE = re.compile(r"\b(?:bit|step|own|level) (?:<<|>>|\*|/)= [12]\b|\b\w+ \^ (?:bit|step)\b")
HANDLE = re.compile(r"memcpy\(&\w+, &request, sizeof request\)")
BY_MPI = re.compile(r"^\s*#\s*(?:el)?if.*\b(?:OPEN_MPI|OMPI_|MPICH|I_MPI_|MVAPICH|MPIX_)", re.M)
ROOMS_BY_MPI = ("mpi/", "transport/")
# Users do not need these pages: they are for developers, or hold results of measurements.
NOT_USERS = ("docs/design.md", "docs/methods.md", "docs/lab/", "docs/performance",
             "docs/implementations.md", "docs/extending", "docs/glossary.md", "docs/mpi-defects.md")
NEIGHBOUR_PAGES = ("docs/mpi-io.md", "docs/simulating.md", "docs/placement.md",
                   "docs/one-sided.md", "docs/shmem.md")
GENERATED = re.compile(r"^<!-- generated: .*?^<!-- end -->\n", re.S | re.M)


def sources():
    """{path in src: code without comments} of hand-written C."""
    texts = {path: path.read_text() for path in files(".c", ".h", ".inc", ".def")
             if path.is_relative_to(SRC)}
    return {path.relative_to(SRC).as_posix(): text for path, text in texts.items()
            if not generated(text)}


def includes(code, name):
    return len(INCLUDE.findall(code[f"{name}.c"]))


def members(code):
    """Members of the state of a communicator: one for each name that is declared."""
    body = COMM.search(COMMENT.sub("", code["comm/comm.h"]))[1]
    return sum(len(line.split(",")) for line in re.split(r";", body) if line.strip())


def lines_by_hand(pages):
    """Lines of pages without their generated parts."""
    return sum(len(GENERATED.sub("", (ROOT / page).read_text()).splitlines()) for page in pages)


def measures():
    """{measure: number}"""
    code = sources()
    core = {name: text for name, text in code.items() if not name.startswith(NEIGHBOURS)}
    bare = {name: COMMENT.sub("", text) for name, text in code.items()}
    # In a file once: #if may choose between two of a name.
    functions = [function for text in bare.values() for function in set(FUNCTION.findall(text))
                 if not OWN.match(function)]
    times = collections.Counter(functions)
    schedules = ("algo/", "sched/")
    pages = {path.relative_to(ROOT).as_posix() for path in files(".md")} | {"README.md"}
    users = [page for page in pages if page.startswith(("README", "docs/"))
             and not page.startswith((*NOT_USERS, *NEIGHBOUR_PAGES))]
    return {
        "lines of src": sum(len(text.splitlines()) for text in core.values()),
        "files of src": len(core),
        "includes of dispatch.c": includes(code, "api/dispatch"),
        "includes of process.c": includes(code, "process/process"),
        "members of cco_comm": members(code),
        "variables of files": sum(len(VARIABLE.findall(text)) for name, text in bare.items()
                                  if name.endswith(".c")),
        "functions named by one word": sum("_" not in name for name in functions),
        "functions that share a name": sum(n for n in times.values() if n > 1),
        "service collectives elsewhere": sum(
            len(COLLECTIVE.findall(text)) for name, text in bare.items() if name not in NO_SERVICE),
        "trees by hand": sum(bool(TREE.search(text)) for name, text in bare.items()
                             if not name.startswith(schedules)),
        "tables by request": sum(len(HANDLE.findall(text)) for text in bare.values()),
        "sets of generalized requests": sum("PMPI_Grequest_start(" in text
                                            for text in bare.values()),
        "#if by MPI elsewhere": sum(len(BY_MPI.findall(text)) for name, text in bare.items()
                                    if not name.startswith(ROOMS_BY_MPI)),
        "lines of design.md": lines_by_hand(["docs/design.md"]),
        "lines of methods.md": lines_by_hand(["docs/methods.md"]),
        "lines of users' pages": lines_by_hand(users),
        "lines of neighbours' pages": lines_by_hand(NEIGHBOUR_PAGES),
    }


# (limit, goal)
LIMITS = {
    "lines of src": (60_596, 50_000),
    "files of src": (647, 450),
    "includes of dispatch.c": (13, 15),
    "includes of process.c": (11, 15),
    "members of cco_comm": (23, 24),
    "variables of files": (139, 110),
    "functions named by one word": (0, 0),
    "functions that share a name": (0, 0),
    "service collectives elsewhere": (0, 0),
    "trees by hand": (1, 1),
    "tables by request": (1, 1),
    "sets of generalized requests": (1, 1),
    "#if by MPI elsewhere": (0, 0),
    "lines of design.md": (600, 600),
    "lines of methods.md": (440, 300),
    "lines of users' pages": (3_053, 3_000),
    "lines of neighbours' pages": (507, 450),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(" - ")[1].split("\n")[0])
    parser.add_argument("--table", action="store_true", help="print all measures")
    table = parser.parse_args().table
    report = Report("size")
    for measure, number in measures().items():
        limit, goal = LIMITS[measure]
        if table:
            print(f"{measure:30} {number:6}   at most {limit:6}   goal {goal:6}")
        if number > limit:
            report.add("tools/check_size.py", 1, f"{measure}: {number}, at most {limit}: make it "
                       "smaller elsewhere, or give the reason in docs/design.md and raise it")
    report.exit()


if __name__ == "__main__":
    main()
