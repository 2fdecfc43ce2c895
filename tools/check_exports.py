#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_exports.py BUILD FOLDER ... - no name that the libraries export disappears.

api/exports/LIBRARY.txt lists the names of a library, one a line:

    NAME VERSION [MPI ...]

VERSION is that of crestacoll in which the name came; MPI, such as openmpi4, stands where not every
MPI has the name. CRESTA_x and cresta_x of libcrestacoll.so get it as their symbol version
(cmake/CrestaExports.cmake). A build must export what is listed for its MPI, and nothing else. A
name that is new is added by

    tools/check_exports.py --add build/openmpi build/mpich

with all builds at once; none is ever taken away, for programs are linked to it. For an MPI that
no line names, such as another major version, only the names that every MPI has are compared.
"""
import re
import sys
from pathlib import Path

from check_names import symbols
from check_version import version
from sources import ROOT, Report

LISTS = ROOT / "api/exports"
LIBRARIES = ("libcrestacoll", "libcrestacoll-preload")
VERSIONED = re.compile(r"CRESTA_|cresta_")
HEAD = "# Names that {} exports (tools/check_exports.py): name, first version, MPIs if not all.\n"


def mpi_of(folder):
    """Such as openmpi4: what CMake found."""
    cache = (folder / "CMakeCache.txt").read_text()
    return re.search(r"^CRESTA_MPI_NAME:INTERNAL=(.*)$", cache, re.M)[1]


def read(library):
    """{name: (version, set of MPIs; empty for all)}"""
    path = LISTS / f"{library}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: (first, set(mpis)) for name, first, *mpis in words}


def write(library, listed):
    lines = [" ".join([name, first, *sorted(mpis)]) + "\n"
             for name, (first, mpis) in sorted(listed.items())]
    LISTS.mkdir(exist_ok=True)
    (LISTS / f"{library}.txt").write_text(HEAD.format(library) + "".join(lines))


def exported(folder, library):
    """{name: its symbol version, or None}"""
    found = symbols(folder / f"lib/{library}.so", "-D", "--with-symbol-versions")
    split = [name.replace("@@", "@").split("@") for name in found]
    return {name: (rest[0] if rest else None) for name, *rest in split}


def add(folders, library):
    """Puts the names of the builds into the list; MPIs that are not built here keep theirs."""
    listed, builds = read(library), {mpi_of(f): set(exported(f, library)) for f in folders}
    known = {mpi for _, mpis in listed.values() for mpi in mpis} | set(builds)
    here = ".".join(version().split(".")[:2])
    for name in sorted(set().union(*builds.values()) - set(listed)):
        mpis = {mpi for mpi, names in builds.items() if name in names}
        listed[name] = (here, set() if mpis == known else mpis)
    for name, (first, mpis) in listed.items():
        more = {mpi for mpi, names in builds.items() if name in names}
        listed[name] = (first, mpis | more if mpis else mpis)
    write(library, listed)


def expected(listed, mpi):
    known = {one for _, mpis in listed.values() for one in mpis}
    wanted = {name for name, (_, mpis) in listed.items() if not mpis or mpi in mpis}
    return wanted, mpi in known


def check(report, folder, library):
    listed, there = read(library), exported(folder, library)
    path, (wanted, known) = LISTS / f"{library}.txt", expected(listed, mpi_of(folder))
    for name in sorted(wanted - set(there)):
        report.add(path, 1, f"{name} is gone from {folder.name}: programs are linked to it")
    for name in sorted(set(there) - wanted) if known else []:
        report.add(path, 1, f"{name} of {folder.name} is not listed: "
                            "tools/check_exports.py --add with all builds")
    for name in sorted(wanted & set(there)):
        of_ours = library == "libcrestacoll" and VERSIONED.match(name)
        version_wanted = f"CRESTACOLL_{listed[name][0]}" if of_ours else None
        if there[name] != version_wanted:
            report.add(path, 1, f"{name} of {folder.name} has the symbol version {there[name]}, "
                                f"not {version_wanted}")


def main():
    report, words = Report("exports"), sys.argv[1:]
    folders = [Path(word).resolve() for word in words if word != "--add"]
    for library in LIBRARIES:
        if "--add" in words:
            add(folders, library)
        else:
            for folder in folders:
                check(report, folder, library)
    report.exit()


if __name__ == "__main__":
    main()
