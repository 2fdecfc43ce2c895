# SPDX-License-Identifier: BSD-3-Clause
"""The builds that a wheel has: its libraries, with the MPIs of the machine.
"""

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from crestacoll._wheel import LIB, PRELOAD, START, fit
from crestacoll_tools.base.ui import TEXT, Problem
from crestacoll_tools.builds import family

FRONT = "libcrestacoll-front.so"  # of an interface: with the functions that only some MPIs have
MISFIT = "misfit"  # what PRELOAD writes where it found no library that fits: CRESTA_LOADED
FREE = {"crestacoll-explain", "crestacoll-simulate"}  # programs that need no MPI
LAUNCHERS = re.compile(r"mpi(exec|run)([._-](hydra|openmpi|mpich))?")
# In folders beside that of the launcher; Intel MPI has its library in lib/release, too.
SONAMES = {
    family.OPENMPI: ["libmpi.so.40", "libmpi_abi.so.1", "libmpi_abi.so.0"],
    family.MPICH: ["libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"],
    family.INTEL: ["libmpi.so.12"],
}


@dataclass(frozen=True)
class MachineMpi:
    """An MPI of this machine: its launcher and its library."""

    family: str
    launcher: str
    library: str


@functools.cache
def machine_mpis():
    """Those whose launcher is in PATH, in that order. Launchers that are one file by several names
    are one.
    """
    found = {}
    for folder in dict.fromkeys(os.get_exec_path()):
        for path in sorted(Path(folder).glob("mpi*")) if os.path.isdir(folder) else []:
            if not LAUNCHERS.fullmatch(path.name) or not os.access(path, os.X_OK):
                continue
            kind = family.family_of_launcher(str(path))
            library = library_of(kind, path) if kind else None
            if library:
                key = kind, os.path.realpath(library)
                found.setdefault(key, MachineMpi(kind, str(path), library))
    return list(found.values())


def library_of(kind, launcher):
    """The path of the MPI library to which a launcher belongs; None if there is none."""
    for folder in folders_of(launcher):
        for soname in SONAMES[kind]:
            if (folder / soname).exists() and is_of(kind, folder / soname):
                return str(folder / soname)
    for soname in SONAMES[kind]:
        path = loader_cache().get(soname)
        if path and is_of(kind, path):
            return path
    return None


def is_of(kind, path):
    """MPIs share sonames."""
    return family.family_of_libraries({os.path.basename(path): str(path)}) == kind


def folders_of(launcher):
    """Where libraries are, seen from bin/mpiexec; then what the user says."""
    for path in dict.fromkeys([Path(launcher), Path(launcher).resolve()]):
        prefix = path.parent.parent
        if str(prefix) not in ("/usr", "/"):  # there the loader knows better
            yield from (prefix / name for name in ("lib", "lib64", "lib/release"))
    for name in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if name:
            yield Path(name)


@functools.cache
def loader_cache():
    """{soname: path} of what the loader finds by itself, on this processor."""
    for program in ("/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"):
        try:
            done = subprocess.run([program, "-p"], capture_output=True, **TEXT, check=False)
        except OSError:
            continue
        lines = re.findall(r"^\s*(\S+) \(([^)]*)\) => (.+)$", done.stdout, re.MULTILINE)
        return {name: path for name, kind, path in reversed(lines) if "x86-64" in kind}
    return {}


class Front:
    """The library that is preloaded whatever the MPI: what `run` needs of a build."""

    preload = PRELOAD
    mpi_library = None  # it finds one that a program loads late, and for itself alone


class WheelBuild:
    """One MPI of the machine with the libraries of the wheel that fit it; what a Build of a
    checkout is (builds.py).
    """

    def __init__(self, mpi, name):
        self.mpi, self.name = mpi, name

    @property
    def preload(self):
        """Where nothing fits, the one that says so."""
        own = LIB / fit(self.mpi.library).interface / FRONT
        return own if own.exists() else PRELOAD

    @functools.cached_property
    def fit(self):
        found = fit(self.mpi.library)
        if found.why:
            raise Problem(found.why)
        return found

    @property
    def folder(self):
        return LIB / self.fit.interface

    @property
    def results(self):
        """A folder for what is kept about this build: not in the package, which pip removes."""
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
        return cache / "crestacoll" / self.name

    @property
    def mpi_library(self):
        return self.mpi.library

    @property
    def launcher(self):
        return self.mpi.launcher

    @property
    def cache(self):
        """What a checkout knows of CMake: here only the launcher."""
        return {"MPIEXEC_EXECUTABLE": self.launcher}

    @property
    def family(self):
        return self.mpi.family

    def program(self, name):
        return LIB / "bin" / name if name in FREE else self.folder / f"{name}.so"

    def words(self, name):
        """How it is started."""
        if name in FREE:
            return [str(self.program(name))]
        return [str(START), self.mpi.library, name]


def builds():
    """One for each MPI found, in the order of PATH: openmpi, mpich, ..., a second Open MPI
    openmpi-2. An MPI that no library fits is left out: `crestacoll info` says so.
    """
    made, count = [], {}
    for mpi in machine_mpis():
        if fit(mpi.library).why:
            continue
        count[mpi.family] = count.get(mpi.family, 0) + 1
        number = count[mpi.family]
        made.append((mpi, mpi.family if number == 1 else f"{mpi.family}-{number}"))
    return made


def misfits():
    """[(MPI, why)] of those that no library fits."""
    return [(m, fit(m.library).why) for m in machine_mpis() if fit(m.library).why]
