#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_names.py [BUILD FOLDER ...] - one name everywhere.

No word of an earlier vocabulary comes back for a thing that has a term (docs/glossary.md).

Every model of registry.def has a file of its name, which defines cco_model_NAME with
.name = "NAME", and no model is left out; likewise every algorithm, whose head names the collectives
that it serves. In a build, every symbol that
the libraries show belongs to MPI or to us, a process without MPI can load the preload library, and
the zeroed memory that this library gives to each process is small.
"""
import re
import subprocess
import sys
from pathlib import Path

from sources import ALGORITHMS, ROOT, Report, algorithms, files, registry_text

REGISTRY = ROOT / "src/model/registry.def"

# CRESTA_x, MPI_x and MPIX_x in C; in Fortran the same in lower case, sometimes upper, with
# underscores and suffixes.
# What a program's own MPI_Init calls, and dlsym, are the preload library's alone.
VISIBLE = re.compile(r"^((CRESTA_|cresta_|MPIX?_|mpix?_)\w+"
                     r"|PMPI_(Init|Init_thread|Finalize)|dlsym)$")
# An archive cannot hide what its objects share.
SHARED = re.compile(r"^(cco_\w+)$")


MOST_ZEROED = 100_000  # bytes: what only some programs need is allocated when they do

# Words that once stood for things that the field has terms for, and the terms.
OLD = {
    r"(?<!in )\bflights?\b": "operation", r"\b(in_the_air|airborne)\b": "in flight",
    r"\brunways?\b": "stream set", r"\btower\b": "queue", r"\byards?\b": "operation pool",
    r"\bmemos?\b": "cached call", r"\bworkshop\b": "workspace",
    r"\bparcels?\b": "fragment", r"\b(office|desk)\b": "matcher, endpoint",
    r"\bboards?\b": "slot ring", r"\b[Hh]elper thread\b": "progress thread",
    r"\bcco_(frame|ends?|kept|given|tell|lane|notes_|help|async_|course|move)\b":
        "see docs/glossary.md",
}
SPOKEN = ("src", "fortran", "include", "bench", "check", "api", "tests", "python", "docs",
          "README.md", "CONTRIBUTING.md")


def check_words(report):
    for path in files(".c", ".h", ".def", ".inc", ".F90", ".py", ".md", ".txt", ".cmake", ".j2"):
        if path.relative_to(ROOT).parts[0] not in SPOKEN:
            continue
        for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
            for old, term in OLD.items():
                if found := re.search(old, line):
                    report.add(path, number, f"'{found[0]}': the term is {term}")


def registered():
    """{name: line} of registry.def."""
    return {found[1]: number for number, line in enumerate(REGISTRY.read_text().split("\n"), 1)
            if (found := re.match(r"\s*CCO_MODEL\((\w+)\)", line))}


def defined():
    """{name: (file, text)} of every cco_model_NAME that is defined below src/."""
    models = {}
    for path in sorted((ROOT / "src").rglob("*.c")):
        text = path.read_text()
        for name in re.findall(r"^const cco_model cco_model_(\w+) = \{", text, re.M):
            models[name] = (path, text)
    return models


def check_registry(report):
    names, models = registered(), defined()
    for name, line in names.items():
        if name not in models:
            report.add(REGISTRY, line, f"no file defines cco_model_{name}")
    for name, (path, text) in models.items():
        if name not in names:
            report.add(path, 1, f"cco_model_{name} is not in registry.def")
        if path.stem != name:
            report.add(path, 1, f"cco_model_{name} belongs in {name}.c")
        if f'.name = "{name}"' not in text:
            report.add(path, 1, f'cco_model_{name} is not called "{name}"')


def check_algorithms(report):
    """src/algo/FOLDER/NAME.c defines cco_FOLDER_NAME, is called "NAME", and its head names the
    collectives of its lines, of which FOLDER is one."""
    served = algorithms()
    if len(served) != registry_text().count("\nCCO_ALGO("):
        report.add(ALGORITHMS, 1, "a line is not like the others, or is there twice")
    for path in sorted({*ROOT.glob("src/algo/*/*.c"), *served.values()}):
        folder, name = path.parent.name, path.stem
        if folder == "pattern":
            continue
        if not path.exists():
            report.add(ALGORITHMS, 1, f"there is no {path.relative_to(ROOT)}")
            continue
        text = path.read_text()
        collectives = [key.split("/")[0] for key, file in served.items() if file == path]
        if folder not in collectives:
            report.add(ALGORITHMS, 1, f"no line for {folder}/{name}")
        elif f"\n/* {', '.join(collectives)} \"{name}\": " not in text:
            report.add(path, 1, f'the head is not: {", ".join(collectives)} "{name}": ...')
        if f"\nconst cco_algo cco_{folder}_{name} = {{\n    .name = \"{name}\"," not in text:
            report.add(path, 1, f'does not define cco_{folder}_{name} with .name = "{name}"')


def symbols(library, *options):
    """The names that a library defines, by nm; not those of symbol versions."""
    done = subprocess.run(["nm", *options, "--defined-only", "-P", str(library)],
                          capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.split("\n")]
    return {row[0] for row in rows if len(row) > 2 and row[1].isupper() and row[1] != "A"}


def check_library(report, library, options, *good):
    for name in sorted(symbols(library, *options)):
        if not any(pattern.match(name.split("@")[0]) for pattern in good):
            report.add(library, 1, f"shows a symbol of a strange name: {name}")


def check_data_are_weak(report, library):
    """Handles of Open MPI are data of libmpi, which the loader wants at once unless they are weak
    (src/mpi/mpi_compat.h): the launcher of the program, which has no MPI, would not start."""
    done = subprocess.run(["nm", "-D", "--undefined-only", "-P", str(library)],
                          capture_output=True, text=True, check=True)
    for name, kind in re.findall(r"^(ompi_\w+)\S* (\w)", done.stdout, re.M):
        if kind == "U":
            report.add(library, 1, f"{name} is not weak: add it to src/mpi/mpi_compat.h")


def check_memory(report, library):
    done = subprocess.run(["size", str(library)], capture_output=True, text=True, check=True)
    zeroed = int(done.stdout.split("\n")[1].split()[2])
    if zeroed > MOST_ZEROED:
        report.add(library, 1, f"takes {zeroed} bytes of zeroed memory (bss) in each process, more"
                               f" than {MOST_ZEROED}: nm -S --size-sort says for what")


def check_build(report, folder):
    lib = folder / "lib"
    wanted = {"libcrestacoll.so": (["-D"], VISIBLE), "libcrestacoll-preload.so": (["-D"], VISIBLE),
              "libcrestacoll-calls.so": (["-D"], VISIBLE),
              "libcrestacoll.a": (["-g"], VISIBLE, SHARED)}
    for name, (options, *good) in wanted.items():
        if (lib / name).exists():
            check_library(report, lib / name, options, *good)
        else:
            report.add(lib / name, 1, "was not built")
    for name in ("libcrestacoll-preload.so", "libcrestacoll-calls.so"):
        if (lib / name).exists():
            check_data_are_weak(report, lib / name)
            check_memory(report, lib / name)


def main():
    report = Report("names")
    check_words(report)
    check_registry(report)
    check_algorithms(report)
    for folder in sys.argv[1:]:
        check_build(report, Path(folder).resolve())
    report.exit()


if __name__ == "__main__":
    main()
