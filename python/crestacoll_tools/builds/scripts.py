# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a script or an interpreter will load, and what else has to be preloaded with the
library.

An environment of Python, of conda or of a module may have an MPI of its own. Two MPIs in one
process crash, so that only the one that the program uses may be preloaded.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from crestacoll_tools.base.ui import TEXT, Problem
from crestacoll_tools.builds import family, installed

# Without MPI_Init.
ASK = """
import mpi4py
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI
print(*{line.split()[-1] for line in open("/proc/self/maps") if "/libmpi" in line}, sep="\\n")
"""
SHEBANG = re.compile(rb"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(\S+)")
# Runtimes that end the program where they do not come first.
RUNTIME = re.compile(r"lib(asan|hwasan|tsan|lsan|ubsan|msan|clang_rt\.\w+(-\w+)?)\.so(\.\d+)*$")


def runtimes_of(program):
    """The libraries of sanitizers that a program is linked to, in their order."""
    if not family.is_elf(program):
        return []
    needed = family.needed_libraries(program) or {}
    return [path for soname, path in needed.items() if RUNTIME.search(soname)]


def is_python(path):
    return os.path.basename(path).startswith("python")


def interpreter_of(path):
    """What runs a script; an interpreter itself, also one that is a script (pyenv's)."""
    if is_python(path):
        return path
    try:
        with open(path, "rb") as file:
            found = SHEBANG.match(file.readline(200))
    except OSError:
        return path
    return shutil.which(os.fsdecode(found[1])) or path if found else path


def library_beside(interpreter, kind):
    """The MPI library of the environment in which an interpreter is, in preference of the family
    `kind`; None if it has none.
    """
    prefixes = [Path(interpreter).parent.parent, os.environ.get("CONDA_PREFIX")]
    kinds = sorted(installed.SONAMES, key=lambda k: k != kind)
    for prefix in filter(None, prefixes):
        for folder in (Path(prefix) / "lib", Path(prefix) / "lib64"):
            if str(prefix) in ("/", "/usr"):
                continue  # there the loader knows better
            for name, soname in ((k, s) for k in kinds for s in installed.SONAMES[k]):
                if (folder / soname).exists() and installed.is_of(name, folder / soname):
                    return str(folder / soname)
    return None


def loads(interpreter, library):
    """Whether mpi4py loads this library there."""
    if not is_python(interpreter):
        return False
    try:
        done = subprocess.run(
            [interpreter, "-c", ASK],
            capture_output=True,
            **TEXT,
            timeout=60,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return any(os.path.realpath(p) == os.path.realpath(library) for p in done.stdout.split("\n"))


def own_library(script, kind, launcher):
    """The MPI library that a script will load where that is not the machine's: its environment's,
    or the one of a launcher in a place of its own. None: the machine's.
    """
    found = library_beside(interpreter_of(script), kind)
    theirs = installed.library_of(kind, launcher) if kind and launcher else None
    if found and theirs and os.path.realpath(found) == os.path.realpath(theirs):
        return theirs
    if found and loads(interpreter_of(script), found):
        return found
    return theirs


def fits(preload, library):
    """Whether the loader finds in an MPI library all that the preload library needs."""
    variables = {"LD_PRELOAD": f"{preload}:{library}", "LD_BIND_NOW": "1"}
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | variables
    true = shutil.which("true") or "/bin/true"
    done = subprocess.run([true], capture_output=True, **TEXT, env=env, check=False)
    return done.returncode == 0 and "cannot be preloaded" not in done.stderr


def mpi_to_preload(build, libraries):
    """The library of the MPI that goes with the preload library of `build` into scripts that load
    `libraries` (None: the machine's); None if it is not known.
    """
    used = {os.path.realpath(p): p for p in libraries if p}
    if len(used) > 1:
        raise Problem(f"the scripts load different MPIs: {', '.join(used.values())}")
    for real, path in used.items():
        if build.mpi_library and real == os.path.realpath(build.mpi_library):
            break
        if not fits(build.preload, path):
            raise Problem(
                f"the program loads the MPI {path}, which {build.preload} does not fit: build"
                " crestacoll with that MPI's mpicc, or install the wheel there"
                " (pip install crestacoll)"
            )
        return path
    return build.mpi_library
